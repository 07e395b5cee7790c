"""The work of a unit: fit a learner, get its answers on base images and the pool, and score every cell and level."""

from dataclasses import replace

import numpy as np

from openworld.datasets import ClassSplit
from openworld.evaluations.learning import fit, training_facts
from openworld.evaluations.recognition_by_shift.estimates import estimate_cells, similarities_of
from openworld.evaluations.recognition_by_shift.metrics import by_shift, described
from openworld.evaluations.recognition_by_shift.open_world_estimates import estimate_open_world
from openworld.evaluations.recognition_by_shift.predictions import (
    LearnerAnswers,
    Predictor,
    pool_columns,
    require_same_images,
)
from openworld.evaluations.recognition_by_shift.record import EstimationRecord, ShiftRecord
from openworld.evaluations.recognition_by_shift.task import ShiftTask, names_of
from openworld.evaluations.record_images import with_names
from openworld.evaluations.runtime import Clock, Machine, encoded_part
from openworld.evaluations.shift_cells import DividedPool, divide_pool
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
    record = ShiftRecord(
        **training_facts(task, fitted, shots),
        **described(task, fitted, split, base, divided),
        **by_shift(base.table, pool.table, divided, task.division.least),
        estimation=_estimation(task, predictor, pool, divided, split, machine) if task.estimators else None,
    )
    tables = {"base": (base.table, task.sources["base"].load()), "pool": (pool.table, divided.pool.images)}
    named = {side: with_names(table, split.names, images.path_of) for side, (table, images) in tables.items()}
    return UnitResult(
        outputs={"base": named["base"], "pool": named["pool"] | dict(pool_columns(divided))},
        metrics=to_json(record),
        attachments=dict(divided.thumbnails()) if task.first else {},
        timing=clock.timing,
    )


def _estimation(
    task: ShiftTask,
    predictor: Predictor,
    pool: LearnerAnswers,
    divided: DividedPool,
    split: ClassSplit,
    machine: Machine,
) -> EstimationRecord:
    """Of all images of the pool, whatever their class."""
    grid = divided.grid(np.arange(len(divided.rows)), task.division.least)
    similar = similarities_of(task, split, {"validation": (task.validation,), "pool": task.ground.tested}, machine)
    validation = predictor.answers("validation")
    found = estimate_cells(task, validation, pool, grid, similar)
    if not task.open_world_estimators:
        return found
    base = len(split.base)
    return replace(found, open_world=estimate_open_world(task, validation, pool, divided, base, similar))
