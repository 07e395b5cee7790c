"""The work of a unit: fit a learner, get its answers on base images and the pool, and score every cell and level."""

from typing import Any

import numpy as np

from openworld.datasets import ClassSplit
from openworld.evaluations.learning import fit, training_facts
from openworld.evaluations.recognition_by_shift.estimates import estimate_cells, similarities_of
from openworld.evaluations.recognition_by_shift.metrics import described, pool_rows, shift_rows
from openworld.evaluations.recognition_by_shift.open_world_estimates import open_world_rows
from openworld.evaluations.recognition_by_shift.predictions import (
    LearnerAnswers,
    Predictor,
    pool_columns,
    require_same_images,
)
from openworld.evaluations.recognition_by_shift.quantities import POOL, cell
from openworld.evaluations.recognition_by_shift.task import ShiftTask, names_of
from openworld.evaluations.record_images import with_names
from openworld.evaluations.rows import rows_of_unit
from openworld.evaluations.runtime import Clock, Machine, encoded_part
from openworld.evaluations.shift_cells import DividedPool, divide_pool
from openworld.results import METRICS, Result, Value
from openworld.runs import UnitResult, to_json


def evaluate(task: ShiftTask, machine: Machine) -> UnitResult:
    """Fit one learner, and score its answers on base images and the pool, cell by cell and level by level."""
    divided = divide_pool(task.shift, machine)
    split = names_of(task.ground, divided.pool)
    shots, clock = encoded_part(task, "train", machine), Clock(machine)
    fitted = fit(task, shots, machine)
    clock.stop("fit")
    predictor = Predictor(task, fitted, split, machine)
    base = predictor.answers("base")
    pool = predictor.answers(*(part for part in task.sources if part.startswith("pool ")))
    clock.stop("score")
    require_same_images(pool, divided)
    facts = training_facts(task, fitted, shots) | described(task, fitted, split, base, divided)
    shared = [*pool_rows(base.table, divided)]
    rows = [*shift_rows(task.learner.label, base.table, pool.table, divided, task.division.least)]
    if task.estimators:
        found, of_pool, facts["estimation"] = _estimation(task, predictor, pool, divided, split, machine)
        rows, shared = rows + found, shared + of_pool
    tables = {"base": (base.table, task.sources["base"].load()), "pool": (pool.table, divided.pool.images)}
    named = {side: with_names(table, split.names, images.path_of) for side, (table, images) in tables.items()}
    kept = rows_of_unit("recognition-by-shift", rows, seed=task.seed, shared=shared)
    return UnitResult(
        outputs={"base": named["base"], "pool": named["pool"] | dict(pool_columns(divided))},
        metrics=to_json(facts),
        attachments=kept | (dict(divided.thumbnails()) if task.first else {}),
        timing=clock.timing,
    )


def _estimation(
    task: ShiftTask,
    predictor: Predictor,
    pool: LearnerAnswers,
    divided: DividedPool,
    split: ClassSplit,
    machine: Machine,
) -> tuple[list[Result], list[Result], dict[str, Any]]:
    """Rows about all images of the pool, whatever their class; how many there are; and facts."""
    grid = divided.grid(np.arange(len(divided.rows)), task.division.least)
    similar = similarities_of(task, split, {"validation": (task.validation,), "pool": task.ground.tested}, machine)
    validation = predictor.answers("validation")
    rows, warnings = estimate_cells(task, validation, pool, grid, similar)
    if task.open_world_estimators:
        rows += open_world_rows(task, validation, pool, divided, len(split.base), similar)
    images = METRICS["images"]
    counts = [Result(POOL, images, Value(int(count)), cell(*place)) for place, count in np.ndenumerate(grid.counts)]
    warned = {label: {"cells": len(each), "first": each[0]} for label, each in warnings.items() if each}
    return rows, counts, {"validation_images": len(validation.logits), "warnings": warned}
