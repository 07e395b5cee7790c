"""What the record of a learner holds: OpenworldAUC and its parts in every cell and at every level of measured shift."""

from collections.abc import Mapping
from dataclasses import asdict

import numpy as np

from openworld.evaluations.recognition_by_shift.predictions import Told
from openworld.evaluations.recognition_by_shift.task import Names, Task
from openworld.evaluations.recognition_metrics import rows_of
from openworld.evaluations.shift_cells import Divided
from openworld.learners import FittedLearner
from openworld.metrics import OpenworldAUC, openworld_auc, shift_trend
from openworld.shift import OpenWorldByShift, ShiftGrid, open_world_by_shift, open_world_in_same_looks

PARTS = ("openworld_auc", "base_accuracy", "new_accuracy", "auroc")
Table = Mapping[str, np.ndarray]


def described(task: Task, fitted: FittedLearner, names: Names, base: Told, found: Divided) -> dict:
    """What was tuned on what, and what it met."""
    return {
        "protocol": "open-world-by-shift",
        "learner": task.learner.label,
        "method": task.learner.learner,
        "seed": task.seed,
        "backbone": task.backbone,
        "shots": task.ground.shots,
        "epochs": fitted.learner.schedule.epochs if hasattr(fitted.learner, "schedule") else None,
        "tuned_parameters": fitted.tuned_parameters,
        "sources": task.ground.sources,
        "training": len(task.ground.training.load()),
        "n_base_images": len(base.table["id"]),
        "n_base_classes": len(names.base),
        "n_new_classes": len(names.new),
        "classnames": names.every,
        "decomposition": task.division.decomposition,
        "neighbour": task.division.k,
        "least": task.division.least,
        "pool": {"n": len(found.rows), "known": int(found.known.sum()), "styles": found.pool.styles},
        "references": [asdict(one) for one in task.references] if task.estimators else [],
        "estimators": [one.told() for one in task.estimators],
        "detail": {"settings": task.learner.settings, "history": list(fitted.history)},
    }


def by_shift(base: Table, pool: Table, found: Divided, least: int) -> dict:
    """All tables of a learner: "overall", "near" (base in training looks) and "same_looks" (base in those of the cell).

    Args:
        base: of base test pictures in the training looks. pool: of all pictures of the pool, in the order of `found`.
        least: fewest pictures of a cell or level.
    """
    kept = np.flatnonzero(~found.known)
    grid, new, shown = found.grid(kept, least), rows_of(pool, kept), rows_of(pool, np.flatnonzero(found.known))
    covariate = found.levels["covariate"][found.known]
    # Apart from one another: numbers of two image sets mean nothing together.
    apart = new["group"] + int(base["group"].max(initial=-1)) + 1
    near = open_world_by_shift(_judged(base), _judged(new), grid, base_groups=base["group"], new_groups=apart)
    groups = {"base_groups": shown["group"], "new_groups": new["group"]}
    same = open_world_in_same_looks(_judged(shown), covariate, _judged(new), grid, **groups)
    overall = openworld_auc(*_judged(base), *_judged(new), base_groups=base["group"], new_groups=apart)
    shown_counts = np.bincount(covariate, minlength=grid.shape[0]).tolist()
    return {
        "levels": found.told(kept),
        "counts": grid.counts.tolist(),
        "overall": parts_told(overall),
        "near": _told(near, grid),
        "same_looks": _told(same, grid) | {"base_counts": shown_counts},
    }


def parts_told(found: OpenworldAUC | None) -> dict | None:
    """A result as a record holds it: `PARTS`, the interval of each, counts of images; None for none.

    >>> told = parts_told(openworld_auc([3, 1], [1, 1], [2, 0], [1, 0]))
    >>> told["openworld_auc"], told["new_accuracy"], told["auroc"]
    (0.25, 0.5, 0.75)
    """
    if found is None:
        return None
    estimates = {name: found.estimate(name) for name in PARTS}
    told = {name: one.value for name, one in estimates.items()}
    intervals = {name: one.interval() for name, one in estimates.items()}
    return told | {"intervals": intervals, "n_base": found.n_base, "n_new": found.n_new}


def _told(found: OpenWorldByShift, grid: ShiftGrid) -> dict:
    rows, columns = grid.shape
    cells = [[parts_told(found.cells.get((row, column))) for column in range(columns)] for row in range(rows)]
    return {
        "cells": cells,
        "semantic": tuple(map(parts_told, found.semantic)),
        "covariate": tuple(map(parts_told, found.covariate)),
        "trend": {part: _trend(cells, part) for part in PARTS},
    }


def _trend(cells: list[list], part: str) -> dict:
    """Of one part over the cells that are there: correlation and slope per level, along either axis."""
    present = np.array([[one is not None for one in row] for row in cells])
    values = np.array([[one[part] if one else 0.0 for one in row] for row in cells])
    trend = shift_trend(values, present)
    return {"semantic": asdict(trend.semantic), "covariate": asdict(trend.covariate)}


def _judged(table: Table) -> tuple[np.ndarray, np.ndarray]:
    return table["score"], table["correct"]
