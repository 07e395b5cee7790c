"""The figures of recognition by shift: OpenworldAUC by level and by cell, estimates of the accuracy by level."""

from collections.abc import Mapping

from openworld.evaluations.recognition_by_shift.record import PARTS
from openworld.evaluations.recognition_by_shift.results import AUC, FIELDS, NEAR, SAME, RecognitionShiftFacts
from openworld.report.charts import CellChart, ChartCell, Line, LineChart, Quantity
from openworld.report.charts.cells import count_cell
from openworld.report.figure import Figure
from openworld.report.series_style import SeriesStyle
from openworld.report.shift_axes import AXES, LEVELS, level_map
from openworld.report.shift_axes import NEAR as READING
from openworld.results import METRICS, Results

TRUTH = "true accuracy"
_SHOWN = {NEAR: ("openworld_auc", "new_accuracy", "auroc"), SAME: tuple(PARTS)}
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


def level_figure(found: Results, facts: RecognitionShiftFacts, view: str, axis: str, styles: Styles) -> Figure:
    """Return a chart for OpenworldAUC and for each part that changes; bands are 95 % intervals over images."""
    charts = tuple(_part(found, facts, view, axis, part) for part in _SHOWN[view])
    caption = (
        f"Images at every level of {AXES[axis]}, 0 the nearest to what was tuned on. {_ABOUT[view]}",
        "Bands: 95 % over images, clustered by drawing where several show the same, given the seeds; percent.",
    )
    name = f"levels-{FIELDS[view]}-{axis}".replace("_", "-")
    return Figure(name, _LEVEL_TITLES[view, axis], caption, charts, styles, names=("part", "learner"))


def _part(found: Results, facts: RecognitionShiftFacts, view: str, axis: str, part: str) -> LineChart:
    levels, lines = facts.levels(axis), {}
    for name in facts.learners:
        values = [found.value(name, part, view=view, axis=axis, level=level) for level in levels]
        bands = [value.over("images") for value in values]
        ends = ([getattr(band, end, None) for band in bands] for end in ("low", "high"))
        lines[name] = Line(levels, [value.value for value in values], *ends)
    return LineChart(PARTS[part], _level(axis), Quantity("value", "percent"), lines)


def _level(axis: str) -> Quantity:
    return Quantity("level", LEVELS[axis], "number", 6, at_values=True)


def cell_figure(found: Results, facts: RecognitionShiftFacts, view: str) -> Figure:
    """Return a map of OpenworldAUC per learner; the darker, the higher. `view` says which base images."""
    tables = {name: _cells(found, facts, name, view) for name in facts.learners}
    known = [value for table in tables.values() for value in table.values() if value is not None]
    ends = (min(known), max(known)) if known else (0.0, 1.0)
    charts = tuple(_map(facts, name, table, ends) for name, table in tables.items())
    caption = (
        f"OpenworldAUC of {_AGAINST[view]} against the new images of each cell, percent, mean over the seeds. "
        f"{READING}.",
        "One scale for all, from the lowest to the highest. Hatched: N/A, with its number of new images, fewer than "
        f"{facts.first.least} of them or of base ones.",
    )
    name = f"cells-{FIELDS[view]}".replace("_", "-")
    return Figure(name, _CELL_TITLES[view], caption, charts, names=("learner", "series"))


def _cells(
    found: Results, facts: RecognitionShiftFacts, learner: str, view: str
) -> dict[tuple[int, int], float | None]:
    return {
        (row, column): found.value(learner, AUC.key, view=view, covariate_level=row, semantic_level=column).value
        for row, column in facts.cells
    }


def _map(facts: RecognitionShiftFacts, name: str, table: Mapping[tuple[int, int], float | None], ends) -> CellChart:
    (low, high), cells = ends, {}
    for place, value in table.items():
        count = facts.first.counts[place[0]][place[1]]
        row = {"new_images": count, "openworld_auc": value}
        if value is None:
            cells[place] = count_cell(count, row=row)
            continue
        text = AUC.write(value)
        hint = f"covariate {place[0]}, semantic {place[1]}: {text}, {count:,} new images"
        cells[place] = ChartCell(text, (value - low) / ((high - low) or 1.0), hint, row=row)
    return level_map(name, cells, tuple(place + 1 for place in facts.cells[-1]))


def estimate_figure(found: Results, facts: RecognitionShiftFacts, styles: Styles) -> Figure:
    """Return a chart per learner and axis: what is true, and what estimators say that see no label there."""
    lines = {(name, axis): _estimates(found, facts, name, axis) for name in facts.learners for axis in AXES}
    known = [y for own in lines.values() for line in own.values() for _, y in line.known]
    accuracy = Quantity.of(METRICS["accuracy"], covers=tuple(known and (min(known), max(known))))
    charts = tuple(
        LineChart(f"{name}, by {AXES[axis]}", _level(axis), accuracy, own) for (name, axis), own in lines.items()
    )
    caption = (
        "Accuracy among all names, of all images, base and new: the mean of the cells at each level, what is true "
        "and what estimators say that see no label there.",
        "Estimators were fitted on labelled images of base classes in the training appearance. An estimate that holds "
        "stays on the line of the truth.",
    )
    title = "Does the estimate hold?"
    return Figure("estimates-by-level", title, caption, charts, styles, names=("panel", "line"))


def _estimates(found: Results, facts: RecognitionShiftFacts, learner: str, axis: str) -> dict[str, Line]:
    levels = facts.levels(axis)
    where = {"learner": [learner] * len(levels), "axis": [axis] * len(levels)}
    truth = [found.value(learner, "accuracy", axis=axis, level=level).value for level in levels]
    lines = {TRUTH: Line(levels, truth, further=where)}
    for name in facts.estimators:
        values = (found.value(name, "estimated_accuracy", learner=learner, axis=axis, level=level) for level in levels)
        lines[name] = Line(levels, [value.value for value in values], further=where)
    return lines
