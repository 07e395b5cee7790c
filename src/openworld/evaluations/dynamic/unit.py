"""The work of a unit of dynamic scenarios: a learner is fitted once and names the images of every view."""

import numpy as np

from openworld.evaluations.dynamic.metrics import stacked, tables, view_facts, view_results, view_rows
from openworld.evaluations.dynamic.predictions import predict_views
from openworld.evaluations.dynamic.task import BASELINE, DynamicTask, PooledRuns, pooled_runs
from openworld.evaluations.learning import fit, training_facts
from openworld.evaluations.record_images import with_names
from openworld.evaluations.rows import rows_of_unit
from openworld.evaluations.runtime import Clock, Machine, encoded_parts
from openworld.runs import UnitResult


def evaluate(task: DynamicTask, machine: Machine) -> UnitResult:
    """Fit one learner once, predict every view of every scenario run, compute every metric."""
    parts, clock = encoded_parts(task, machine), Clock(machine)
    shots = parts["train"].of_classes(task.split.base)
    fitted = fit(task, shots, machine)
    clock.stop("fit")
    courses, rows, columns, images = [], [], [], []
    for pooled in pooled_runs(task, parts):
        by_run = predict_views(fitted, pooled.pool, tuple(pooled.runs.values()))
        for (scenario, run), views in zip(pooled.runs.items(), by_run, strict=True):
            target = None if pooled.against is None else str(pooled.against)
            place = {"scenario": scenario, "images": str(task.data), "target": target}
            where = {key: value for key, value in place.items() if value}
            facts, number = [], len(courses)
            for predictions in views:  # one view after the other: the logits of all of them need not fit in memory
                rows += view_results(predictions, pooled.pool, run, task.learner.label, where)
                facts.append(view_facts(predictions, pooled.pool, run))
                columns.append(view_rows(predictions, pooled.pool, number))
            classes = {"n_base_classes": len(run.base), "n_new_classes": len(run.new)}
            courses.append(place | {"views": facts, "classnames": pooled.pool.names} | classes)
            images.append(_images(task, pooled, number))
    clock.stop("score")
    facts = {
        **training_facts(task, fitted, shots),
        "protocol": "dynamic",
        "dataset": task.data.dataset,
        "domain": task.data.domain,
        "yardstick": task.learner.learner == BASELINE,
        "courses": courses,
        "tuned_on": task.tuned_on,
        "left_out": task.data.left_out,
        "shots": task.shots,
        "training_classnames": fitted.classnames,
        "detail": {"settings": task.learner.settings, "history": fitted.history},
    }
    return UnitResult(
        outputs=tables(columns) | {"images": stacked(images)},
        metrics=facts,
        attachments=rows_of_unit("dynamic", rows, seed=task.seed),
        timing=clock.timing,
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
