"""What a function says that makes no report: lines and tables for people, plain values for programs; how both end."""

from dataclasses import dataclass
from typing import Any

from openworld.core.console import Ending
from openworld.core.terminal import as_text


@dataclass(frozen=True, repr=False)
class TextReport:
    """Lines and tables, which a prompt shows, and the same as plain values.

    Args:
        parts: what a terminal shows, in order: text, or what rich can print.
        plain: the same as lists and dicts.
        ending: how the command that says it ends.
    """

    parts: tuple[Any, ...]
    plain: Any = None
    ending: Ending = Ending()

    def show(self, out) -> None:
        """Print it on a rich console."""
        for part in self.parts:
            out.print(part, markup=False)

    def lines(self) -> list[str]:
        """Return what a terminal shows as lines of text."""
        return as_text(self.show).splitlines()

    def to_json(self) -> str:
        """Return the plain values as JSON text."""
        from openworld.report.data_files import json_text

        return json_text(self.plain)

    def __repr__(self) -> str:
        return as_text(self.show)


def line(text: str, style: str = "", *, whole: bool = False) -> Any:
    """Return a line in a style; `whole` is never broken, such as an address."""
    from rich.text import Text

    return Text(text, style=style, no_wrap=whole, overflow="ignore" if whole else None)
