"""Tables for a terminal of any width; names and captions are literal text."""

from collections.abc import Sequence

from openworld import _terminal
from openworld._terminal import FirstThatFits, Head, TerminalTable, styled
from openworld.report.render.texts import texts
from openworld.report.table import Table

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
        rows.append([*styled([label], "bold" * bold), *styled([cell.line for cell in cells], "")])
        for cell, shown in zip(cells, rows[-1][1:], strict=True):
            shown.stylize("bold" if cell.bold else "", 0, len(cell.text))  # the number alone, not what is printed
    return TerminalTable(
        (_terminal.name(table.label), *heads), rows, f"{table.caption} {_left_out(missing)}".strip(), table.title
    )


def _left_out(missing: Sequence[str]) -> str:
    if not missing:
        return ""
    named = "; ".join(missing) if len(missing) <= NAMED else f"{len(missing)} columns"
    return f"Left out for want of room: {named}."
