"""The figures of recognition by shift: OpenworldAUC by level and by cell, estimates of the accuracy by level."""

from collections.abc import Mapping

import numpy as np

from openworld.evaluations.recognition_by_shift.estimation_results import estimated
from openworld.evaluations.recognition_by_shift.record import PARTS
from openworld.evaluations.recognition_by_shift.results import AUC, FIELDS, NEAR, SAME, RecognitionShiftResults
from openworld.report.charts import CellChart, ChartCell, Line, LineChart, Quantity
from openworld.report.charts.cells import count_cell
from openworld.report.figure import Figure
from openworld.report.series_style import SeriesStyle
from openworld.report.shift_axes import AXES, Place, level_map, level_quantity, place_text
from openworld.report.shift_axes import NEAR as READING
from openworld.results import METRICS

TRUTH = "true accuracy"
_PARTS = {NEAR: ("openworld_auc", "new_accuracy", "auroc"), SAME: tuple(PARTS)}
_LEVEL_TITLES = {
    (NEAR, "semantic"): "How far off in meaning?",
    (NEAR, "covariate"): "How far off in appearance?",
    (SAME, "covariate"): "When all images change their appearance",
}
_ABOUT = {
    NEAR: "Base test images stay as they are, so base accuracy is the same at every level; new images move away.",
    SAME: "Base images and new ones move away together, as when a camera changes.",
}
_CELL_TITLES = {NEAR: "Cell by cell", SAME: "Cell by cell, when all images change their appearance"}
_AGAINST = {NEAR: "base test images", SAME: "base images at the same level of appearance"}
Styles = Mapping[str, SeriesStyle]


def level_figure(results: RecognitionShiftResults, view: str, axis: str, styles: Styles) -> Figure:
    """Return a chart for OpenworldAUC and for each part that changes; bands are 95 % intervals over images."""
    charts = tuple(_part_chart(results, view, axis, part) for part in _PARTS[view])
    caption = (
        f"Images at every level of {AXES[axis]}, 0 the nearest to what was tuned on. {_ABOUT[view]}",
        "Bands: 95 % over images, clustered by drawing where several show the same, given the seeds; percent.",
    )
    name = f"levels-{FIELDS[view]}-{axis}".replace("_", "-")
    return Figure(name, _LEVEL_TITLES[view, axis], caption, charts, styles, names=("part", "learner"))


def _part_chart(results: RecognitionShiftResults, view: str, axis: str, part: str) -> LineChart:
    lines = {}
    for name in results.facts.learners:
        values = results.by_level(name, part, axis, view=view)
        bands = [value.over("images") for value in values]
        ends = ([getattr(band, end, None) for band in bands] for end in ("low", "high"))
        lines[name] = Line(range(len(values)), [value.value for value in values], *ends)
    return LineChart(PARTS[part], level_quantity(axis), Quantity("value", "percent"), lines)


def cell_figure(results: RecognitionShiftResults, view: str) -> Figure:
    """Return a map of OpenworldAUC per learner; the darker, the higher. `view` says which base images."""
    facts = results.facts
    tables = {name: _cells(results, name, view) for name in facts.learners}
    known = [value for table in tables.values() for value in table.values() if value is not None]
    ends = (min(known), max(known)) if known else (0.0, 1.0)
    charts = tuple(_map(facts.first.counts, name, table, ends) for name, table in tables.items())
    caption = (
        f"OpenworldAUC of {_AGAINST[view]} against the new images of each cell, percent, mean over the seeds. "
        f"{READING}.",
        "One scale for all, from the lowest to the highest. Hatched: N/A, with its number of new images, fewer than "
        f"{facts.first.least} of them or of base ones.",
    )
    name = f"cells-{FIELDS[view]}".replace("_", "-")
    return Figure(name, _CELL_TITLES[view], caption, charts, names=("learner", "series"))


def _cells(results: RecognitionShiftResults, learner: str, view: str) -> dict[Place, float | None]:
    return {
        (row, column): results.value(learner, AUC.key, view=view, covariate_level=row, semantic_level=column).value
        for row, column in np.ndindex(results.facts.shape)
    }


def _map(counts, name: str, table: Mapping[Place, float | None], ends: tuple[float, float]) -> CellChart:
    (low, high), cells = ends, {}
    for place, value in table.items():
        count = counts[place[0]][place[1]]
        row = {"new_images": count, "openworld_auc": value}
        if value is None:
            cells[place] = count_cell(count, row=row)
        else:
            text, shade = AUC.write(value), (value - low) / ((high - low) or 1.0)
            cells[place] = ChartCell(text, shade, f"{place_text(place)}: {text}, {count:,} new images", row=row)
    return level_map(name, cells, (len(counts), len(counts[0])))


def estimate_figure(results: RecognitionShiftResults, styles: Styles) -> Figure:
    """Return a chart per learner and axis: what is true, and what estimators say that see no label there."""
    lines = {(name, axis): _estimates(results, name, axis) for name in results.facts.learners for axis in AXES}
    known = [y for by_name in lines.values() for line in by_name.values() for _, y in line.known]
    accuracy = Quantity.of(METRICS["accuracy"], covers=tuple(known and (min(known), max(known))))
    charts = tuple(
        LineChart(f"{name}, by {AXES[axis]}", level_quantity(axis), accuracy, by_name)
        for (name, axis), by_name in lines.items()
    )
    caption = (
        "Accuracy among all names, of all images, base and new: the mean of the cells at each level, what is true "
        "and what estimators say that see no label there.",
        "Estimators were fitted on labelled images of base classes in the training appearance. An estimate that holds "
        "stays on the line of the truth.",
    )
    title = "Does the estimate hold?"
    return Figure("estimates-by-level", title, caption, charts, styles, names=("panel", "line"))


def open_world_figure(results: RecognitionShiftResults, styles: Styles) -> Figure:
    """Return a chart per learner: OpenworldAUC by level of appearance as it is, and as estimators say it is."""
    charts = []
    for name in results.facts.learners:
        values = {TRUTH: results.by_level(name, AUC.key, "covariate", view=SAME)}
        values |= {
            estimator: results.by_level(estimator, estimated(AUC.key).key, "covariate", learner=name, view=SAME)
            for estimator in results.facts.open_world_estimators
        }
        lines = {own: Line(range(len(curve)), [value.value for value in curve]) for own, curve in values.items()}
        charts.append(LineChart(name, level_quantity("covariate"), Quantity.of(AUC), lines))
    caption = (
        "All images of the pool at each level of appearance, base and new. An estimate that holds stays on the line of "
        "what is true; away from home no premise need hold, and the table says where the alarm stands.",
    )
    title = "Does the open-world estimate hold?"
    return Figure("open-world-by-level", title, caption, tuple(charts), styles, names=("learner", "line"))


def _estimates(results: RecognitionShiftResults, learner: str, axis: str) -> dict[str, Line]:
    levels, estimators = results.facts.levels(axis), results.facts.estimators
    further = {"learner": [learner] * len(levels), "axis": [axis] * len(levels)}
    values = {TRUTH: results.by_level(learner, "accuracy", axis)}
    values |= {name: results.by_level(name, "estimated_accuracy", axis, learner=learner) for name in estimators}
    return {name: Line(levels, [value.value for value in curve], further=further) for name, curve in values.items()}
