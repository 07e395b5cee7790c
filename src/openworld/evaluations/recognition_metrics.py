"""From logits and detection scores to a per-image table, and from such a table to the rows of a learner."""

from collections.abc import Iterator, Mapping

import numpy as np

from openworld import metrics
from openworld.metrics import CLOSED_SET, QUANTITIES
from openworld.results import METRICS, Metric, Result, Value, interval_of
from openworld.results.value import value_or

Table = Mapping[str, np.ndarray]
MEASURED = ("side", "score", "correct", "group", "label", "joint_prediction", "confidence")
"""The columns of a per-image table that its numbers rest on."""

OF_NEW_NAMES = ("new_accuracy", "harmonic_mean", "correct_auroc")  # what a classifier of base names alone does not have

LOSSES = {
    "wrong_base": Metric("wrong_base", "wrong base names", better=-1),
    "wrong_new": Metric("wrong_new", "wrong new names", better=-1),
    "mixed_up": Metric("mixed_up", "base and new mixed up", better=-1),
}
"""The three ways in which points are lost."""

GROUPS = Metric("groups", "groups", "count", 0, 0, (0.0, None))


def image_table(answer, features, base_count: int) -> dict[str, np.ndarray]:
    """Return what one learner said about each test image: the columns of docs/records.md."""
    # logits float[N, C]: base names, then new ones; base images by base_logits, where a learner has others for them.
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


def recognition_rows(
    table: Table, learner: str, *, where: Mapping[str, str] | None = None, closed_set: bool = False
) -> Iterator[Result]:
    """Yield every number of open-world recognition that a per-image table gives."""
    base, new = sides({name: table[name] for name in MEASURED if name in table})
    areas = openworld_auc_of(base, new, closed_set=closed_set)
    detection = metrics.detection_metrics(base["score"], new["score"])
    images, place = areas.n_base + areas.n_new, where or {}
    for name in QUANTITIES:
        estimate = areas.estimate(name)
        over = interval_of(estimate.interval(), "images", images)
        reason = CLOSED_SET if closed_set and name in OF_NEW_NAMES else estimate.reason or ""
        if estimate.value is not None or name not in LOSSES:
            metric = {**METRICS, **LOSSES}[name]
            yield Result(learner, metric, value_or(estimate.value, reason, over), place)
    for name, rate in {
        "aupr_in": detection.aupr_in,
        "aupr_out": detection.aupr_out,
        "fpr95_in_positive": detection.fpr_in_positive,
        "fpr95_out_positive": detection.fpr_out_positive,
    }.items():
        yield Result(learner, METRICS[name], value_or(rate, detection.reason or ""), place)
    overall = None if closed_set else overall_accuracy(base, new)
    unnamed = CLOSED_SET if closed_set else "predictions among all names are not known"
    yield Result(learner, METRICS["overall_accuracy"], value_or(overall, unnamed), place)
    error, said = None, base if closed_set else table
    if "confidence" in said:
        error = metrics.expected_calibration_error(said["confidence"], said["correct"]).value
    unsure = "confidences are not known"
    yield Result(learner, METRICS["expected_calibration_error"], value_or(error, unsure), place)
    if closed_set:
        area = metrics.aurc(base["score"], base["correct"])
        yield Result(learner, METRICS["aurc"], value_or(area.value, area.reason or ""), place)


def image_counts(table: Table, where: Mapping[str, str] | None = None) -> Iterator[Result]:
    """Yield how many images of each side a table has, and how many groups of images that are not independent."""
    is_base, place = np.asarray(table["side"] == "base"), where or {}
    for side, count in (("base", is_base.sum()), ("new", (~is_base).sum())):
        yield Result("", METRICS["images"], Value(int(count)), {**place, "side": side})
    yield Result("", GROUPS, Value(len(np.unique(np.asarray(table["group"])))), place)


def overall_accuracy(base: Table, new: Table) -> float | None:
    """Return the share of all images that are named right among all names; None where such names are not known."""
    if "joint_prediction" not in base:
        return None
    hits = np.concatenate([side["joint_prediction"] == side["label"] for side in (base, new)])
    return int(hits.sum()) / hits.size if hits.size else None


def sides(table: Table) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    is_base = table["side"] == "base"
    return rows_of(table, is_base), rows_of(table, ~is_base)


def rows_of(table: Table, rows: np.ndarray) -> dict[str, np.ndarray]:
    return {name: column[rows] for name, column in table.items()}


def openworld_auc_of(base: Table, new: Table, *, closed_set: bool = False) -> metrics.OpenworldAUC:
    """Return OpenworldAUC of the tables of the two sides, clustered by group."""
    correct = None if closed_set else new["correct"]
    groups = {"base_groups": base["group"], "new_groups": new["group"]}
    return metrics.openworld_auc(base["score"], base["correct"], new["score"], correct, **groups)
