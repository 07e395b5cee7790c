"""What charts share on matplotlib axes, in the colours of a page on white paper."""

import numpy as np

from openworld.report.charts.drawing.axes import Axis, LogAxis
from openworld.report.charts.drawing.lettering import POINTS, wrapped
from openworld.report.charts.drawing.plane import placed_references
from openworld.report.series_style import SeriesStyle

MARKERS = {"circle": "o", "square": "s", "triangle": "^", "diamond": "D", "down": "v", "cross": "P", "star": "*"}
INK, MUTED, GRID, ACCENT, ALERT = "#1a1a1a", "#5c5c5c", "#e4e4e1", "#0b5fa5", "#d5491b"
TITLE, PANEL = 8.0, 190.0  # points: the size of a title, and the width of the plot of a usual panel
DOTS = (0, (1, 1.5))  # of the second line, and further ones, that a legend names
LINES = {"reference": (MUTED, (0, (4, 3))), "known": (INK, "-"), "alert": (ALERT, "-")}


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


def set_axes(axes, title: str, x: Axis | LogAxis, y: Axis) -> None:
    set_title(axes, title)
    axes.set(xlabel=text(x.title), ylabel=text(y.title), ylim=(y.low, y.high), axisbelow=True)
    if isinstance(x, LogAxis):
        _set_log(axes, x)
    else:
        axes.set_xlim(x.low, x.high)
    axes.set_xticks(x.ticks, map(text, x.labels), minor=False)
    axes.set_yticks(y.ticks, map(text, y.labels))
    axes.grid(color=GRID, linewidth=0.5)
    axes.tick_params(length=0)
    axes.tick_params(axis="x", pad=5)  # points: clear of the lowest label of the other axis
    axes.spines[:].set_visible(False)


def _set_log(axes, x: LogAxis) -> None:
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
