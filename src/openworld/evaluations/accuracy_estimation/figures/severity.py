"""Error against the severity of synthetic shifts: how far off the methods are, and in which direction."""

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from openworld.evaluations.accuracy_estimation.numbers import ErrorTable
from openworld.report.axes import Axis
from openworld.report.panels import NAMED, Figure, Panel, frame
from openworld.report.series_style import Look
from openworld.report.svg import Frame, drawing, element
from openworld.report.text import percent, signed

HEADER = ("method", "severity", "mean_absolute_error", "bias", "estimates", "true_accuracy")


def severity(table: ErrorTable, looks: dict[str, Look]) -> Figure | None:
    """Two panels: mean absolute error and bias, one line per method; None where there are no two severities."""
    run = table.run
    steps = sorted({one.severity for one in run.conditions if one.severity is not None})
    if len(steps) < 2:
        return None
    sizes = {label: [_mean(values, steps, run) for values in (np.abs(run.off[place]), run.off[place])]
             for place, label in enumerate(run.labels)}  # fmt: skip
    truth = _mean(run.accuracy, steps, run)
    drawn = {label: both for label, both in sizes.items() if all(value is not None for value in both[0])}
    if not drawn:
        return None
    panels = (
        Panel(
            "How far off", _panel(table, {label: both[0] for label, both in drawn.items()}, steps, looks, signs=False)
        ),
        Panel("Which way", _panel(table, {label: both[1] for label, both in drawn.items()}, steps, looks, signs=True)),
    )
    lost = f"{percent(truth[0])} to {percent(truth[-1])}"
    crowded = " Point at a name above to bring its line forward." * (len(drawn) > NAMED)
    caption = (
        f"Means over all corruptions and judged models at every severity; true accuracy goes from {lost} % on the way.",
        "Left the mean absolute error; right estimated minus true accuracy, where above 0 is too hopeful. A method "
        f"that sees the shift stays level in both.{crowded}",
    )
    rows = tuple(row for label in drawn for row in _rows(table, label, sizes[label], steps, truth))
    return Figure("severity", "What happens as the shift grows?", caption, panels, HEADER, rows)


def _panel(table: ErrorTable, lines: dict[str, list], steps: Sequence[int], looks, *, signs: bool) -> Markup:
    values = [100 * value for line in lines.values() for value in line]
    title = "estimated − true accuracy, points" if signs else "mean absolute error, points"
    x = Axis("severity", steps[0] - 0.15, steps[-1] + 0.15, tuple(map(float, steps)))
    y = Axis.around(title, [*values, 0.0], limits=(-100.0, 100.0) if signs else (0.0, 100.0))
    plot = frame(x, y, alone=False)
    parts = [plot.axes()]
    if signs:
        parts.append(plot.line((x.low, x.high), (0.0, 0.0), class_="asked"))
    kept = {table.leader, table.run.yardstick}
    for label in sorted(lines, key=lambda label: label in kept):
        told = ", ".join(
            f"{signed(value) if signs else percent(value)} at {step}"
            for step, value in zip(steps, lines[label], strict=True)
        )
        back = _back(lines, label, kept)
        drawn, css = _line(plot, steps, lines[label], looks[label], back), looks[label].css_class + back
        parts.append(element("g", element("title", f"{label}: {told}"), *drawn, class_=css, data_learner=label))
    return drawing(plot.width, plot.height, f"{title} by severity, {len(lines)} methods.", parts)


def _line(plot: Frame, steps, values, look: Look, back: str) -> list[Markup]:
    """A line with a mark at every severity, or at its ends where it stands back."""
    points = [(step, 100 * value) for step, value in zip(steps, values, strict=True)]
    parts = [plot.line(*zip(*points, strict=True), class_="line", stroke_dasharray=look.dash or None)]
    parts += [plot.mark(*point, look.marker) for point in (points[:: len(points) - 1] if back else points)]
    return parts


def _back(lines, label: str, kept) -> str:
    """Among many lines all but the leader and the yardstick stand back."""
    return " crowded back" if len(lines) > NAMED and label not in kept else ""


def _mean(values: np.ndarray, steps: Sequence[int], run) -> list[float | None]:
    """By severity the mean of what is known."""
    found = []
    for step in steps:
        chosen = values[:, [one.severity == step for one in run.conditions]]
        known = chosen[np.isfinite(chosen)]
        found.append(float(known.mean()) if known.size else None)
    return found


def _rows(table: ErrorTable, label: str, both, steps, truth) -> list[tuple]:
    off = table.run.off[table.labels.index(label)]
    counts = [int(np.isfinite(off[:, [one.severity == step for one in table.run.conditions]]).sum()) for step in steps]
    return [(label, *row) for row in zip(steps, *both, counts, truth, strict=True)]
