"""What stands in the cells of a table, for every renderer: numbers, intervals, dashes, tests and notes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

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
            text = _text(table.cell(place, at), column, extra, mixed=mixed[at])
            cells.append(replace(text, bold=(place, at) in table.bold))
        yield row, cells


def _order(value: Value, column: Column) -> list[Interval]:
    """The intervals, that which the column asks for first."""
    return sorted(value.intervals, key=lambda interval: interval.over != (column.over or interval.over))


def _text(cell: Cell, column: Column, extra: int, *, mixed: bool) -> Text:
    """How a cell is written; `mixed`: the shown intervals of its column are over several things, so each says what."""
    content, metric = cell.content, column.metric
    beside = ""  # what a paper printed, and ours minus that
    if cell.printed is not None:
        difference = "" if cell.difference is None else f", {_with_sign(metric.write(cell.difference, extra))}"
        beside = f"{PRINTED}{metric.write(cell.printed, extra)}{difference}"
    if content is None:
        return Text(DASH if cell.printed is None else "", beside, note=cell.note)
    if isinstance(content, str):
        return Text(f"{content}{cell.mark}", cell.under, sort=cell.sort, note=cell.note)
    if isinstance(content, Comparison):
        note = _join("; ", cell.note, content.reason)
        if content.difference is None:
            return Text(content.verdict, cell.under, note=note)
        text = _with_sign(content.metric.write(content.difference, extra))
        return Text(text, _join("\n", content.verdict, cell.under), sort=content.difference, note=note)
    if column.show == "interval":
        interval = content.over(column.over)
        width = None if interval is None else interval.width
        return Text(metric.write_interval(interval, extra) or DASH, sort=width, note=cell.note)

    ordered = _order(content, column)
    below = 0 if column.show == "deviation" else column.intervals
    notes = [
        f"{metric.write_interval(interval, extra)} over {interval.over}"
        + (f" (n = {interval.n:,})" if interval.n else "")
        for interval in ordered[0 if mixed else below :]
    ]
    faint = [metric.write_interval(interval, extra) for interval in ordered[:below]]
    if column.show == "deviation" and content.deviation is not None:
        faint.append(f"±\u00a0{metric.write(content.deviation, extra)}")
    text = f"{metric.write(content.value, extra)}{cell.mark if content.value is not None else ''}"
    faint, note = _join("\n", *faint, beside, cell.under), _join("; ", cell.note, content.reason, *notes)
    return Text(text, faint, sort=content.value, note=note)


def _with_sign(text: str) -> str:
    return text if text[:1] in ("+", MINUS, DASH) or not text.strip("0.,") else f"+{text}"


def _join(between: str, *parts: str) -> str:
    return between.join(filter(None, parts))
