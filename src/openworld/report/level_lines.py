"""Lines over the levels of an axis of measured shift: what every figure by level draws."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from openworld.report.axes import Axis
from openworld.report.label_placement import beside, margin
from openworld.report.panels import frame
from openworld.report.series_style import Look
from openworld.report.shift_axes import LEVELS
from openworld.report.svg import Frame, drawing, element
from openworld.report.text import percent

CROWDED = 10  # lines in a panel; of more, all but the leader stand back until chosen


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


def level_panel(
    axis: str,
    y: Axis,
    lines: Mapping[str, Line],
    looks: Mapping[str, Look],
    *,
    leader: str | None = None,
    chance: float | None = None,
) -> Markup:
    """One plot.

    Args:
        axis: "semantic" or "covariate". y: of percent.
        lines: by name; bands behind them are their intervals. looks: of every name.
        leader: the line drawn last, which stays in front in a crowd; with one the names stand beside the lines.
        chance: percent at which a dashed line lies.
    """
    x = _levels(axis, max((len(line.values) for line in lines.values()), default=1))
    named = leader is not None
    plot = frame(x, y, alone=named, **({"names": len(lines), "right": margin(lines)} if named else {}))
    parts = [plot.axes()] + ([] if chance is None else [plot.line((x.low, x.high), (chance, chance), class_="asked")])
    known = {name: line for name, line in lines.items() if line.known}
    for name in sorted(known, key=lambda name: name == leader):
        back = named and len(lines) > CROWDED and name != leader
        parts.append(_line(plot, name, known[name], looks[name], back))
    ends = {name: (plot.across(line.known[-1][0]), plot.up(line.known[-1][1])) for name, line in known.items()}
    parts += beside(plot, ends, looks) if named else []
    return drawing(plot.width, plot.height, f"{y.title} by {x.title}, {len(lines)} lines.", parts)


def _levels(axis: str, count: int) -> Axis:
    return Axis(LEVELS[axis], -0.2, count - 0.8, tuple(map(float, range(count))))


def _line(plot: Frame, name: str, line: Line, look: Look, back: bool) -> Markup:
    """A line with its band and marks; one that stands back has marks at its ends alone."""
    told = ", ".join(f"{percent(value / 100)} at {level}" for level, value in line.known)
    points = [(float(level), value) for level, value in line.known]
    parts = [element("title", f"{name}: {told}"), *_band(plot, line)]
    parts.append(plot.line(*zip(*points, strict=True), class_="line", stroke_dasharray=look.dash or None))
    parts += [plot.mark(*point, look.marker) for point in (points[:: len(points) - 1 or 1] if back else points)]
    return element("g", *parts, class_=look.css_class + " crowded back" * back, data_learner=name)


def _band(plot: Frame, line: Line) -> list[Markup]:
    """The intervals, cut at the frame, whose range is that of the lines."""
    ends = [(float(level), *(100 * end for end in one)) for level, one in enumerate(line.intervals) if one]
    if len(ends) < 2:
        return []
    inside = [(x, *(min(max(end, plot.y.low), plot.y.high) for end in both)) for x, *both in ends]
    return [plot.band(*map(list, zip(*inside, strict=True)), class_="band")]
