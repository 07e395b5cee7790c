"""Small marks of a learner: the interval plot in its table row, the swatch by its name, the key in the legend."""

from markupsafe import Markup

from openworld.report.charts.drawing.svg import element, marker
from openworld.report.series_style import SeriesStyle

WIDTH, HEIGHT, ROOM = 100.0, 16.0, 6.0


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


def key(style: SeriesStyle) -> Markup:
    """A piece of the learner's line with its marker, 30 by 14, for the legend."""
    line = element("line", x1=1.0, x2=29.0, y1=7.0, y2=7.0, class_="line", stroke_dasharray=style.dash or None)
    mark = marker(style.marker, 15.0, 7.0)
    return _small([line, mark], 30.0, 14.0, style.css_class)


def _small(parts: list[Markup], width: float, height: float, css: str | None) -> Markup:
    view = f"0 0 {width:.0f} {height:.0f}"
    return element("svg", *parts, viewBox=view, width=width, height=height, class_=css, aria_hidden="true")
