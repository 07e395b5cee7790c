"""The work of a unit of dynamic scenarios: a learner is fitted once and names the images of every view.

What it said of a view becomes its rows and facts, and the tables of the scenario run.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from openworld import metrics
from openworld.evaluations.dynamic.predictions import ImagePool, ViewPredictions, predict_views
from openworld.evaluations.dynamic.scenarios import ScenarioRun
from openworld.evaluations.dynamic.task import BASELINE, DynamicTask, PooledRuns, pooled_runs
from openworld.evaluations.learning import fit, training_facts
from openworld.evaluations.record_images import with_names
from openworld.evaluations.rows import rows_of_unit
from openworld.evaluations.runtime import Clock, Machine, encoded_parts
from openworld.results import METRICS, Result, Value, interval_of
from openworld.runs import UnitResult

Columns = dict[str, np.ndarray]
Rows = dict[str, Columns]
ONE_KIND = "the view holds base images alone, or new ones alone"


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


def view_results(
    predictions: ViewPredictions, pool: ImagePool, run: ScenarioRun, learner: str, where: Mapping[str, str]
) -> Iterator[Result]:
    """Yield every number of one view, of whose images all are named among all its classes."""
    view, place = predictions.view, {**where, "level": predictions.view.level}
    labels, correct = pool.labels[view.images], _predict_classes(predictions) == pool.labels[view.images]
    groups, is_new = pool.groups[view.images], np.isin(labels, run.new)
    sides = {"accuracy": np.ones_like(is_new), "base_accuracy": ~is_new, "new_accuracy": is_new}
    for name, side in sides.items():
        share = metrics.accuracy(correct[side], groups=groups[side])
        over = interval_of(share.interval, "images", len(np.unique(groups[side])))
        value = Value(share.value, over) if share.value is not None else Value(None, reason=ONE_KIND)
        yield Result(learner, METRICS[name], value, place)

    if predictions.baseness is None:
        area = Value(None, reason=f"there is no {'base' if is_new.any() else 'new'} class in this view")
    else:
        sides, of_groups = ([column[~is_new], column[is_new]] for column in (predictions.baseness, groups))
        found = metrics.auroc(*sides, in_groups=of_groups[0], out_groups=of_groups[1])
        over = interval_of(found.interval(), "images", len(np.unique(groups)))
        area = Value(found.value, over, reason=found.reason or "")
    yield Result(learner, METRICS["auroc"], area, place)


def view_facts(predictions: ViewPredictions, pool: ImagePool, run: ScenarioRun) -> dict[str, Any]:
    """Return what a view holds: images, groups of images that are not independent, and classes."""
    view = predictions.view
    return {
        "level": view.level,
        "n_images": view.size,
        "n_new_images": int(np.isin(pool.labels[view.images], run.new).sum()),
        "n_groups": len(np.unique(pool.groups[view.images])),
        "n_classes": len(view.classes),
        "n_new_classes": int(np.isin(view.classes, run.new).sum()),
        "classes": view.classes.tolist(),
    }


def view_rows(predictions: ViewPredictions, pool: ImagePool, number: int) -> Rows:
    """The rows of `tables` that one view of scenario run `number` gives."""
    images, size = predictions.view.images, predictions.view.size
    keys = {
        "course": np.full(size, number, np.int16),
        "level": np.full(size, predictions.view.level),
        "part": pool.origin[images].astype(np.int8),
        "id": pool.rows[images],
    }
    answers = {"group": pool.groups[images], "label": pool.labels[images], "prediction": _predict_classes(predictions)}
    score = predictions.baseness
    scores = {} if score is None else {"scores": keys | {"score": score.astype(np.float32)}}
    return {"predictions": keys | answers} | scores


def tables(rows: Sequence[Rows]) -> dict[str, Columns]:
    """Return "predictions" of every view, and "scores" of those that hold base and new classes."""
    names = dict.fromkeys(name for view in rows for name in view)
    return {name: stacked([view[name] for view in rows if name in view]) for name in names}


def stacked(parts: Sequence[Columns]) -> Columns:
    """Tables of the same columns, one behind the other."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _predict_classes(predictions: ViewPredictions) -> np.ndarray:
    """int64[n], the class that every image is given."""
    return predictions.view.classes[predictions.logits.argmax(axis=1)]
