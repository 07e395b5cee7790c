"""From the predictions in a view to its numbers, and from those in a scenario run to small tables."""

from collections.abc import Sequence

import numpy as np

from openworld import metrics
from openworld.evaluations.dynamic.predictions import ImagePool, ViewPredictions
from openworld.evaluations.dynamic.record import ViewAuroc, ViewRecord
from openworld.evaluations.dynamic.scenarios import ScenarioRun

Columns = dict[str, np.ndarray]
Rows = dict[str, Columns]


def view_record(predictions: ViewPredictions, pool: ImagePool, run: ScenarioRun) -> ViewRecord:
    """Compute every number of one view, of whose images all are named among all its classes."""
    view = predictions.view
    labels, correct = pool.labels[view.images], _predict_classes(predictions) == pool.labels[view.images]
    groups, is_new = pool.groups[view.images], np.isin(labels, run.new)
    overall = metrics.accuracy(correct, groups=groups)
    by_class = metrics.per_class_accuracy(correct, labels, len(pool.names)).per_class
    base, new = (metrics.accuracy(correct[rows]).value for rows in (~is_new, is_new))
    return ViewRecord(
        level=view.level,
        accuracy=overall.value,
        n_images=view.size,
        n_classes=len(view.classes),
        auroc=_auroc(predictions.baseness, is_new, groups),
        base_accuracy=base,
        new_accuracy=new,
        standard_error=overall.standard_error,
        interval=overall.interval,
        n_new_images=int(is_new.sum()),
        n_new_classes=int(np.isin(view.classes, run.new).sum()),
        n_groups=len(np.unique(groups)),
        classes=view.classes.tolist(),
        per_class=[by_class[number] for number in view.classes],
    )


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


def _auroc(baseness: np.ndarray | None, is_new: np.ndarray, groups: np.ndarray) -> ViewAuroc:
    if baseness is None:
        return ViewAuroc(None, reason=f"there is no {'base' if is_new.any() else 'new'} class in this view")
    auroc = metrics.auroc(baseness[~is_new], baseness[is_new], in_groups=groups[~is_new], out_groups=groups[is_new])
    return ViewAuroc(auroc.value, auroc.standard_error, auroc.reason)
