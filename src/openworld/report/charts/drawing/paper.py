"""What charts share on matplotlib axes, in the colours of a page on white paper."""

import numpy as np

from openworld.report.charts.drawing.axes import Axis, LogAxis
from openworld.report.charts.drawing.lettering import POINTS, staggered, text_width, wrapped
from openworld.report.charts.drawing.svg import MANY_POINTS
from openworld.report.series_style import SeriesStyle

MARKERS = {"circle": "o", "square": "s", "triangle": "^", "diamond": "D", "down": "v", "cross": "P", "star": "*"}
INK, MUTED, GRID, ACCENT, ALERT = "#1a1a1a", "#5c5c5c", "#e4e4e1", "#0b5fa5", "#d5491b"
TITLE, PANEL = 8.0, 190.0  # points: the size of a title, and the width of the plot of a usual panel
DOTS = (0, (1, 1.5))  # of the second line, and further ones, that a legend names
LINES = {"reference": (MUTED, (0, (4, 3))), "known": (INK, "-"), "alert": (ALERT, "-")}


def text(name: str) -> str:
    """Return the name as matplotlib shows it letter by letter: no formula, and no name that legends leave out.

    >>> text("$5")
    '\\\\$5'
    """
    return "\N{ZERO WIDTH SPACE}" * name.startswith("_") + name.replace("$", r"\$")


def set_title(axes, title: str) -> None:
    """Set the title, in as many lines as it takes to leave the next chart's free."""
    axes.set_title(wrapped(text(title), PANEL, TITLE))


def set_axes(axes, title: str, x: Axis | LogAxis, y: Axis) -> None:
    """Set title, ranges, ticks and grid."""
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
        known = start + span * np.log(np.where(value > 0, value, 1.0) / x.low) / ratio
        return np.where(value > 0, known, x.break_share / 2 * (1 + value))

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
    """Return how the marks of a series are drawn."""
    size = 8 if style.marker == "star" else 5
    edge = {"markeredgecolor": "white", "markeredgewidth": 0.4}
    return {"color": style.light, "marker": MARKERS[style.marker], "markersize": size} | edge


def line_style(style: SeriesStyle, *, back: bool = False, top: bool = False) -> dict:
    """Return how the line of a series is drawn, behind the others or on top of them."""
    dash = (0, tuple(float(part) / 2 for part in style.dash.split())) if style.dash else "-"
    strength = {"alpha": 0.45, "linewidth": 0.8} if back else {"linewidth": 1.2}
    return mark_style(style) | {"linestyle": dash, "zorder": 2 if back else 3 + top} | strength


def ring(axes, x: float, y: float, colour: str = INK) -> None:
    """Draw a ring around a point."""
    axes.plot([x], [y], "o", markersize=8, markerfacecolor="none", markeredgecolor=colour, zorder=5)


def points(axes, chart, name: str, series) -> None:
    """Draw single points with their intervals, over the lines of a chart."""
    xs, many = [chart.x.scaled(x) for x in series.x], len(series.x) > MANY_POINTS
    if series.low:
        ends = ([chart.y.scaled(end) for end in side] for side in (series.low, series.high))
        axes.vlines(xs, *ends, color=INK, linewidth=0.4 if many else 1.2, zorder=4)
    marker = {"dot": "o", "ring": "o", "dash": "_"}[series.mark]
    fill = {"markerfacecolor": "none", "markersize": 7} if series.mark == "ring" else {"markersize": 2 if many else 4}
    ys = [np.nan if y is None else chart.y.scaled(y) for y in series.y]
    axes.plot(xs, ys, marker, color=INK, label=text(name), zorder=5, **fill)


def references(axes, chart, *, in_legend: bool = False) -> None:
    """Draw the reference lines of a chart, with their names beside them, where none meet, or in the legend."""
    for axis in ("x", "y"):
        upright = axis == "x"
        chosen = [reference for reference in chart.references if reference.axis == axis]
        values = [(chart.x if upright else chart.y).scaled(reference.value) for reference in chosen]
        low, high = sorted(axes.get_xlim() if upright else axes.get_ylim())
        apart = (high - low) * (POINTS + 2) / 90  # plots are 90 points wide and high at least
        before, after = [(value - apart, value) for value in values], [(value, value + apart) for value in values]
        sides = [(one, other) if upright else (other, one) for one, other in zip(before, after, strict=True)]
        names = ["" if in_legend else text(reference.text) for reference in chosen]
        lengths = [text_width(name, POINTS) + 4 for name in names]
        found = staggered(sides, lengths, (low, high))
        for place, (reference, value, name, (side, start)) in enumerate(zip(chosen, values, names, found, strict=True)):
            colour, dash = LINES[reference.kind]
            style = {"color": colour, "linestyle": DOTS if place and in_legend else dash, "linewidth": 0.8, "zorder": 1}
            style |= {"label": text(reference.text)} if in_legend and reference.text else {}
            (axes.axvline if upright else axes.axhline)(value, **style)
            if not name:
                continue
            style = {"textcoords": "offset points", "color": MUTED}
            if upright:
                style |= {"xycoords": axes.get_xaxis_transform(), "xytext": (2 if side else -2, 3 + start)}
                style |= {"rotation": 90, "ha": "left" if side else "right", "va": "bottom"}
            else:
                style |= {"xycoords": axes.get_yaxis_transform(), "xytext": (2 + start, -2 if side else 2)}
                style |= {"ha": "left", "va": "top" if side else "bottom"}
            axes.annotate(name, (value, 0) if upright else (0, value), **style)


def regions(axes, chart) -> None:
    """Draw the shaded rectangles of a chart, with their names."""
    for region in chart.regions:
        left, right = map(chart.x.scaled, region.x) if region.x else axes.get_xlim()
        low, high = map(chart.y.scaled, region.y) if region.y else axes.get_ylim()
        colour = ACCENT if region.kind == "corner" else MUTED
        axes.fill_between(
            [left, right], low, high, color=colour, alpha=0.08 if region.kind == "corner" else 0.15, lw=0, zorder=0
        )
        if region.text:
            axes.annotate(text(region.text), (left, high), (3, -3), textcoords="offset points", color=colour, va="top")


SHADES = {True: ACCENT, False: "#b8480b"}
EDGE = 0.015  # of a cell, free around its images
HATCHES = ("", "////", "....", "")
DOT_COLOURS = {"natural": "#b8480b", "synthetic": "#2b7fc4"}
MANY = 2000  # dots that are drawn as an image, so that a file stays small


def cell(axes, x: float, low: float, high: float, content) -> None:
    """Draw one cell of a grid, from `low` to `high`: its shade, its number or its images."""
    from matplotlib.patches import Rectangle

    height = high - low
    box = {"edgecolor": "white", "linewidth": 1}
    if content.images:
        for place, image in enumerate(content.images):
            _image(axes, image, x, low, place, len(content.images), 0.45 if content.faint else 1.0)
        return
    if content.shade is None:
        hatch = {"hatch": "////", "edgecolor": "#c8c8c8"} if content.text else box
        axes.add_patch(Rectangle((x + 0.02, low + 0.02), 0.96, height - 0.04, facecolor="#f3f3f0", **hatch))
    else:
        shade = {"facecolor": SHADES[content.shade >= 0], "alpha": 0.04 + 0.7 * abs(content.shade)}
        axes.add_patch(Rectangle((x, low), 1, height, **shade, **box))
    if content.dashed:
        dashes = {"linestyle": (0, (3, 3)), "edgecolor": MUTED, "linewidth": 0.8}
        axes.add_patch(Rectangle((x + 0.05, low + 0.05), 0.9, height - 0.1, fill=False, **dashes))
    axes.text(x + 0.5, (low + high) / 2, text(content.text), ha="center", va="center")


def _image(axes, image, x: float, y: float, place: int, count: int, alpha: float) -> None:
    import base64
    import io

    from PIL import Image

    content = base64.b64decode(image.address.partition(",")[2])
    across = 1 if count == 1 else 2
    side = 1 / across
    left, top = x + side * (place % across), y + 1 - side * (place // across)
    pixels = Image.open(io.BytesIO(content), formats=("JPEG", "PNG", "WEBP")).convert("RGB")
    axes.imshow(
        pixels,
        extent=(left + EDGE, left + side - EDGE, top - side + EDGE, top - EDGE),
        alpha=alpha,
        aspect="auto",
        zorder=2,
    )


def bar(axes, y: float, start: float, width: float, part: int, colour: str, label: str = "") -> None:
    """Draw a part of a stacked bar: the first in the colour of its series, the others hatched by their kind."""
    kind = {"color": colour} if part == 0 else {"facecolor": "#efefec", "hatch": HATCHES[part], "edgecolor": "#8a8a8a"}
    axes.barh(y, width, 0.75, start, linewidth=0.4, label=label, **kind)


def dots(axes, places, kind: str, shape: int, label: str) -> None:
    """Draw dots of one colour and shape."""
    style = {"color": DOT_COLOURS.get(kind, MUTED), "marker": "o^sD"[shape % 4], "alpha": 0.6, "linewidth": 0}
    axes.scatter(*zip(*places, strict=True), s=6, label=label, rasterized=len(places) > MANY, **style)
