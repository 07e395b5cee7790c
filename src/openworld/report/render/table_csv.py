"""A table as CSV: what a reader of the page downloads. The rows of all results are `Results.to_csv`."""

from collections.abc import Sequence

from openworld._csv import csv_text
from openworld._terminal import visible
from openworld.report.table import Cell, Column, Table
from openworld.results import Comparison, Value


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
    kept = [name for name in parts if any(part is not None for part in parts[name]) or not name]
    kept = [name for name in kept if name in ("low", "high")] if column.show == "interval" else kept
    lines = [list(line) for line in zip(*(parts[name] for name in kept), strict=True)] or [[] for _ in cells]
    return [f"{column.heading} {name}".rstrip() for name in kept], lines


def _number(content):
    if isinstance(content, Value):
        return content.value
    return content.difference if isinstance(content, Comparison) else content
