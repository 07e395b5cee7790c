"""The figures of recognition by shift: OpenworldAUC by level and by cell, estimates of the accuracy by level."""

import numpy as np

from openworld.evaluations.recognition_by_shift.numbers import Levels, mean_of
from openworld.evaluations.recognition_by_shift.run import PARTS, OpenWorldShiftRun
from openworld.report.charts import Cell, CellChart, Line, LineChart, Quantity
from openworld.report.charts.cells import count_cell, level_map
from openworld.report.figure import Figure
from openworld.report.series_style import Look
from openworld.report.shift_axes import AXES, LEVELS, NEAR
from openworld.report.text import percent

TRUTH = "true accuracy"
_SHOWN = {"near": ("openworld_auc", "new_accuracy", "auroc"), "same_looks": tuple(PARTS)}
_LEVEL_TITLES = {
    ("near", "semantic"): "How far off in meaning?",
    ("near", "covariate"): "How far off in looks?",
    ("same_looks", "covariate"): "When all pictures change their looks",
}
_ABOUT = {
    "near": "Base test pictures stay as they are, so base accuracy is the same at every level; new pictures move away.",
    "same_looks": "Base pictures and new ones move away together, as when a camera changes.",
}
_CELL_TITLES = {"near": "Cell by cell", "same_looks": "Cell by cell, when all pictures change their looks"}
_AGAINST = {"near": "base test pictures", "same_looks": "base pictures of the same level of looks"}


def _level(axis: str) -> Quantity:
    return Quantity("level", LEVELS[axis], "number", 6, at_values=True)


def open_world_levels(levels: Levels, view: str, axis: str, styles: dict[str, Look]) -> Figure:
    """Return a chart for OpenworldAUC and for each part that changes; bands are 95 % intervals over drawings."""
    charts = tuple(_part(levels, view, axis, part) for part in _SHOWN[view])
    caption = (
        f"Pictures at every level of {AXES[axis]}, 0 the nearest to what was tuned on. {_ABOUT[view]}",
        "Bands: 95 % over pictures, clustered by drawing where pictures show one, given the seeds; percent.",
    )
    name = f"levels-{view}-{axis}".replace("_", "-")
    return Figure(name, _LEVEL_TITLES[view, axis], caption, charts, styles, names=("part", "learner"))


def _part(levels: Levels, view: str, axis: str, part: str) -> LineChart:
    lines = {}
    for name in levels.run.learners:
        found = [None if one is None else one.estimate(part) for one in levels.of(name, view, axis)]
        ends = [(None if one is None else one.interval()) or (None, None) for one in found]
        values = [None if one is None else one.value for one in found]
        low, high = zip(*ends, strict=True) if ends else ((), ())
        lines[name] = Line(range(len(values)), values, low, high)
    return LineChart(PARTS[part], _level(axis), Quantity("value", "percent"), lines)


def open_world_cells(run: OpenWorldShiftRun, view: str) -> Figure:
    """Return a map per learner; the darker, the higher. `view` says which base pictures."""
    tables = {name: run.cells(name, view) for name in run.learners}
    known = np.concatenate([table[np.isfinite(table)] for table in tables.values()])
    ends = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    charts = tuple(_map(run, name, table, ends) for name, table in tables.items())
    caption = (
        f"OpenworldAUC of {_AGAINST[view]} against the new pictures of each cell, percent, mean over the seeds. "
        f"{NEAR}.",
        "One scale for all, from the lowest to the highest. Hatched: N/A, with its number of new pictures, fewer than "
        f"{run.any['least']} of them or of base ones.",
    )
    return Figure(f"cells-{view}".replace("_", "-"), _CELL_TITLES[view], caption, charts, names=("learner", "series"))


def _map(run: OpenWorldShiftRun, name: str, table: np.ndarray, ends: tuple[float, float]) -> CellChart:
    low, high = ends

    def cell(place: tuple[int, int]) -> Cell:
        value, count = float(table[place]), int(run.counts[place])
        if np.isnan(value):
            return count_cell(count, row={"new_pictures": count, "openworld_auc": None})
        hint = f"covariate {place[0]}, semantic {place[1]}: {percent(value)}, {count:,} new pictures"
        row = {"new_pictures": count, "openworld_auc": value}
        return Cell(percent(value), (value - low) / ((high - low) or 1.0), hint, row=row)

    return level_map(name, {place: cell(place) for place in np.ndindex(table.shape)}, table.shape, LEVELS)


def estimates_by_level(run: OpenWorldShiftRun, styles: dict[str, Look]) -> Figure:
    """Return a chart per learner and axis: what is true, and what estimators say that see no label there."""
    lines = {(name, axis): _estimates(run, name, axis) for name in run.learners for axis in AXES}
    known = [y for own in lines.values() for line in own.values() for _, y in line.known]
    accuracy = Quantity("accuracy", "accuracy, %", covers=tuple(known and (min(known), max(known))))
    charts = tuple(
        LineChart(f"{name}, by {AXES[axis]}", _level(axis), accuracy, own) for (name, axis), own in lines.items()
    )
    caption = (
        "Accuracy among all names, of all pictures, base and new: the mean of the cells at each level, what is true "
        "and what estimators say that see no label there.",
        "Estimators were fitted on labelled pictures of base classes in the training looks. An estimate that holds "
        "stays on the line of the truth.",
    )
    title = "Does the estimate hold?"
    return Figure("estimates-by-level", title, caption, charts, styles, names=("panel", "line"))


def _estimates(run: OpenWorldShiftRun, learner: str, axis: str) -> dict[str, Line]:
    tables = {TRUTH: run.truth(learner)} | {name: run.estimated(learner, name) for name in run.estimators}
    count = run.truth(learner).shape[-1 if axis == "semantic" else -2]
    where = {"learner": [learner] * count, "axis": [axis] * count}
    return {
        name: Line(range(count), [mean_of(table, axis, level) for level in range(count)], further=where)
        for name, table in tables.items()
    }
