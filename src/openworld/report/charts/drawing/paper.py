"""Figures on paper: what charts share on matplotlib axes, in the colours of a page on white paper, and the sheet.

Charts stand in columns of 3.25 inches, three of many in a row, with one legend below; a figure is the same bytes each
time. Charts whose texts need more room are wider, and then fewer stand in a row. What is known only when all charts
have their places is mended then: titles are broken, and labels below an axis are broken, left out or turned.
"""

from itertools import pairwise
from pathlib import Path

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.report.charts.drawing.lettering import LINE, POINTS, text_width, thinned, wrapped
from openworld.report.charts.drawing.plane import placed_references
from openworld.report.charts.quantity import Axis
from openworld.report.series_style import SeriesStyle
from openworld.runs.atomic import writing

MARKERS = {"circle": "o", "square": "s", "triangle": "^", "diamond": "D", "down": "v", "cross": "P", "star": "*"}
INK, MUTED, GRID, ACCENT, ALERT = "#1a1a1a", "#5c5c5c", "#e4e4e1", "#0b5fa5", "#d5491b"
TITLE, PANEL = 8.0, 190.0  # points: the size of a title, and the width of the plot of a usual panel
DOTS = (0, (1, 1.5))  # of the second line, and further ones, that a legend names
LINES = {"reference": (MUTED, (0, (4, 3))), "known": (INK, "-"), "alert": (ALERT, "-")}
WIDTH, HEIGHT = 3.25, 2.5  # inches of a chart
COLUMNS = 2
NARROW = 30.0  # points between two labels below an axis; closer ones stand upright
MANY, MANY_COLUMNS, MANY_HEIGHT = 6, 3, 1.9  # beyond so many charts, narrower ones share the width of two
STYLE = {
    "font.size": POINTS,
    "axes.titlesize": TITLE,
    "axes.labelsize": POINTS,
    "xtick.labelsize": POINTS,
    "ytick.labelsize": POINTS,
    "legend.fontsize": POINTS,
    "font.family": "sans-serif",
    "axes.titlelocation": "left",
    "pdf.fonttype": 42,
    "svg.hashsalt": "openworld",
    "hatch.linewidth": 0.5,
}
DATES = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}, ".png": {}}


def text(name: str) -> str:
    """Return the name as matplotlib shows it letter by letter: no formula, and no name that legends leave out."""
    name = name.replace("$", r"\$")
    return f"\N{ZERO WIDTH SPACE}{name}" if name.startswith("_") else name


def line(axes, points, **style) -> None:
    axes.plot(*zip(*points, strict=True), **style)


def set_rows(axes, ticks, names) -> None:
    """Name the rows of a chart that has neither ticks nor a frame."""
    axes.set_yticks(ticks, map(text, names))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def set_title(axes, title: str) -> None:
    """Set the title, in as many lines as it takes to leave the next chart's free."""
    axes.set_title(wrapped(text(title), PANEL, TITLE))


def set_axes(axes, title: str, x: Axis, y: Axis) -> None:
    set_title(axes, title)
    axes.set(xlabel=text(x.title), ylabel=text(y.title), ylim=(y.low, y.high), axisbelow=True)
    if x.log:
        _set_log(axes, x)
    else:
        axes.set_xlim(x.low, x.high)
    axes.set_xticks(x.ticks, map(text, x.labels), minor=False)
    axes.set_yticks(y.ticks, map(text, y.labels))
    axes.grid(color=GRID, linewidth=0.5)
    axes.tick_params(length=0)
    axes.tick_params(axis="x", pad=5)  # points: clear of the lowest label of the other axis
    axes.spines[:].set_visible(False)


def _set_log(axes, x: Axis) -> None:
    """A logarithmic axis; where 0 means none, it stands before a break, as on the page."""
    from matplotlib.ticker import NullLocator

    start, span = x.share(x.low), x.share(x.high) - x.share(x.low)
    ratio = np.log(x.high / x.low)

    def place(value):
        value = np.asarray(value, float)
        position = start + span * np.log(np.where(value > 0, value, 1.0) / x.low) / ratio
        return np.where(value > 0, position, x.break_share / 2 * (1 + value))

    def value_at(share):
        share = np.asarray(share, float)
        before = share / (x.break_share / 2) - 1 if x.break_share else share
        return np.where(share < x.break_share, before, x.low * np.exp(ratio * (share - start) / span))

    axes.set_xscale("function", functions=(place, value_at))
    axes.set_xlim(-1 if x.break_share else value_at(0.0), value_at(1.0))
    axes.xaxis.set_minor_locator(NullLocator())
    if x.break_share:
        axes.axvline(value_at(x.break_share), color=MUTED, linewidth=0.6, linestyle=(0, (2, 3)))


def mark_style(style: SeriesStyle) -> dict:
    size = 8 if style.marker == "star" else 5
    edge = {"markeredgecolor": "white", "markeredgewidth": 0.4}
    return {"color": style.light, "marker": MARKERS[style.marker], "markersize": size} | edge


def line_style(style: SeriesStyle, *, back: bool, top: bool) -> dict:
    """Return how the line of a series is drawn, behind the others or on top of them."""
    dash = (0, tuple(float(part) / 2 for part in style.dash.split())) if style.dash else "-"
    strength = {"alpha": 0.45, "linewidth": 0.8} if back else {"linewidth": 1.2}
    return mark_style(style) | {"linestyle": dash, "zorder": 2 if back else 4 if top else 3} | strength


def ring(axes, x: float, y: float, colour: str) -> None:
    axes.plot([x], [y], "o", markersize=8, markerfacecolor="none", markeredgecolor=colour, zorder=5)


def references(axes, chart, *, in_legend: bool = False) -> None:
    """Draw the reference lines of a chart, with their names beside them, where none meet, or in the legend."""
    planes = {}
    for axis, ends in (("x", axes.get_xlim()), ("y", axes.get_ylim())):
        room = (max(ends) - min(ends)) * (POINTS + 2) / 90  # plots are 90 points wide and high at least
        planes[axis] = (float, sorted(ends), room)
    for place, (reference, value, side, start) in enumerate(placed_references(chart, planes, POINTS, 4, upwards=True)):
        upright, name, (colour, dash) = reference.axis == "x", text(reference.text), LINES[reference.kind]
        style = {"color": colour, "linestyle": DOTS if place and in_legend else dash, "linewidth": 0.8, "zorder": 1}
        style |= {"label": name} if in_legend and name else {}
        (axes.axvline if upright else axes.axhline)(value, **style)
        if in_legend or not name:
            continue
        if upright:
            style = {"xycoords": axes.get_xaxis_transform(), "xytext": (2 if side else -2, 3 + start)}
            style |= {"rotation": 90, "ha": "left" if side else "right", "va": "bottom"}
        else:
            style = {"xycoords": axes.get_yaxis_transform(), "xytext": (2 + start, -2 if side else 2)}
            style |= {"ha": "left", "va": "top" if side else "bottom"}
        axes.annotate(name, (value, 0) if upright else (0, value), textcoords="offset points", color=MUTED, **style)


def save_figure(figure, path: Path) -> None:
    """Draw all charts of a figure with matplotlib and write the file."""
    # A page's drawings are no figures of a paper: their titles and keys are HTML, and in a column of 3.25 inches their
    # type is too small. Of converters to PDF, svglib loses translucency and hatches, and CairoSVG names; typst (84 MB)
    # shows all as browsers do, in the fonts of the machine.
    try:
        import matplotlib
        from matplotlib.figure import Figure as Sheet
    except ImportError as error:
        raise OpenworldError(
            f"saving a figure needs matplotlib ({error}); install it with pip install 'openworld[plots]'."
        ) from error
    columns, width = _columns(figure)
    rows, usual = -(-len(figure.charts) // columns), MANY_HEIGHT if columns == MANY_COLUMNS else HEIGHT
    heights = [chart.paper_height(width) if hasattr(chart, "paper_height") else usual for chart in figure.charts]
    titles = [wrapped(chart.title, 72 * width - 45, TITLE) for chart in figure.charts]
    height = max(heights) + max(title.count("\n") for title in titles) * LINE * TITLE / 72
    with matplotlib.rc_context(STYLE):  # ty: ignore[invalid-argument-type]: text from a file of settings
        sheet = Sheet(figsize=(width * columns, rows * height), layout="constrained")
        places = sheet.subplots(rows, columns, squeeze=False).ravel()
        for axes, chart in zip(places, figure.charts, strict=False):
            chart.draw(axes, figure.styles)
        for axes in places[len(figure.charts) :]:
            axes.set_axis_off()
        _add_legend(sheet, places)
        _fit_texts(sheet, places[: len(figure.charts)])
        form = path.suffix.lower()
        with writing(path) as file:
            sheet.savefig(file, format=form.removeprefix("."), dpi=300, metadata=DATES[form])


def _columns(figure) -> tuple[int, float]:
    """Return how many charts stand in a row, and the inches that each has: two columns of text hold them all."""
    count, least = len(figure.charts), max(getattr(chart, "paper_width", 0.0) for chart in figure.charts)
    most = MANY_COLUMNS if count > MANY else COLUMNS
    columns = next((each for each in range(min(most, count), 1, -1)
                    if each % figure.together == 0 and least <= COLUMNS * WIDTH / each), 1)  # fmt: skip
    if columns == 1:
        return 1, WIDTH if least <= WIDTH else max(COLUMNS * WIDTH, least)
    return columns, COLUMNS * WIDTH / columns


def _fit_texts(sheet, places) -> None:
    """Break titles and labels, or leave labels out, where they would meet; what does not help is turned upright."""
    point = sheet.dpi / 72
    sheet.get_layout_engine().execute(sheet)
    for axes in places:
        slot, box = axes.get_position(original=True), axes.get_window_extent()
        room = (slot.x1 * sheet.bbox.width - box.x0) / point
        axes.set_title(wrapped(axes.get_title("left"), room, TITLE))
        if not axes.axison:
            continue
        corner = axes.get_xlim()[0], axes.get_ylim()[0]
        for axis, at in (("x", 0), ("y", 1)):
            ticks = getattr(axes, f"get_{axis}ticks")()
            labels = [label.get_text() for label in getattr(axes, f"get_{axis}ticklabels")()]
            points = [(tick, corner[1]) if axis == "x" else (corner[0], tick) for tick in ticks]
            centres = [float(place[at]) / point for place in map(axes.transData.transform, points)]
            if axis == "x" and any(map(_is_word, labels)):
                pitch = min((after - before for before, after in pairwise(centres)), default=room) - 2
                broken = [wrapped(label, pitch, POINTS) if pitch > NARROW else label for label in labels]
                axes.set_xticks(ticks, broken, rotation=0 if pitch > NARROW else 90)
            elif not any(map(_is_word, labels)):
                lengths = [text_width(label, POINTS) if axis == "x" else POINTS for label in labels]
                visible = thinned(centres, lengths, 2.0)
                texts = [label if place in visible else "" for place, label in enumerate(labels)]
                getattr(axes, f"set_{axis}ticks")(ticks, texts)


def _is_word(label: str) -> bool:
    return sum(map(str.isalpha, label)) > 1 and label != "none"


def _add_legend(sheet, places) -> None:
    """Name every series once, below the charts, in as many columns as there is room for."""
    pairs = (zip(*axes.get_legend_handles_labels(), strict=True) for axes in places)
    handles = {label: handle for entries in pairs for handle, label in entries}
    if not handles:
        return
    for columns in range(len(handles), 0, -1):
        legend = sheet.legend(
            handles.values(), handles, loc="outside lower center", ncols=columns, frameon=False, columnspacing=1.2
        )
        box = legend.get_window_extent()
        if box.width <= sheet.bbox.width or columns == 1:
            break
        legend.remove()
    sheet.set_figheight(sheet.get_figheight() + box.height / sheet.dpi)
