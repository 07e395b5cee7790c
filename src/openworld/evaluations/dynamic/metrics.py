"""From the answers in a view to its numbers, and from those in a whole course to small tables of predictions."""

from collections.abc import Sequence

import numpy as np

from openworld import metrics
from openworld.evaluations.dynamic.predictions import Pool, Said
from openworld.evaluations.dynamic.scenarios import Course

Columns = dict[str, np.ndarray]
Rows = dict[str, Columns]


def view_metrics(said: Said, pool: Pool, course: Course) -> dict:
    """Every number of one view: fractions in [0, 1], None where undefined.

    All pictures are named among all classes of the view. `base_accuracy` and `new_accuracy` are the shares of rightly
    named pictures of either kind among those same names; `per_class` follows `classes`; `auroc` tells base pictures
    from new ones, and has a reason where there are none of one kind.
    """
    labels, correct = pool.labels[said.view.images], _predictions(said) == pool.labels[said.view.images]
    groups, is_new = pool.groups[said.view.images], np.isin(labels, course.new)
    overall = metrics.accuracy(correct, groups=groups)
    shares = metrics.per_class_accuracy(correct, labels, len(pool.names)).per_class
    sides = {side: metrics.accuracy(correct[rows]).value for side, rows in (("base", ~is_new), ("new", is_new))}
    return {
        "level": said.view.level,
        "n_images": said.view.size,
        "n_new_images": int(is_new.sum()),
        "n_classes": len(said.view.classes),
        "n_new_classes": int(np.isin(said.view.classes, course.new).sum()),
        "n_groups": len(np.unique(groups)),
        "accuracy": overall.value,
        "standard_error": overall.standard_error,
        "interval": overall.interval,
        "base_accuracy": sides["base"],
        "new_accuracy": sides["new"],
        "auroc": _auroc(said.baseness, is_new, groups),
        "classes": said.view.classes,
        "per_class": [shares[one] for one in said.view.classes],
    }


def view_rows(said: Said, pool: Pool, number: int) -> Rows:
    """The rows of `tables` that one view of course `number` gives."""
    images, size = said.view.images, said.view.size
    named = {
        "course": np.full(size, number, np.int16),
        "level": np.full(size, said.view.level),
        "part": pool.origin[images].astype(np.int8),
        "id": pool.rows[images],
    }
    told = {"group": pool.groups[images], "label": pool.labels[images], "prediction": _predictions(said)}
    scores = {} if said.baseness is None else {"scores": named | {"score": said.baseness.astype(np.float32)}}
    return {"predictions": named | told} | scores


def tables(rows: Sequence[Rows]) -> dict[str, Columns]:
    """What was said of every picture in every view, in two tables.

    Args:
        rows: of `view_rows`, in order.

    Returns:
        "predictions": course (its number), level, part (0 source, 1 the other image set), id (number of the picture in
        its set), group, label and prediction (classes of the pool). "scores": course, level, part, id and score (the
        baseness), of the views that hold base and new classes; absent where no view does.
    """
    names = dict.fromkeys(name for one in rows for name in one)
    return {name: stacked([one[name] for one in rows if name in one]) for name in names}


def _predictions(said: Said) -> np.ndarray:
    return said.view.classes[said.logits.argmax(axis=1)]


def _auroc(baseness: np.ndarray | None, is_new: np.ndarray, groups: np.ndarray) -> dict:
    if baseness is None:
        kinds = "new" if not is_new.any() else "base"
        return {"value": None, "standard_error": None, "reason": f"there is no {kinds} class in this view"}
    found = metrics.auroc(baseness[~is_new], baseness[is_new], in_groups=groups[~is_new], out_groups=groups[is_new])
    return {"value": found.value, "standard_error": found.standard_error, "reason": found.reason}


def stacked(parts: Sequence[Columns]) -> Columns:
    """Tables of the same columns, one behind the other."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
