"""From the predictions in a view to its rows and facts, and to the tables of a scenario run."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from openworld import metrics
from openworld.evaluations.dynamic.predictions import ImagePool, ViewPredictions
from openworld.evaluations.dynamic.scenarios import ScenarioRun
from openworld.results import METRICS, Result, Value, interval_of

Columns = dict[str, np.ndarray]
Rows = dict[str, Columns]
ONE_KIND = "the view holds base images alone, or new ones alone"


def view_results(
    predictions: ViewPredictions, pool: ImagePool, run: ScenarioRun, learner: str, where: Mapping[str, str]
) -> Iterator[Result]:
    """Yield every number of one view, of whose images all are named among all its classes.

    Args:
        where: the place of the scenario run; the level is added.
    """
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
    """What was predicted for every image in every view, in two tables.

    Args:
        rows: of `view_rows`, in order.

    Returns:
        "predictions": course (number of the scenario run), level, part (0 source, 1 the other image set), id (number of
        the image in its set), group, label and prediction (classes of the pool). "scores": course, level, part, id
        and score (the baseness), of the views that hold base and new classes; absent where no view does.
    """
    names = dict.fromkeys(name for view in rows for name in view)
    return {name: stacked([view[name] for view in rows if name in view]) for name in names}


def stacked(parts: Sequence[Columns]) -> Columns:
    """Tables of the same columns, one behind the other."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _predict_classes(predictions: ViewPredictions) -> np.ndarray:
    """int64[n], the class that every image is given."""
    return predictions.view.classes[predictions.logits.argmax(axis=1)]
