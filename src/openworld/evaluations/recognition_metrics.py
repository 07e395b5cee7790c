"""From logits and detection scores to a per-image table, and from such a table to every number of a record."""

from collections.abc import Mapping
from dataclasses import asdict

import numpy as np

from openworld import metrics

Table = Mapping[str, np.ndarray]
MEASURED = ("side", "score", "correct", "group", "label", "joint_prediction", "confidence")
"""The columns of a per-image table that its numbers rest on."""


def image_table(answer, features, base_count: int) -> dict[str, np.ndarray]:
    """What one learner said about each test image.

    Args:
        answer: logits float[N, C] over base names, then new names, scale included; baseness float[N], larger = more
            base-like; base_logits float[N, base_count], or None where they are those columns.
        features: the images' labels int64[N] (columns of the true names), groups and rows in their image set.
        base_count: number of base names.

    Returns:
        Columns id, side ("base" or "new"), label, prediction (among the names of its own side), joint_prediction (among
        all names), correct, score (the baseness), confidence (softmax of the prediction on its own side), group.
    """
    logits, labels = np.asarray(answer.logits, np.float64), features.labels
    is_base = labels < base_count
    competing = np.where((np.arange(logits.shape[1]) < base_count) == is_base[:, None], logits, -np.inf)
    if answer.base_logits is not None:
        competing[is_base, :base_count] = answer.base_logits[is_base]
    prediction = competing.argmax(axis=1)
    return {
        "id": features.rows,
        "side": np.where(is_base, "base", "new"),
        "label": labels,
        "prediction": prediction,
        "joint_prediction": logits.argmax(axis=1),
        "correct": prediction == labels,
        "score": np.asarray(answer.baseness, np.float64),
        "confidence": 1 / np.exp(competing - competing.max(axis=1, keepdims=True)).sum(axis=1),
        "group": features.groups,
    }


def score(fitted, features) -> dict[str, np.ndarray]:
    """Return the per-image table of a fitted learner on features of the base and the new half of their classes."""
    split = features.split
    bank = fitted.text_bank(split.base_names, split.new_names)
    return image_table(fitted.answer(features, bank), features, base_count=len(split.base))


def recognition_metrics(table: Table, *, closed_set: bool = False) -> dict:
    """Every number of open-world recognition from a per-image table: fractions in [0, 1], None where undefined.

    Args:
        table: as `image_table` gives it.
        closed_set: whether new images have no right name; AURC is measured then, and what rests on names of new
            images is None.
    """
    base, new = sides({name: table[name] for name in MEASURED if name in table})
    detection = metrics.detection_metrics(base["score"], new["score"])
    outcome = _openworld_auc(base, new, closed_set)
    return headline(base, new, outcome) | {
        "openworld_auc": {
            "value": outcome.value,
            "standard_error": outcome.standard_error,
            "reason": outcome.reason,
        },
        "correct_auroc": outcome.correct_auroc,
        "points_lost": None if outcome.points_lost is None else asdict(outcome.points_lost),
        "aupr_in": detection.aupr_in,
        "aupr_out": detection.aupr_out,
        "fpr95_in_positive": detection.fpr_in_positive,
        "fpr95_out_positive": detection.fpr_out_positive,
        "ece": _calibration_error(table),
        **(_of_closed_set(base) if closed_set else {}),
    }


def _of_closed_set(base: Table) -> dict:
    """What is measured otherwise where new images have no right name."""
    area = metrics.aurc(base["score"], base["correct"]).value
    return {"closed_set": True, "overall_accuracy": None, "ece": _calibration_error(base), "aurc": area}


def headline(base: Table, new: Table, outcome) -> dict:
    """The numbers of Tables 11 and 12 but OpenworldAUC; `outcome` is `metrics.openworld_auc` of the two sides."""
    return {
        "base_accuracy": outcome.base_accuracy,
        "new_accuracy": outcome.new_accuracy,
        "harmonic_mean": outcome.harmonic_mean,
        "auroc": outcome.auroc,
        "overall_accuracy": _overall_accuracy(base, new),
    }


def _overall_accuracy(base: Table, new: Table) -> float | None:
    if "joint_prediction" not in base:
        return None
    hits = np.concatenate([side["joint_prediction"] == side["label"] for side in (base, new)])
    return int(hits.sum()) / hits.size if hits.size else None


def _calibration_error(table: Table) -> float | None:
    if "confidence" not in table:
        return None
    return metrics.expected_calibration_error(table["confidence"], table["correct"]).value


def sides(table: Table) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The table of base images, and that of new ones."""
    is_base = table["side"] == "base"
    return rows_of(table, is_base), rows_of(table, ~is_base)


def rows_of(table: Table, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Some rows of a table, by position or mask."""
    return {name: column[rows] for name, column in table.items()}


def _openworld_auc(base: Table, new: Table, closed_set: bool):
    return metrics.openworld_auc(
        base["score"],
        base["correct"],
        new["score"],
        None if closed_set else new["correct"],
        base_groups=base["group"],
        new_groups=new["group"],
    )
