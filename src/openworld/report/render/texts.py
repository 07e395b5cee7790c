"""What stands in the cells of a table, for every renderer: numbers, intervals, dashes, tests and notes."""

from collections.abc import Iterator
from dataclasses import dataclass

from openworld.report.table import Cell, Column, Row, Table
from openworld.results import DASH, MINUS, Comparison, Metric, Value


@dataclass(frozen=True)
class Text:
    """What stands in a cell: the text, a fainter part, whether it is in bold, what it sorts by, and what is told."""

    text: str
    faint: str = ""
    bold: bool = False
    sort: float | None = None
    note: str = ""

    @property
    def rest(self) -> str:
        """The fainter part on one line."""
        parts = self.faint.splitlines()
        words = "; ".join(part for part in parts if part[:1] not in ("[", "±"))
        return " ".join([*(part for part in parts if part[:1] in ("[", "±")), *([f"({words})"] if words else [])])

    @property
    def line(self) -> str:
        """Everything but the note, on one line.

        >>> Text("47.0", "[44.0 50.0]\\nprinted 46.9").line
        '47.0 [44.0 50.0] (printed 46.9)'
        """
        return f"{self.text} {self.rest}".strip()


def texts(table: Table, extra: int = 0) -> Iterator[tuple[Row, list[Text]]]:
    """Row by row what stands in the cells.

    Args:
        table: any.
        extra: so many decimals more for percentages, as papers print them.
    """
    for place, row in enumerate(table.rows):
        columns = enumerate(table.columns)
        yield row, [_text(table.cell(place, at), column, (place, at) in table.bold, extra) for at, column in columns]


def _text(cell: Cell, column: Column, bold: bool, extra: int) -> Text:
    content = cell.content
    if content is None:
        return Text(DASH, "", False, None, cell.note)
    if isinstance(content, str):
        return Text(f"{content}{cell.mark}", cell.under, bold, cell.sort, cell.note)
    if isinstance(content, Comparison):
        return _of_comparison(cell, content, bold, extra)
    return _of_value(cell, content, column, bold, extra)


def _of_comparison(cell: Cell, test: Comparison, bold: bool, extra: int) -> Text:
    if test.difference is None:
        return Text(test.verdict, cell.under, bold, None, _joined(cell.note, test.reason))
    text = _signed(test.metric.write(test.difference, extra))
    return Text(text, _lines(test.verdict, cell.under), bold, test.difference, _joined(cell.note, test.reason))


def _of_value(cell: Cell, value: Value, column: Column, bold: bool, extra: int) -> Text:
    write = column.metric.write
    if column.show == "interval":
        interval = value.over(column.over)
        width = None if interval is None else interval.width
        return Text(column.metric.write_interval(interval, extra) or DASH, "", bold, width, cell.note)
    ordered = sorted(value.intervals, key=lambda interval: interval.over != (column.over or interval.over))
    shown = [column.metric.write_interval(interval, extra) for interval in ordered[: column.intervals]]
    if column.show == "deviation":
        shown = [] if value.deviation is None else [f"±\u00a0{write(value.deviation, extra)}"]
    notes = [f"{column.metric.write_interval(one, extra)} over {one.over}{_counted(one.n)}" for one in ordered]
    faint = _lines(*shown, _beside(cell, column.metric, extra), cell.under)
    text = f"{write(value.value, extra)}{cell.mark if value.value is not None else ''}"
    return Text(text, faint, bold, value.value, _joined(cell.note, value.reason, *notes))


def _beside(cell: Cell, metric: Metric, extra: int) -> str:
    """What a paper printed, and ours minus that."""
    if cell.printed is None:
        return ""
    difference = "" if cell.difference is None else f", {_signed(metric.write(cell.difference, extra))}"
    return f"printed {metric.write(cell.printed, extra)}{difference}"


def _signed(text: str) -> str:
    """A difference that was written by a metric without signs."""
    return text if text[:1] in ("+", MINUS, DASH) or not text.strip("0.,") else f"+{text}"


def _lines(*parts: str) -> str:
    return "\n".join(filter(None, parts))


def _counted(n: int | None) -> str:
    return "" if n is None else f" (n = {n:,})"


def _joined(*notes: str) -> str:
    return "; ".join(filter(None, notes))
