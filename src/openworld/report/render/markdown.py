"""Tables for Markdown; the one place that knows what is markup to it."""

import unicodedata
from collections.abc import Iterable

from openworld._terminal import visible
from openworld.report.render.texts import Text, texts
from openworld.report.table import Table


def markdown_table(table: Table) -> str:
    """A table between its title and its caption, the best in bold.

    Percentages have a decimal more than on screen, as papers print them.
    """
    heads = [plain(text) for text in (table.label, *(column.heading for column in table.columns))]
    lines = [heads, ["---", *("---" if column.words else "---:" for column in table.columns)]]
    for row, cells in texts(table, 1):
        lines.append([plain(f"{row.label} {row.remark}".strip()), *map(_write_cell, cells)])
    parts = [f"**{plain(table.title)}**", "\n".join(map(piped, lines)), plain(table.caption)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _write_cell(cell: Text) -> str:
    if not cell.bold:
        return plain(cell.line)
    return f"**{plain(cell.text)}** {plain(cell.rest)}".strip()


def piped(cells: Iterable[str]) -> str:
    """One line of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def plain(text: str) -> str:
    """Text in which nothing is markup to Markdown, or a command to a terminal, on one line.

    >>> print(plain("crane [/bird] | a_b"))
    crane \\[/bird\\] \\| a\\_b
    """
    return "".join("\\" + sign if sign in r"\|*_<>`[]" else sign for sign in visible(on_one_line(text)))


def on_one_line(text: str) -> str:
    """Text without line breaks and tabs, every sign in one piece."""
    return unicodedata.normalize("NFC", " ".join(text.replace("\t", " ").splitlines()))
