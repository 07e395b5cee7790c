"""What stands in the cells of a table, for every renderer: numbers, intervals, dashes, tests and notes."""

from collections.abc import Iterator
from dataclasses import dataclass

from openworld.report.table import Cell, Column, Row, Table
from openworld.results import DASH, MINUS, Comparison, Interval, Value

PRINTED = "printed "


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
        """The fainter part on one line, where the caption says which number is the printed one."""
        parts = self.faint.splitlines()
        words = "; ".join(part.removeprefix(PRINTED) for part in parts if part[:1] not in ("[", "±"))
        return " ".join([*(part for part in parts if part[:1] in ("[", "±")), *([f"({words})"] if words else [])])

    @property
    def line(self) -> str:
        """Everything but the note, on one line.

        >>> Text("47.0", "[44.0 50.0]\\nprinted 46.9").line
        '47.0 [44.0 50.0] (46.9)'
        """
        return f"{self.text} {self.rest}".strip()


def texts(table: Table, extra: int = 0) -> Iterator[tuple[Row, list[Text]]]:
    """Yield row by row what stands in the cells, percentages with `extra` decimals more, as papers print them."""
    mixed = []
    for at, column in enumerate(table.columns):
        contents = (table.cell(row, at).content for row in range(len(table.rows)))
        values = (content for content in contents if isinstance(content, Value) and content.intervals)
        mixed.append(len({_order(value, column)[0].over for value in values}) > 1)
    for place, row in enumerate(table.rows):
        cells = []
        for at, column in enumerate(table.columns):
            style = _Style(column, (place, at) in table.bold, extra, mixed[at])
            cells.append(_text(table.cell(place, at), style))
        yield row, cells


@dataclass(frozen=True)
class _Style:
    """How a cell is written; `mixed`: the shown intervals of its column are over several things, so each says what."""

    column: Column
    bold: bool
    extra: int
    mixed: bool

    def write(self, value: float | None) -> str:
        return self.column.metric.write(value, self.extra)

    def write_interval(self, interval: Interval | None) -> str:
        return self.column.metric.write_interval(interval, self.extra)


def _order(value: Value, column: Column) -> list[Interval]:
    """The intervals, that which the column asks for first."""
    return sorted(value.intervals, key=lambda interval: interval.over != (column.over or interval.over))


def _text(cell: Cell, style: _Style) -> Text:
    content = cell.content
    if content is None:
        return Text(DASH if cell.printed is None else "", _beside(cell, style), False, None, cell.note)
    if isinstance(content, str):
        return Text(f"{content}{cell.mark}", cell.under, style.bold, cell.sort, cell.note)
    if isinstance(content, Comparison):
        note = _join(cell.note, content.reason)
        if content.difference is None:
            return Text(content.verdict, cell.under, style.bold, None, note)
        text = _with_sign(content.metric.write(content.difference, style.extra))
        return Text(text, _lines(content.verdict, cell.under), style.bold, content.difference, note)
    return _of_value(cell, content, style)


def _of_value(cell: Cell, value: Value, style: _Style) -> Text:
    column = style.column
    if column.show == "interval":
        interval = value.over(column.over)
        width = None if interval is None else interval.width
        return Text(style.write_interval(interval) or DASH, "", style.bold, width, cell.note)
    ordered = _order(value, column)
    below = 0 if column.show == "deviation" else column.intervals
    notes = [
        f"{style.write_interval(interval)} over {interval.over}" + (f" (n = {interval.n:,})" if interval.n else "")
        for interval in ordered[0 if style.mixed else below :]
    ]
    faint = [style.write_interval(interval) for interval in ordered[:below]]
    if column.show == "deviation" and value.deviation is not None:
        faint.append(f"±\u00a0{style.write(value.deviation)}")
    faint = _lines(*faint, _beside(cell, style), cell.under)
    text = f"{style.write(value.value)}{cell.mark if value.value is not None else ''}"
    return Text(text, faint, style.bold, value.value, _join(cell.note, value.reason, *notes))


def _beside(cell: Cell, style: _Style) -> str:
    """What a paper printed, and ours minus that."""
    if cell.printed is None:
        return ""
    difference = "" if cell.difference is None else f", {_with_sign(style.write(cell.difference))}"
    return f"{PRINTED}{style.write(cell.printed)}{difference}"


def _with_sign(text: str) -> str:
    return text if text[:1] in ("+", MINUS, DASH) or not text.strip("0.,") else f"+{text}"


def _lines(*parts: str) -> str:
    return "\n".join(filter(None, parts))


def _join(*notes: str) -> str:
    return "; ".join(filter(None, notes))
