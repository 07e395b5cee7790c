"""Lines over the levels of an axis of measured shift: what all figures of open-world quality by shift draw."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from openworld.report.axes import Axis
from openworld.report.figures.figure import frame, percent
from openworld.report.palette import Look
from openworld.report.svg import Frame, drawing, element

TITLES = {"semantic": "level of meaning", "covariate": "level of looks"}


@dataclass(frozen=True)
class Line:
    """A fraction in [0, 1] at each level, and its interval; None where there is none."""

    values: Sequence[float | None]
    intervals: Sequence[tuple[float, float] | None] = ()

    @property
    def known(self) -> list[tuple[int, float]]:
        """(level, percent) of the levels that have a value."""
        return [(level, 100 * value) for level, value in enumerate(self.values) if value is not None]


def range_of(title: str, lines: Sequence[Line]) -> Axis:
    """An axis of percent that holds all lines."""
    return Axis.around(title, [value for line in lines for _, value in line.known] or [0.0, 100.0])


def level_panel(axis: str, y: Axis, lines: Mapping[str, Line], looks: Mapping[str, Look]) -> Markup:
    """One plot.

    Args:
        axis: "semantic" or "covariate". y: of percent.
        lines: by name; bands behind them are their intervals. looks: of every name.
    """
    count = max((len(line.values) for line in lines.values()), default=1)
    x = Axis(TITLES[axis], -0.2, count - 0.8, tuple(map(float, range(count))))
    plot = frame(x, y, alone=False)
    drawn = [_line(plot, name, line, looks[name]) for name, line in lines.items() if line.known]
    return drawing(plot.width, plot.height, f"{y.title} by {x.title}, {len(lines)} lines.", [plot.axes(), *drawn])


def _line(plot: Frame, name: str, line: Line, look: Look) -> Markup:
    told = ", ".join(f"{percent(value / 100)} at {level}" for level, value in line.known)
    points = [(float(level), value) for level, value in line.known]
    parts = [element("title", f"{name}: {told}"), *_band(plot, line)]
    parts.append(plot.line(*zip(*points, strict=True), class_="line", stroke_dasharray=look.dash or None))
    parts += [plot.mark(*point, look.marker) for point in points]
    return element("g", *parts, class_=look.css_class, data_learner=name)


def _band(plot: Frame, line: Line) -> list[Markup]:
    """The intervals, cut at the frame, whose range is that of the lines."""
    ends = [(float(level), *(100 * end for end in one)) for level, one in enumerate(line.intervals) if one]
    if len(ends) < 2:
        return []
    inside = [(x, *(min(max(end, plot.y.low), plot.y.high) for end in both)) for x, *both in ends]
    return [plot.band(*map(list, zip(*inside, strict=True)), class_="band")]
