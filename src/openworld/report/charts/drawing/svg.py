"""Inline SVG by hand: escaped elements, frames, lines, markers.

Written directly because the page needs what plotting libraries do not give: colours and fonts that follow the
reader's style sheet, text that stays text, a learner's name on every mark, the same bytes for the same numbers,
and a few kilobytes per plot (17 curves of 101 points: 7 kB here, 57 kB from matplotlib). Everything returned is
`Markup`; every string that comes in is escaped.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from openworld.report.charts.drawing.lettering import PIXELS, text_width, thinned
from openworld.report.charts.quantity import Axis

Point = tuple[float, float]

MANY_POINTS = 60  # in one chart, from which they and their intervals are drawn finer


def element(tag: str, *content, **attributes) -> Markup:
    """One SVG or HTML element; text content and attribute values are escaped, `None` attributes left out."""
    named = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_short(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inner = "".join(escape(part) for part in content)
    return Markup(f"<{tag}{named}>{inner}</{tag}>" if inner else f"<{tag}{named}/>")


def drawing(width: float, height: float, description: str, parts: Iterable[Markup]) -> Markup:
    """The `<svg>` around `parts`, scaled by its width on the page and described for those who cannot see it."""
    view = f"0 0 {_short(width)} {_short(height)}"
    return element("svg", *parts, viewBox=view, width=width, height=height, role="img", aria_label=description)


@dataclass(frozen=True)
class Frame:
    """The rectangle a plot is drawn in: outer size, margins (top, right, bottom, left) and two axes."""

    width: float
    height: float
    margins: tuple[float, float, float, float]
    x: Axis
    y: Axis

    @property
    def box(self) -> tuple[float, float, float, float]:
        top, right, bottom, left = self.margins
        return left, top, self.width - right, self.height - bottom

    def across(self, value: float) -> float:
        """The horizontal position of `value` in user units."""
        left, _, right, _ = self.box
        return left + self.x.share(value) * (right - left)

    def up(self, value: float) -> float:
        _, top, _, bottom = self.box
        return bottom - self.y.share(value) * (bottom - top)

    def axes(self) -> Markup:
        left, high, right, low = self.box
        parts = []
        lengths = [text_width(label, PIXELS) for label in self.x.labels]
        labelled = thinned([self.across(tick) for tick in self.x.ticks], lengths, 4.0)
        for place, (tick, label) in enumerate(zip(self.x.ticks, self.x.labels, strict=True)):
            parts.append(element("line", x1=self.across(tick), x2=self.across(tick), y1=low, y2=high, class_="grid"))
            if place in labelled:
                parts.append(element("text", label, x=self.across(tick), y=low + 17, class_="tick mid"))
        for tick, label in zip(self.y.ticks, self.y.labels, strict=True):
            parts.append(element("line", x1=left, x2=right, y1=self.up(tick), y2=self.up(tick), class_="grid"))
            parts.append(element("text", label, x=left - 6, y=self.up(tick) + 4, class_="tick end"))
        parts.append(element("text", self.x.title, x=(left + right) / 2, y=low + 34, class_="title mid"))
        middle = (low + high) / 2
        turn = f"rotate(-90 13 {_short(middle)})"
        parts.append(element("text", self.y.title, x=13, y=middle, transform=turn, class_="title mid"))
        return Markup("").join(parts)

    def place(self, point: Point) -> Point:
        return self.across(point[0]), self.up(point[1])

    def line(self, points: Sequence[Point], **attributes) -> Markup:
        """A polyline through the points, thinned to what the eye can tell."""
        return element("polyline", points=joined(_thin([*map(self.place, points)])), **attributes)

    def band(self, ends: Sequence[tuple[float, float, float]]) -> Markup:
        """The area between the ends (x, low, high); nothing where they are the same line."""
        if all(low == high for _, low, high in ends):
            return Markup("")
        edge = [*((x, high) for x, _, high in ends), *((x, low) for x, low, _ in reversed(ends))]
        return element("polygon", points=joined(map(self.place, edge)), class_="band")


def joined(points: Iterable[Point]) -> str:
    return " ".join(f"{_short(x)},{_short(y)}" for x, y in points)


def sample(*content: Markup) -> Markup:
    """A small drawing, 26 by 14, for the key over a figure."""
    return element("svg", *content, viewBox="0 0 26 14", width=26, height=14, aria_hidden="true")


SHAPES = {
    "circle": "M5 0a5 5 0 1 0-10 0a5 5 0 1 0 10 0z",
    "square": "M-4.5-4.5h9v9h-9z",
    "triangle": "M0-6L5.5 4h-11z",
    "diamond": "M0-6L5.5 0L0 6L-5.5 0z",
    "down": "M0 6L5.5-4h-11z",
    "cross": "M-2-6h4v4h4v4h-4v4h-4v-4h-4v-4h4z",
    "star": "M0-7L1.8-2.4L6.7-2.2L2.9 .9L4.1 5.7L0 3L-4.1 5.7L-2.9 .9L-6.7-2.2L-1.8-2.4z",
}


def shapes() -> Markup:
    """The markers, drawn once for a whole page; every `marker` on it refers to them."""
    return Markup("").join(element("path", d=path, id=f"m-{name}") for name, path in SHAPES.items())


def hatches() -> Markup:
    """The hatches of the parts that a bar lost, drawn once as `shapes` are."""
    ground = element("rect", width=6, height=6, class_="hatch-ground")
    stripe = element("rect", width=2, height=6, class_="hatch-line")
    dot = element("circle", cx=2.5, cy=2.5, r=1, class_="hatch-line")
    turned = "rotate(45)"
    kinds = ((1, 6, ground + stripe, turned), (2, 5, ground + dot, None), (3, 6, ground, None))
    return Markup("").join(
        element(
            "pattern",
            parts,
            id=f"hatch{number}",
            width=size,
            height=size,
            patternUnits="userSpaceOnUse",
            patternTransform=transform,
        )
        for number, size, parts, transform in kinds
    )


def marker(shape: str, x: float | None = None, y: float | None = None) -> Markup:
    """A marker of a named shape, about 10 user units wide, centred at (x, y) or at the origin."""
    return element("use", href=f"#m-{shape}", x=x, y=y)


def _thin(points: list[Point], tolerance: float = 0.25) -> list[Point]:
    """The points that a line must keep to stay within `tolerance` user units (Douglas and Peucker, 1973)."""
    if len(points) < 3:
        return points
    (ax, ay), (bx, by) = points[0], points[-1]
    length = math.hypot(bx - ax, by - ay) or 1.0
    distances = [abs((bx - ax) * (ay - y) - (ax - x) * (by - ay)) / length for x, y in points[1:-1]]
    farthest = max(range(len(distances)), key=distances.__getitem__)
    if distances[farthest] <= tolerance:
        return [points[0], points[-1]]
    middle = farthest + 1
    return _thin(points[: middle + 1], tolerance)[:-1] + _thin(points[middle:], tolerance)


def _short(value) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
