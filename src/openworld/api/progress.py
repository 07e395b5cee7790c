"""How far some work is: a bar on a terminal, a bar in a notebook, lines in a pipe."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from markupsafe import escape

from openworld._console import observer, output
from openworld._observer import Observer
from openworld._terminal import one_line

A_SECOND = 5
"""How often a notebook's bar is drawn anew."""

COMMAND: ContextVar[tuple[str, ...]] = ContextVar("command", default=())
"""The command line, while one runs."""


def made_by(function: str) -> tuple[str, ...]:
    """Return what a record says it was made by: the command line, or the function that was called in Python."""
    return COMMAND.get() or (f"openworld.{function}",)


@contextmanager
def observing(*, quiet: bool = False) -> Iterator[Observer]:
    """Yield an `Observer` that shows how far work is and prints lines; silent when `quiet`."""
    if quiet:
        yield Observer()
    elif in_notebook():
        with _notebook_bar() as progress:
            yield Observer(progress, print)
    else:
        with observer(output()) as shown:
            yield shown


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


@contextmanager
def _notebook_bar():
    """A bar below the cell, of HTML alone, which is gone when the work is done."""
    from IPython.display import HTML, display

    shown = display(HTML(""), display_id=True)
    drawn = 0.0

    def progress(doing: str, done: int, total: int | None = None, before: int = 0, milestone: bool = False) -> None:
        nonlocal drawn
        if time.monotonic() - drawn > 1 / A_SECOND:
            drawn = time.monotonic()
            shown.update(HTML(bar_html(doing, done, total)))

    try:
        yield progress
    finally:
        shown.update(HTML(""))


def bar_html(doing: str, done: int, total: int | None) -> str:
    """A bar with what is being done.

    >>> bar_html("encoding <new>", 3, 10)
    '<progress value="3" max="10"></progress> encoding &lt;new&gt; 3/10'
    """
    ends, count = (f' value="{done}" max="{total}"', f" {done:,}/{total:,}") if total else ("", "")
    return f"<progress{ends}></progress> {escape(one_line(doing))}{count}"
