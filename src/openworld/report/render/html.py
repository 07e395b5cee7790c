"""Tables for the page: they can be sorted and copied, the best is in bold, and pointing at a cell tells more.

Beside numbers and names stand small marks of a learner: its interval, its swatch, and its key in the legend.
"""

from collections.abc import Iterator, Mapping

from markupsafe import Markup

from openworld.report.charts.drawing.svg import element, marker
from openworld.report.render.texts import Text, texts
from openworld.report.series_style import SeriesStyle
from openworld.report.table import Column, Row, Table
from openworld.results import Value

DENSE = 11  # more columns than this are set smaller
LONG = 60  # words longer than this are broken
POINTING = "Pointing at a cell tells more."
WIDTH, HEIGHT, ROOM = 100.0, 16.0, 6.0  # of an interval in a cell, and free on both sides of it


def html_table(table: Table, styles: Mapping[str, object] | None = None, *, download: str = "") -> Markup:
    """A table as HTML; every text is escaped."""
    styles = styles or {}
    heads = [_head(table.label, words=True), *(_head(column.heading, words=column.words) for column in table.columns)]
    head = element("thead", element("tr", *heads))
    rows = list(texts(table))
    body = element("tbody", *(_row(table, place, row, cells, styles) for place, (row, cells) in enumerate(rows)))
    more = POINTING if any(cell.note for _, cells in rows for cell in cells) else ""
    caption = element("caption", element("span", f"{table.caption} {more}".strip()))
    css = "scroll dense" if len(table.columns) + 1 > DENSE else "scroll"
    whole = element("table", caption, head, body, id=table.name)
    frame = element("div", whole, class_=css, tabindex="0", role="region", aria_label=table.title)
    buttons = [element("button", "Copy as text", type="button", data_copies=table.name)]
    if download:
        buttons += [
            " ",
            element("a", "This table (CSV)", class_="download", download=f"{table.name}.csv", href=download),
        ]
    return frame + element("p", *buttons, class_="tools")


def _head(title: str, *, words: bool) -> Markup:
    first = {"class_": "words", "data_first": "ascending"} if words else {}
    return element("th", element("button", title, type="button"), scope="col", **first)


def _row(table: Table, place: int, row: Row, cells: list[Text], styles: Mapping[str, object]) -> Markup:
    mark = swatch(styles[row.series]) if row.series in styles else ""
    remark = [" ", element("span", row.remark, class_="faint")] if row.remark else []
    whole = [element("th", mark, row.label, *remark, scope="row")]
    whole += [_cell(table, (place, at), cell, styles.get(row.series)) for at, cell in enumerate(cells)]
    return element("tr", *whole, data_learner=row.series or None, class_="ruled" if row.rule else None)


def _cell(table: Table, place: tuple[int, int], cell: Text, style) -> Markup:
    column = table.columns[place[1]]
    classes = " ".join(_classes(column, cell)) or None
    sort = None if cell.sort is None else f"{cell.sort:.6g}"
    plot = ""
    if column.show == "interval" and style is not None:
        value = table.cell(*place).content
        plot = _plot(table, place[1], value, style) if isinstance(value, Value) else ""
    faint = [" ", element("span", cell.faint, class_="faint")] if cell.faint else []
    parts = [plot, element("span", cell.text, class_="faint")] if plot else [cell.text, *faint]
    counted = column.metric.unit == "count" and cell.sort is not None
    copied = f"{cell.sort:.0f}" if counted else None  # a table of counts is read by programs, too
    return element("td", *parts, class_=classes, data_value=sort, data_text=copied, title=cell.note or None)


def _classes(column: Column, cell: Text) -> Iterator[str]:
    yield from ["words"] * column.words
    yield from ["wrapped"] * (column.words and max(len(cell.text), len(cell.faint)) > LONG)
    yield from ["leads"] * cell.bold
    yield from ["headline"] * column.headline
    yield from ["stacked"] * (column.show == "interval")
    yield from ["under", "lines"][: 1 + ("\n" in cell.faint)] if cell.faint else []


def _plot(table: Table, column: int, value: Value, style) -> Markup:
    """A dot for the number and a line for its interval, on the range of the whole column."""
    interval = value.over(table.columns[column].over)
    contents = [table.cell(row, column).content for row in range(len(table.rows))]
    known = [content for content in contents if isinstance(content, Value) and content.value is not None]
    intervals = filter(None, (value.over(table.columns[column].over) for value in known))
    ends = [value.value for value in known] + [end for interval in intervals for end in (interval.low, interval.high)]
    span = (min(ends), max(ends)) if ends and max(ends) > min(ends) else (0.0, 1.0)
    return whisker(value.value, None if interval is None else (interval.low, interval.high), style, span)


def whisker(
    value: float | None, interval: tuple[float, float] | None, style: SeriesStyle, span: tuple[float, float]
) -> Markup:
    """A dot for a number and a line for its interval, on the common range `span`; nothing where there is no number."""
    if value is None:
        return Markup("")

    def across(at: float) -> float:
        return ROOM + (at - span[0]) / (span[1] - span[0]) * (WIDTH - 2 * ROOM)

    low, high = interval or (value, value)
    parts = [
        element("line", x1=0.0, x2=WIDTH, y1=HEIGHT / 2, y2=HEIGHT / 2, class_="grid"),
        element("line", x1=across(low), x2=across(high), y1=HEIGHT / 2, y2=HEIGHT / 2, class_="line"),
        marker(style.marker, across(value), HEIGHT / 2),
    ]
    return _small(parts, WIDTH, HEIGHT, f"forest {style.css_class}")


def swatch(style: SeriesStyle) -> Markup:
    """The marker of a learner in its colour, as large as the style sheet says."""
    css = f"swatch {style.css_class}"
    return element("svg", marker(style.marker), viewBox="-7.5 -7.5 15 15", class_=css, aria_hidden="true")


def legend_key(style: SeriesStyle) -> Markup:
    """A piece of the learner's line with its marker, 30 by 14, for the legend."""
    line = element("line", x1=1.0, x2=29.0, y1=7.0, y2=7.0, class_="line", stroke_dasharray=style.dash or None)
    mark = marker(style.marker, 15.0, 7.0)
    return _small([line, mark], 30.0, 14.0, style.css_class)


def _small(parts: list[Markup], width: float, height: float, css: str) -> Markup:
    view = f"0 0 {width:.0f} {height:.0f}"
    return element("svg", *parts, viewBox=view, width=width, height=height, class_=css, aria_hidden="true")
