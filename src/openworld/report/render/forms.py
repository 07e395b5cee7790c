"""Tables for a terminal of any width, for a notebook, for Markdown and as CSV; what is markup to each is escaped."""

import unicodedata
from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

from openworld.core import representation, terminal
from openworld.core.csv_files import csv_text
from openworld.core.terminal import FirstThatFits, Head, TerminalTable, styled, visible
from openworld.report.render.texts import texts
from openworld.report.table import Cell, Column, Table
from openworld.results import Comparison, Value

NAMED = 6  # a caption names so many columns that were left out; of more it says how many


def terminal_table(table: Table) -> FirstThatFits:
    """What rich prints: where not all columns fit, those of the least priority are left out first.

    Where even those of the highest priority do not fit, they are shown in several blocks.
    """
    priorities = sorted({column.priority for column in table.columns}) or [0]
    kept = [[at for at, column in enumerate(table.columns) if column.priority >= least] for least in priorities]
    return FirstThatFits([_draw(table, columns) for columns in kept])


def _draw(table: Table, columns: Sequence[int]) -> TerminalTable:
    missing = [column.heading for at, column in enumerate(table.columns) if at not in columns]
    part = table.only(columns)
    heads = [Head(column.heading, "words" if column.words else "number") for column in part.columns]
    main = next((at for at, column in enumerate(part.columns) if column.headline), None)
    rows = []
    for row, cells in texts(part):
        label = f"{row.label} {row.remark}".strip()
        bold = main is not None and cells[main].bold
        rows.append([*styled([label], "bold" if bold else ""), *styled([cell.line for cell in cells], "")])
        for cell, shown in zip(cells, rows[-1][1:], strict=True):
            shown.stylize("bold" if cell.bold else "", 0, len(cell.text))  # the number alone, not what is printed
    caption = table.caption
    if missing:
        listing = "; ".join(missing) if len(missing) <= NAMED else f"{len(missing)} columns"
        caption = f"{caption} Too wide to show: {listing}.".strip()
    return TerminalTable((terminal.name(table.label), *heads), rows, caption, table.title)


def plain_html_table(table: Table) -> Markup:
    """A table that any page can show; every text is escaped, the best is in bold."""
    heads = (table.label, *(column.heading for column in table.columns))
    rows = []
    for row, cells in texts(table):
        lines = [Markup("<b>{}</b>").format(cell.line) if cell.bold else escape(cell.line) for cell in cells]
        rows.append([f"{row.label} {row.remark}".strip(), *lines])
    return Markup(representation.table(heads, rows, table.caption))


def markdown_table(table: Table) -> str:
    """A table between its title and its caption, the best in bold.

    Percentages have a decimal more than on screen, as papers print them.
    """
    heads = [plain(text) for text in (table.label, *(column.heading for column in table.columns))]
    lines = [heads, ["---", *("---" if column.words else "---:" for column in table.columns)]]
    for row, cells in texts(table, 1):
        lines.append([plain(f"{row.label} {row.remark}".strip())])
        for cell in cells:
            lines[-1].append(f"**{plain(cell.text)}** {plain(cell.rest)}".strip() if cell.bold else plain(cell.line))
    parts = [f"**{plain(table.title)}**", "\n".join(map(piped, lines)), plain(table.caption)]
    return "\n\n".join(filter(None, parts)) + "\n"


def piped(cells: Iterable[str]) -> str:
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


def csv_table(table: Table) -> str:
    """Numbers in the unit of data, not rounded, with the ends of their first interval.

    A test gives its difference and its p-value, a paper's number a column of its own.
    """
    places = range(len(table.rows))
    parts = [_parts(column, [table.cell(row, at) for row in places]) for at, column in enumerate(table.columns)]
    header = [table.label, *(name for names, _ in parts for name in names)]
    rows = [[table.rows[row].label, *(field for _, lines in parts for field in lines[row])] for row in places]
    return visible(csv_text(header, rows))


def _parts(column: Column, cells: Sequence[Cell]) -> tuple[list[str], list[list]]:
    """The heads of a column, and its fields row by row; without parts that no cell has."""
    contents = [cell.content for cell in cells]
    intervals = [content.over(column.over) if isinstance(content, Value) else None for content in contents]
    parts = {
        "": [_number(content) for content in contents],
        "low": [getattr(interval, "low", None) for interval in intervals],
        "high": [getattr(interval, "high", None) for interval in intervals],
        "deviation": [getattr(content, "deviation", None) for content in contents],
        "p": [getattr(content, "p", None) for content in contents],
        "printed": [cell.printed for cell in cells],
        "minus printed": [cell.difference for cell in cells],
    }
    names = [name for name in parts if any(part is not None for part in parts[name]) or not name]
    names = [name for name in names if name in ("low", "high")] if column.show == "interval" else names
    lines = [list(line) for line in zip(*(parts[name] for name in names), strict=True)] or [[] for _ in cells]
    return [f"{column.heading} {name}".rstrip() for name in names], lines


def _number(content):
    if isinstance(content, Value):
        return content.value
    return content.difference if isinstance(content, Comparison) else content
