"""Dynamic scenarios as an evaluation: a unit fits a learner once, and names the images of every view.

What it says of a view becomes rows and facts, and the tables of the scenario run.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from openworld import metrics
from openworld.datasets.names.forms import normalise_class_name
from openworld.evaluations.dynamic import scenarios
from openworld.evaluations.dynamic.curves import Scenario
from openworld.evaluations.dynamic.scenarios import ScenarioRun
from openworld.evaluations.dynamic.spec import BASELINE, DynamicSpec
from openworld.evaluations.evaluation import Evaluation
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.learning import fit, training_facts
from openworld.evaluations.rows import rows_of_unit, with_names
from openworld.evaluations.runtime import Clock, Machine, encoded_parts
from openworld.evaluations.views import ImagePool, SharedAnswer, pool_of_two
from openworld.features import Features, View
from openworld.learners import Answer, FittedLearner
from openworld.results import METRICS, Result, Value, interval_of
from openworld.runs import UnitResult

Columns = dict[str, np.ndarray]
Rows = dict[str, Columns]
ONE_KIND = "the view holds base images alone, or new ones alone"


def evaluate(task: DynamicSpec, machine: Machine) -> UnitResult:
    """Fit one learner once, predict every view of every scenario run, compute every metric."""
    parts, clock = encoded_parts(task, machine), Clock(machine)
    shots = parts["train"].of_classes(task.split.base)
    fitted = fit(task, shots, machine)
    clock.stop("fit")
    courses, rows, columns, images = [], [], [], []
    for pooled in pooled_runs(task, parts):
        by_run = predict_views(fitted, pooled.pool, tuple(pooled.runs.values()))
        for (scenario, run), answers in zip(pooled.runs.items(), by_run, strict=True):
            target = None if pooled.against is None else str(pooled.against)
            place = {"scenario": scenario, "images": str(task.data), "target": target}
            where = {key: value for key, value in place.items() if value}
            facts, number = [], len(courses)
            # One view after the other: the logits of all of them need not fit in memory.
            for view, answer in zip(run.views, answers, strict=True):
                measured, held, table = score_view(view, answer, pooled.pool, run, task.learner.label, where)
                rows += measured
                facts.append(held)
                course = {"course": np.full(view.size, number, np.int16)}
                columns.append({name: course | rest for name, rest in table.items()})
            classes = {"n_base_classes": len(run.base), "n_new_classes": len(run.new)}
            courses.append(place | {"views": facts, "classnames": pooled.pool.names} | classes)
            images.append(_images(task, pooled, number))
    clock.stop("score")
    facts = {
        **training_facts(task, fitted, shots),
        "dataset": task.data.dataset,
        "domain": task.data.domain,
        "yardstick": task.learner.learner == BASELINE,
        "courses": courses,
        "tuned_on": task.tuned_on,
        "left_out": task.data.left_out,
    }
    return UnitResult(
        outputs=tables(columns) | {"images": stacked(images)},
        metrics=facts,
        attachments=rows_of_unit("dynamic", rows, seed=task.seed),
        timing=clock.timing,
    )


@dataclass(frozen=True, eq=False)
class PooledRuns:
    """Scenario runs that show the same classes on one pool."""

    pool: ImagePool
    runs: dict[Scenario, ScenarioRun]
    against: DatasetSpec | None = None  # what takes over from the source
    sources: tuple[str, ...] = ("test",)  # of the task's, those of the pool's images


def pooled_runs(task: DynamicSpec, parts: Mapping[str, Features]) -> Iterator[PooledRuns]:
    """Prepare the scenario runs of a task on the encoded image sets of its sources, one pool at a time."""
    test, base, new = parts["test"], task.split.base, task.split.new
    if task.of_classes:
        generators = {"emerging-classes": scenarios.emerging_classes, "varying-ratio": scenarios.varying_ratio}
        runs = {name: generators[name](test.labels, base, new, task.levels) for name in task.scenarios}
        yield PooledRuns(ImagePool((test,), test.classnames), runs)
    for scenario, place, data in task.against:
        part, shifts = f"{scenario} {place}", scenario == "distribution-shift"
        pool = pool_of_two(test, parts[part], same_names=shifts)
        run = (_shift if shifts else _take_over)(task, pool)
        yield PooledRuns(pool, {scenario: run}, data, ("test", part))


def _shift(task: DynamicSpec, pool: ImagePool) -> ScenarioRun:
    """The classes are the variant's, in the seed's order."""
    classes = task.split.base[np.isin(task.split.base, pool.parts[1].labels)]
    limit = task.shift_limit
    return scenarios.distribution_shift(
        pool.labels, pool.origin == 1, classes, task.seed, task.levels, image_limit=limit
    )


def _take_over(task: DynamicSpec, pool: ImagePool) -> ScenarioRun:
    """Of classes that both sides name, the source's is left out: no view could tell them apart."""
    names = [normalise_class_name(name) for name in pool.names]
    count = len(pool.parts[0].classnames)
    source = [place for place in range(count) if names[place] not in set(names[count:])]
    limits = {"class_limit": task.class_limit, "image_limit": task.image_limit}
    new = range(count, len(names))
    return scenarios.co_evolution(pool.labels, source, new, task.seed, task.levels, **limits)


def predict_views(fitted: FittedLearner, pool: ImagePool, runs: Sequence[ScenarioRun]) -> Iterator[Iterator[Answer]]:
    """Yield the answers in the views of each run on a pool, whose base and new classes are those of all its runs.

    Logits are of the images of a view among its classes; there is no baseness where there is nothing to detect.
    """
    if fitted.learner.depends_on_other_names:
        yield from (map(partial(predict_view, fitted, pool, run), run.views) for run in runs)
        return
    images = np.unique(np.concatenate([view.images for run in runs for view in run.views]))
    shared = SharedAnswer(fitted, pool, images, runs[0].base, runs[0].new)
    for run in runs:
        yield (_without_detection(run, view, shared.of(view)) for view in run.views)


def predict_view(fitted: FittedLearner, pool: ImagePool, run: ScenarioRun, view: View) -> Answer:
    """Predict one view from its own text bank: nothing is sliced. What `predict_views` must equal."""
    is_new = np.isin(view.classes, run.new)
    base, new = view.classes[~is_new], view.classes[is_new]
    if not len(base):  # no name in the view was trained on, though a text bank wants a base name
        if fitted.learner.depends_on_other_names:  # a further name would matter: all are given as base names
            return Answer(pool.answer(fitted, view.images, view.classes, run.new[:0]).logits, None)
        return Answer(pool.answer(fitted, view.images, run.base[:1], view.classes).logits[:, 1:], None)
    return _without_detection(run, view, pool.answer(fitted, view.images, base, new))


def _without_detection(run: ScenarioRun, view: View, answer: Answer) -> Answer:
    """Of base names alone the logits that a learner has for these, if it has, and nothing to detect."""
    if np.isin(view.classes, run.new).any():
        return answer
    return Answer(answer.logits if answer.base_logits is None else answer.base_logits, None)


def _images(task: DynamicSpec, pooled: PooledRuns, number: int) -> dict[str, np.ndarray]:
    """The images of the pool of scenario run `number`, by part and id as in its other tables."""
    pool, tables = pooled.pool, []
    for part, source in enumerate(pooled.sources):
        of_part = pool.origin == part
        table = {"course": np.full(of_part.sum(), number, np.int16), "part": np.full(of_part.sum(), part, np.int8)}
        table |= {"id": pool.rows[of_part], "label": pool.labels[of_part]}
        tables.append(with_names(table, pool.names, task.image_sets[source].load().path_of))
    return stacked(tables)


def score_view(
    view: View, answer: Answer, pool: ImagePool, run: ScenarioRun, learner: str, where: Mapping[str, str]
) -> tuple[list[Result], dict[str, Any], Rows]:
    """Return every number of one view, what the view holds, and its rows of `tables`."""
    # All images of a view are named among all its classes.
    score, place = answer.baseness, {**where, "level": view.level}
    labels, groups = pool.labels[view.images], pool.groups[view.images]
    prediction, is_new = view.classes[answer.logits.argmax(axis=1)], np.isin(labels, run.new)
    rows = []
    for name, side in {"accuracy": np.ones_like(is_new), "base_accuracy": ~is_new, "new_accuracy": is_new}.items():
        share = metrics.accuracy((prediction == labels)[side], groups=groups[side])
        over = interval_of(share.interval, "images", len(np.unique(groups[side])))
        value = Value(share.value, over) if share.value is not None else Value(None, reason=ONE_KIND)
        rows.append(Result(learner, METRICS[name], value, place))
    if score is None:
        area = Value(None, reason=f"there is no {'base' if is_new.any() else 'new'} class in this view")
    else:
        sides, of_groups = ([column[~is_new], column[is_new]] for column in (score, groups))
        auroc = metrics.auroc(*sides, in_groups=of_groups[0], out_groups=of_groups[1])
        over = interval_of(auroc.interval(), "images", len(np.unique(groups)))
        area = Value(auroc.value, over, reason=auroc.reason or "")
    rows.append(Result(learner, METRICS["auroc"], area, place))

    facts = {
        "level": view.level,
        "n_images": view.size,
        "n_new_images": int(is_new.sum()),
        "n_groups": len(np.unique(groups)),
        "n_classes": len(view.classes),
        "n_new_classes": int(np.isin(view.classes, run.new).sum()),
        "classes": view.classes.tolist(),
    }
    keys = {
        "level": np.full(view.size, view.level),
        "part": pool.origin[view.images].astype(np.int8),
        "id": pool.rows[view.images],
    }
    table = {"predictions": keys | {"group": groups, "label": labels, "prediction": prediction}}
    return rows, facts, table if score is None else table | {"scores": keys | {"score": score.astype(np.float32)}}


def tables(rows: Sequence[Rows]) -> dict[str, Columns]:
    """Return "predictions" of every view, and "scores" of those that hold base and new classes."""
    names = dict.fromkeys(name for view in rows for name in view)
    return {name: stacked([view[name] for view in rows if name in view]) for name in names}


def stacked(parts: Sequence[Columns]) -> Columns:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


EVALUATION = Evaluation("dynamic", DynamicSpec, DynamicSpec.tasks, evaluate, version=5)
