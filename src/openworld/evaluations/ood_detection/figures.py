"""The curves of measured shift: a metric at every level of an axis, over all cells and over common ones."""

from collections.abc import Mapping

from openworld.evaluations.ood_detection.drawn_metrics import AREA, DrawnMetric, drawn_detectors, selection_text
from openworld.evaluations.ood_detection.facts import Detector
from openworld.evaluations.ood_detection.measurements import ALL, CELLS, COMMON
from openworld.evaluations.ood_detection.results import DetectionResults
from openworld.report.charts import Line, LineChart, Quantity, Reference
from openworld.report.figure import Figure
from openworld.report.series_style import SeriesStyle
from openworld.report.shift_axes import AXES, level_quantity
from openworld.results import Result


def level_figures(
    results: DetectionResults, axis: str, styles: Mapping[str, SeriesStyle], drawn: DrawnMetric = AREA
) -> tuple[Figure, ...]:
    """Return a figure over all cells and one over common cells: a chart per model, a line per detector.

    Both have one range, so that what the mix of cells does is seen; none where no level has a cell.
    """
    facts, key = results.facts, drawn.metric.key
    chosen = drawn_detectors(results, drawn)
    models = [model for model in facts.models if any(detector.model == model for detector in chosen)]
    curves = {cells: {detector: results.curve(detector, axis, cells, key) for detector in chosen} for cells in CELLS}
    numbers = [
        seed for lines in curves.values() for line in lines.values() for level in line for seed in level.per_seed
    ]
    known = [number for number in numbers if number is not None]
    if not known:
        return ()
    other = f"columns ({AXES['semantic']})" if axis == "covariate" else f"rows ({AXES['covariate']})"
    which = {
        COMMON: f"Common cells: only of those {other} that are present at every level that has any cell. Where this "
        "differs from all cells, the mix of cells makes the difference.",
        ALL: f"All cells: whatever a level has, so that levels may differ in their {other}.",
    }
    chance = "; dashed: chance" * (drawn.chance is not None)
    band = "spans the seeds, lowest to highest"
    band += ", or of one seed is its 95 % interval over images" * (drawn is AREA)
    about = (
        f"{drawn.title} at every level of {axis} shift ({AXES[axis]}), 0 the nearest: mean of its cells and over the "
        f"seeds; the band behind a line {band}{chance}."
    )
    left_out = selection_text(results, drawn)
    y = Quantity.of(drawn.metric, covers=(*_chances(drawn), min(known), max(known)))
    figures = []
    for cells, lines in curves.items():
        charts = tuple(_level_chart(results, drawn, (model, axis, cells), lines, y) for model in models)
        if any(chart.lines for chart in charts):
            name, title = f"{axis}-{CELLS[cells]}{drawn.suffix}", _question(axis, drawn)
            names = ("model", "detector")
            figures.append(
                Figure(name, title, tuple(filter(None, (about, which[cells], left_out))), charts, styles, names=names)
            )
    return tuple(figures)


def _question(axis: str, drawn: DrawnMetric) -> str:
    change = "raise" if drawn.metric.better > 0 else "lower"
    return f"Does {axis} shift {change} the {drawn.title}?"


def _chances(drawn: DrawnMetric) -> tuple[float, ...]:
    return () if drawn.chance is None else (drawn.chance,)


def _level_chart(
    results: DetectionResults,
    drawn: DrawnMetric,
    place: tuple[str, str, str],
    curves: Mapping[Detector, list[Result]],
    y: Quantity,
) -> LineChart:
    model, axis, cells = place
    detectors = [detector for detector in curves if detector.model == model]
    lines = {detector.label: _line(curves[detector], cells) for detector in detectors}
    leader = max(detectors, key=lambda detector: results.whole_pool(detector).value or 0.0).label
    title = f"{model}, {cells}" if len(results.facts.models) > 1 else cells.capitalize()
    references = tuple(map(Reference, _chances(drawn)))
    return LineChart(title, level_quantity(axis), y, lines, (leader,), references=references, named=True)


def _line(curve: list[Result], cells: str) -> Line:
    """Means over the seeds, the band, and the lowest and highest seed, where all seeds have a value."""
    lowest, highest = ([None if level.value.value is None else end(level.per_seed) for level in curve]
                       for end in (min, max))  # fmt: skip
    intervals = [level.value.over("images") for level in curve]
    low = [getattr(interval, "low", seed) for interval, seed in zip(intervals, lowest, strict=True)]
    high = [getattr(interval, "high", seed) for interval, seed in zip(intervals, highest, strict=True)]
    further = {"cells": [cells] * len(curve), "lowest_seed": lowest, "highest_seed": highest}
    return Line(range(len(curve)), [level.value.value for level in curve], low, high, further=further)
