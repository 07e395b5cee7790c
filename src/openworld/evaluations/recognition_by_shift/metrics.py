"""OpenworldAUC of a learner and its parts, in every cell and at every level of measured shift."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from openworld.datasets import ClassSplit
from openworld.evaluations.recognition_by_shift.predictions import LearnerAnswers
from openworld.evaluations.recognition_by_shift.record import (
    PARTS,
    LevelsRecord,
    PartsRecord,
    PoolSize,
    ShiftViewRecord,
)
from openworld.evaluations.recognition_by_shift.task import ShiftTask
from openworld.evaluations.recognition_metrics import rows_of
from openworld.evaluations.shift_cells import DividedPool
from openworld.learners import FittedLearner
from openworld.metrics import OpenworldAUC, Trend, openworld_auc, shift_trend
from openworld.runs import to_json
from openworld.shifts import OpenWorldByShift, ShiftGrid, open_world_by_shift, open_world_in_same_looks

Table = Mapping[str, np.ndarray]


def described(
    task: ShiftTask, fitted: FittedLearner, split: ClassSplit, base: LearnerAnswers, divided: DividedPool
) -> dict[str, Any]:
    """Return the fields of a `ShiftRecord` that say what was tuned on what, and what it met."""
    return {
        "protocol": "recognition-by-shift",
        "method": task.learner.learner,
        "shots": task.ground.shots,
        "sources": tuple(map(to_json, task.ground.sources)),
        "training": len(task.ground.training.load()),
        "n_base_images": len(base.table["id"]),
        "n_base_classes": len(split.base),
        "n_new_classes": len(split.new),
        "left_out": task.ground.left_out,
        "classnames": split.names,
        "decomposition": task.division.decomposition,
        "neighbour": task.division.k,
        "least": task.division.least,
        "pool": PoolSize(len(divided.rows), int(divided.known.sum()), divided.pool.styles),
        "references": tuple(map(asdict, task.references)) if task.estimators else (),
        "estimators": tuple(estimator.facts() for estimator in task.estimators),
        "detail": {"settings": task.learner.settings, "history": list(fitted.history)},
    }


def by_shift(base: Table, pool: Table, divided: DividedPool, least: int) -> dict[str, Any]:
    """Return the fields of a `ShiftRecord` that hold numbers: overall, and by cell and level.

    Args:
        base: of base test images in the training appearance.
        pool: of all images of the pool, in the order of `divided`.
        least: fewest images of a cell or level.
    """
    kept = np.flatnonzero(~divided.known)
    grid, new, known = divided.grid(kept, least), rows_of(pool, kept), rows_of(pool, np.flatnonzero(divided.known))
    covariate = divided.levels["covariate"][divided.known]
    # Apart from one another: numbers of two image sets mean nothing together.
    apart = new["group"] + int(base["group"].max(initial=-1)) + 1
    near = open_world_by_shift(_scores_of(base), _scores_of(new), grid, base_groups=base["group"], new_groups=apart)
    groups = {"base_groups": known["group"], "new_groups": new["group"]}
    same = open_world_in_same_looks(_scores_of(known), covariate, _scores_of(new), grid, **groups)
    overall = openworld_auc(*_scores_of(base), *_scores_of(new), base_groups=base["group"], new_groups=apart)
    known_counts = np.bincount(covariate, minlength=grid.shape[0]).tolist()
    return {
        "levels": {axis: LevelsRecord(**levels) for axis, levels in divided.placed.facts(kept).items()},
        "counts": grid.counts.tolist(),
        "overall": parts_record(overall),
        "near": _view(near, grid),
        "same_looks": _view(same, grid, known_counts),
    }


def parts_record(areas: OpenworldAUC | None) -> PartsRecord | None:
    """A result as a record holds it; None for none.

    >>> record = parts_record(openworld_auc([3, 1], [1, 1], [2, 0], [1, 0]))
    >>> record.openworld_auc, record.new_accuracy, record.auroc
    (0.25, 0.5, 0.75)
    """
    if areas is None:
        return None
    estimates = {name: areas.estimate(name) for name in PARTS}
    values = {name: estimate.value for name, estimate in estimates.items()}
    intervals = {name: estimate.interval() for name, estimate in estimates.items()}
    return PartsRecord(**values, intervals=intervals, n_base=areas.n_base, n_new=areas.n_new)


def _view(view: OpenWorldByShift, grid: ShiftGrid, base_counts: Sequence[int] = ()) -> ShiftViewRecord:
    rows, columns = grid.shape
    cells = tuple(tuple(parts_record(view.cells.get((row, at))) for at in range(columns)) for row in range(rows))
    return ShiftViewRecord(
        cells=cells,
        semantic=tuple(map(parts_record, view.semantic)),
        covariate=tuple(map(parts_record, view.covariate)),
        trend={part: _trends(cells, part) for part in PARTS},
        base_counts=tuple(base_counts),
    )


def _trends(cells: Sequence[Sequence[PartsRecord | None]], part: str) -> dict[str, Trend]:
    """Return trends of one part over the cells that are there: correlation and slope per level, along either axis."""
    present = np.array([[cell is not None for cell in row] for row in cells])
    values = np.array([[getattr(cell, part) if cell else 0.0 for cell in row] for row in cells])
    trends = shift_trend(values, present)
    return {"semantic": trends.semantic, "covariate": trends.covariate}


def _scores_of(table: Table) -> tuple[np.ndarray, np.ndarray]:
    return table["score"], table["correct"]
