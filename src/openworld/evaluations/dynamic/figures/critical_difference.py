"""The critical-difference diagram: mean ranks on an axis, with a bar over learners that are not shown to differ.

Demsar (2006), section 3.2.2 and Figure 1; one block per course, Nemenyi's distance.
"""

from collections.abc import Sequence

from markupsafe import Markup

from openworld.evaluations.dynamic.courses import SCENARIOS, Ranking
from openworld.report.axes import Axis
from openworld.report.label_placement import LETTER
from openworld.report.panels import Figure, Panel
from openworld.report.sentences import listed
from openworld.report.series_style import Look
from openworld.report.svg import Frame, drawing, element, marker

ROW, STEP, TOP = 19.0, 7.0, 46.0  # user units: a name's row, a bar's, and where the axis lies
AXIS = 300.0  # its length


def critical_difference(rankings: Sequence[Ranking], looks: dict[str, Look]) -> Figure:
    """One panel per scenario that has courses enough; why there is none for the others, in words."""
    drawn = [one for one in rankings if one.difference.value is not None]
    panels = tuple(Panel(SCENARIOS[one.scenario], _panel(one, looks)) for one in drawn)
    refused: dict[str, list[str]] = {}
    for one in rankings:
        if one.difference.value is None:
            refused.setdefault(one.difference.reason, []).append(SCENARIOS[one.scenario])
    shown = (
        "Mean rank of the area under the curve over the courses of a scenario, 1 = best, one block per course: levels "
        "are nested views of the same pictures and count once"
    )
    told = "; ".join(f"{listed(scenarios)} ({reason})" for reason, scenarios in refused.items())
    none = f"No diagram is drawn for {told}."
    read = (
        "A bar joins learners whose mean ranks lie closer than the critical difference CD, so that they are not shown "
    )
    caption = (
        f"{shown}.{' ' + none if refused and drawn else ''}" if drawn else none,
        f"{read}to differ at 5 % (Nemenyi)." if drawn else f"{shown}; courses that share a source are not independent.",
    )
    header = ("scenario", "learner", "mean_rank", "critical_difference", "friedman_p", "courses")
    rows = tuple(row for one in rankings for row in _rows(one))
    return Figure("critical-difference", "Which ranks differ?", caption, panels, header, rows)


def groups(mean_ranks: Sequence[float], distance: float) -> list[tuple[float, float]]:
    """Ends of the bars: the largest runs of neighbouring mean ranks that lie closer than `distance`.

    >>> groups([1.0, 1.5, 3.0, 3.2], 2.1)
    [(1.0, 3.0), (1.5, 3.2)]
    """
    ordered, found = sorted(mean_ranks), []
    for start, low in enumerate(ordered):
        inside = [high for high in ordered[start:] if high - low < distance]
        if len(inside) > 1 and (not found or inside[-1] > found[-1][1]):
            found.append((low, inside[-1]))
    return found


def _rows(ranking: Ranking) -> list[tuple]:
    means, value, p = ranking.difference.mean_ranks, ranking.difference.value, ranking.test.p_value
    pairs = zip(ranking.learners, means, strict=True)
    return [(SCENARIOS[ranking.scenario], learner, mean, value, p, ranking.courses) for learner, mean in pairs]


def _panel(ranking: Ranking, looks: dict[str, Look]) -> Markup:
    means = dict(zip(ranking.learners, ranking.difference.mean_ranks, strict=True))
    ordered = sorted(means, key=means.get)
    half = -(-len(ordered) // 2)
    bars = groups(list(means.values()), ranking.difference.value)
    side = 30 + LETTER * max(map(len, ordered))
    floor = TOP + 12 + STEP * len(bars)
    height = floor + ROW * half + 6
    ticks = tuple(range(1, len(ordered) + 1))
    plot = Frame(AXIS + 2 * side, height, (TOP, side, height - TOP, side), Axis("", 1, len(ordered), ticks), _FLAT)
    parts = [*_axis(plot), *_measure(plot, ranking.difference.value)]
    sides = ((ordered[:half], True), (ordered[half:][::-1], False))
    for names, left in sides:
        for row, learner in enumerate(names):
            parts.append(_name(plot, learner, means[learner], floor + ROW * (row + 0.5), looks[learner], left=left))
    for place, (low, high) in enumerate(bars):
        y = TOP + 10 + STEP * place
        ends = {"x1": plot.across(low) - 3, "x2": plot.across(high) + 3, "y1": y, "y2": y}
        parts.append(element("line", **ends, class_="bar"))
    told = ", ".join(f"{learner} {means[learner]:.2f}" for learner in ordered)
    return drawing(plot.width, height, f"Mean ranks over {ranking.courses} courses: {told}.", parts)


_FLAT = Axis("", 0, 1, (0, 1))


def _axis(plot: Frame) -> list[Markup]:
    left, _, right, _ = plot.box
    parts = [element("line", x1=left, x2=right, y1=TOP, y2=TOP, class_="axis")]
    step = max(1, round(len(plot.x.ticks) / 9))
    for tick in plot.x.ticks:
        parts.append(element("line", x1=plot.across(tick), x2=plot.across(tick), y1=TOP - 5, y2=TOP, class_="axis"))
        if (tick - 1) % step == 0:
            parts.append(element("text", str(tick), x=plot.across(tick), y=TOP - 9, class_="tick mid"))
    return parts


def _measure(plot: Frame, distance: float) -> list[Markup]:
    """The critical difference drawn to the axis's scale, above it."""
    left, _, right, _ = plot.box
    stop = left + distance / (plot.x.high - plot.x.low) * (right - left)
    line = element("line", x1=left, x2=stop, y1=12.0, y2=12.0, class_="bar")
    return [line, element("text", f"CD = {distance:.2f}", x=stop + 8, y=16.0, class_="tick")]


def _name(plot: Frame, learner: str, mean: float, y: float, look: Look, *, left: bool) -> Markup:
    start, _, end, _ = plot.box
    x, edge = plot.across(mean), (start - 8 if left else end + 8)
    text = edge - 14 if left else edge + 14
    line = element("polyline", points=f"{x:.1f},{TOP:.1f} {x:.1f},{y:.1f} {edge:.1f},{y:.1f}", class_="leader")
    name = element("text", learner, x=text, y=y + 4, class_="label near" + " end" * left)
    title = element("title", f"{learner}: mean rank {mean:.2f}")
    mark = marker(look.marker, edge + (-5 if left else 5), y)
    return element("g", title, line, mark, name, class_=look.css_class, data_learner=learner)
