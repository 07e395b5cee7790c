"""Inline SVG by hand: escaped elements, linear scales, axes, lines, markers.

Written directly because the page needs what plotting libraries do not give: colours and fonts that follow the
reader's style sheet, text that stays text, a learner's name on every mark, the same bytes for the same numbers,
and a few kilobytes per plot. Everything returned is `Markup`; every string that comes in is escaped.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape


def element(tag: str, *content, **attributes) -> Markup:
    """One SVG or HTML element; text content and attribute values are escaped, `None` attributes left out.

    >>> print(element("text", "a<b", x=1.50, class_="tick"))
    <text x="1.5" class="tick">a&lt;b</text>
    """
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
class Axis:
    """One axis: its title with the unit, its range and the values that get a tick."""

    title: str
    low: float
    high: float
    ticks: tuple[float, ...]

    @classmethod
    def around(cls, title: str, values: Sequence[float], *, limits=(0.0, 100.0), count: int = 5) -> "Axis":
        """An axis that holds all `values` with room on both sides, on round ticks, within `limits`."""
        low, high = min(values), max(values)
        room = max(0.08 * (high - low), 1.0)
        low, high = max(limits[0], low - room), min(limits[1], high + room)
        step = _nice_step((high - low) / count)
        low, high = math.floor(low / step) * step, math.ceil(high / step) * step
        return cls(title, low, high, tuple(low + step * i for i in range(round((high - low) / step) + 1)))


@dataclass(frozen=True)
class Frame:
    """The rectangle a plot is drawn in: outer size, margins (top, right, bottom, left) and two axes."""

    width: float
    height: float
    margins: tuple[float, float, float, float]
    x: Axis
    y: Axis

    def across(self, value: float) -> float:
        """The horizontal position of `value` in user units."""
        _, right, _, left = self.margins
        return left + (value - self.x.low) / (self.x.high - self.x.low) * (self.width - left - right)

    def up(self, value: float) -> float:
        """The vertical position of `value` in user units (SVG counts downwards)."""
        top, _, bottom, _ = self.margins
        return self.height - bottom - (value - self.y.low) / (self.y.high - self.y.low) * (self.height - top - bottom)

    def axes(self) -> Markup:
        """Grid, tick labels and axis titles."""
        left, right, low, high = (
            self.across(self.x.low),
            self.across(self.x.high),
            self.up(self.y.low),
            self.up(self.y.high),
        )
        parts = []
        for tick in self.x.ticks:
            parts.append(element("line", x1=self.across(tick), x2=self.across(tick), y1=low, y2=high, class_="grid"))
            parts.append(element("text", _label(tick), x=self.across(tick), y=low + 15, class_="tick mid"))
        for tick in self.y.ticks:
            parts.append(element("line", x1=left, x2=right, y1=self.up(tick), y2=self.up(tick), class_="grid"))
            parts.append(element("text", _label(tick), x=left - 6, y=self.up(tick) + 4, class_="tick end"))
        parts.append(element("text", self.x.title, x=(left + right) / 2, y=low + 33, class_="title mid"))
        middle = (low + high) / 2
        turn = f"rotate(-90 13 {_short(middle)})"
        parts.append(element("text", self.y.title, x=13, y=middle, transform=turn, class_="title mid"))
        return Markup("").join(parts)

    def line(self, xs: Sequence[float], ys: Sequence[float], **attributes) -> Markup:
        """A polyline through the points, thinned to what the eye can tell."""
        points = [(self.across(x), self.up(y)) for x, y in zip(xs, ys, strict=True)]
        text = " ".join(f"{_short(x)},{_short(y)}" for x, y in _thinned(points))
        return element("polyline", points=text, **attributes)

    def mark(self, x: float, y: float, shape: str) -> Markup:
        """A marker of the given shape at a data point."""
        return marker(shape, self.across(x), self.up(y))


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


def marker(shape: str, x: float | None = None, y: float | None = None) -> Markup:
    """A marker of a named shape, about 10 user units wide, centred at (x, y) or at the origin."""
    return element("use", href=f"#m-{shape}", x=x, y=y)


def _nice_step(rough: float) -> float:
    power = 10 ** math.floor(math.log10(rough))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= rough * 0.999)


def _thinned(points: list[tuple[float, float]], tolerance: float = 0.25) -> list[tuple[float, float]]:
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
    return _thinned(points[: middle + 1], tolerance)[:-1] + _thinned(points[middle:], tolerance)


def _label(value: float) -> str:
    return f"{value:g}"


def _short(value) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
