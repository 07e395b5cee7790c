"""Tables for the page: they can be sorted and copied, the best is in bold, and pointing at a cell tells more.

Beside numbers and names stand small marks of a learner: its interval, its swatch, and its key in the legend.
"""

from collections.abc import Mapping

from markupsafe import Markup

from openworld.report.charts.drawing.svg import element, marker
from openworld.report.render.texts import Text, texts
from openworld.report.series_style import SeriesStyle
from openworld.report.table import Table
from openworld.results import Value

DENSE = 11  # more columns than this are set smaller
LONG = 60  # words longer than this are broken
POINTING = "Pointing at a cell tells more."
WIDTH, HEIGHT, ROOM = 100.0, 16.0, 6.0  # of an interval in a cell, and free on both sides of it


def html_table(table: Table, styles: Mapping[str, SeriesStyle] | None = None, *, download: str = "") -> Markup:
    """A table as HTML; every text is escaped."""
    styles = styles or {}
    heads = [_head(table.label, words=True), *(_head(column.heading, words=column.words) for column in table.columns)]
    rows, lines = list(texts(table)), []
    for place, (row, cells) in enumerate(rows):
        style = styles.get(row.series)
        remark = [" ", element("span", row.remark, class_="faint")] if row.remark else []
        line = [element("th", "" if style is None else swatch(style), row.label, *remark, scope="row")]
        line += [_cell(table, (place, at), cell, style) for at, cell in enumerate(cells)]
        css = "ruled" if row.rule else None
        lines.append(element("tr", *line, data_learner=row.series or None, class_=css))

    more = POINTING if any(cell.note for _, cells in rows for cell in cells) else ""
    caption = element("caption", element("span", f"{table.caption} {more}".strip()))
    body = element("thead", element("tr", *heads)) + element("tbody", *lines)
    css = "scroll dense" if len(table.columns) + 1 > DENSE else "scroll"
    whole = element("table", caption, body, id=table.name)
    frame = element("div", whole, class_=css, tabindex="0", role="region", aria_label=table.title)
    buttons: list[str] = [element("button", "Copy as text", type="button", data_copies=table.name)]
    if download:
        file = {"download": f"{table.name}.csv", "href": download}
        buttons += [" ", element("a", "This table (CSV)", class_="download", **file)]
    return frame + element("p", *buttons, class_="tools")


def _head(title: str, *, words: bool) -> Markup:
    first = {"class_": "words", "data_first": "ascending"} if words else {}
    return element("th", element("button", title, type="button"), scope="col", **first)


def _cell(table: Table, place: tuple[int, int], cell: Text, style: SeriesStyle | None) -> Markup:
    column, content = table.columns[place[1]], table.cell(*place).content
    plot = ""
    if column.show == "interval" and style is not None and isinstance(content, Value):
        plot = _plot(table, place[1], content, style)
    faint = [" ", element("span", cell.faint, class_="faint")] if cell.faint else []
    parts = [plot, element("span", cell.text, class_="faint")] if plot else [cell.text, *faint]

    kinds = {
        "words": column.words,
        "wrapped": column.words and max(len(cell.text), len(cell.faint)) > LONG,
        "leads": cell.bold,
        "headline": column.headline,
        "stacked": column.show == "interval",
        "under": cell.faint,
        "lines": "\n" in cell.faint,
    }
    css = " ".join(kind for kind, holds in kinds.items() if holds) or None
    sort = None if cell.sort is None else f"{cell.sort:.6g}"
    counted = column.metric.unit == "count" and cell.sort is not None
    copied = f"{cell.sort:.0f}" if counted else None  # a table of counts is read by programs, too
    return element("td", *parts, class_=css, data_value=sort, data_text=copied, title=cell.note or None)


def _plot(table: Table, column: int, value: Value, style: SeriesStyle) -> Markup:
    """A dot for the number and a line for its interval, on the range of the whole column; nothing without a number."""
    if value.value is None:
        return Markup("")
    over = table.columns[column].over
    contents = [table.cell(row, column).content for row in range(len(table.rows))]
    values = [content for content in contents if isinstance(content, Value) and content.value is not None]
    intervals = filter(None, (value.over(over) for value in values))
    ends = [value.value for value in values if value.value is not None]
    ends += [end for interval in intervals for end in (interval.low, interval.high)]
    least, most = (min(ends), max(ends)) if max(ends) > min(ends) else (0.0, 1.0)

    def across(at: float) -> float:
        return ROOM + (at - least) / (most - least) * (WIDTH - 2 * ROOM)

    interval = value.over(over)
    low, high = (value.value, value.value) if interval is None else (interval.low, interval.high)
    parts = [
        element("line", x1=0.0, x2=WIDTH, y1=HEIGHT / 2, y2=HEIGHT / 2, class_="grid"),
        element("line", x1=across(low), x2=across(high), y1=HEIGHT / 2, y2=HEIGHT / 2, class_="line"),
        marker(style.marker, across(value.value), HEIGHT / 2),
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
