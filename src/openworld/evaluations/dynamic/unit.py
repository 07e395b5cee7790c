"""The work of a unit of dynamic scenarios: a learner is fitted once and names the images of every view."""

from collections.abc import Iterable

import numpy as np

from openworld.evaluations.dynamic.metrics import Rows, stacked, tables, view_record, view_rows
from openworld.evaluations.dynamic.predictions import ViewPredictions, predict_views
from openworld.evaluations.dynamic.record import DynamicRecord, ScenarioRecord
from openworld.evaluations.dynamic.scenarios import Scenario
from openworld.evaluations.dynamic.task import BASELINE, DynamicTask, PooledRuns, pooled_runs
from openworld.evaluations.learning import fit, training_facts
from openworld.evaluations.record_images import with_names
from openworld.evaluations.runtime import Clock, Machine, encoded_parts
from openworld.features import Features
from openworld.learners import FittedLearner
from openworld.runs import UnitResult, to_json


def evaluate(task: DynamicTask, machine: Machine) -> UnitResult:
    """Fit one learner once, predict every view of every scenario run, compute every metric."""
    parts, clock = encoded_parts(task, machine), Clock(machine)
    shots = parts["train"].of_classes(task.split.base)
    fitted = fit(task, shots, machine)
    clock.stop("fit")
    records, rows, images = [], [], []
    for pooled in pooled_runs(task, parts):
        by_run = predict_views(fitted, pooled.pool, tuple(pooled.runs.values()))
        for scenario, views in zip(pooled.runs, by_run, strict=True):
            images.append(_images(task, pooled, len(records)))
            record, further = _scenario_run(pooled, scenario, views, len(records))
            records.append(record)
            rows += further
    clock.stop("score")
    return UnitResult(
        outputs=tables(rows) | {"images": stacked(images)},
        metrics=to_json(_record(task, fitted, shots, tuple(records))),
        timing=clock.timing,
    )


def _record(
    task: DynamicTask, fitted: FittedLearner, shots: Features, records: tuple[ScenarioRecord, ...]
) -> DynamicRecord:
    return DynamicRecord(
        **training_facts(task, fitted, shots),
        protocol="dynamic",
        dataset=task.data.dataset,
        domain=task.data.domain,
        yardstick=task.learner.learner == BASELINE,
        courses=records,
        tuned_on=task.tuned_on,
        left_out=task.data.left_out,
        shots=task.shots,
        training_classnames=fitted.classnames,
        detail={"settings": task.learner.settings, "history": fitted.history},
    )


def _images(task: DynamicTask, pooled: PooledRuns, number: int) -> dict[str, np.ndarray]:
    """The images of the pool of scenario run `number`, by part and id as in its other tables."""
    pool, tables = pooled.pool, []
    for part, source in enumerate(pooled.sources):
        of_part = pool.origin == part
        table = {"course": np.full(of_part.sum(), number, np.int16), "part": np.full(of_part.sum(), part, np.int8)}
        table |= {"id": pool.rows[of_part], "label": pool.labels[of_part]}
        tables.append(with_names(table, pool.names, task.sources[source].load().path_of))
    return stacked(tables)


def _scenario_run(
    pooled: PooledRuns, scenario: Scenario, views: Iterable[ViewPredictions], number: int
) -> tuple[ScenarioRecord, list[Rows]]:
    """The record of one scenario run, and its rows of the tables."""
    run, records, rows = pooled.runs[scenario], [], []
    for predictions in views:  # one view after the other: the logits of all of them need not fit in memory
        records.append(view_record(predictions, pooled.pool, run))
        rows.append(view_rows(predictions, pooled.pool, number))
    record = ScenarioRecord(
        scenario=scenario,
        against=None if pooled.against is None else str(pooled.against),
        views=tuple(records),
        classnames=pooled.pool.names,
        n_base_classes=len(run.base),
        n_new_classes=len(run.new),
    )
    return record, rows
