"""From logits and detection scores to a per-image table, and from such a table to the rows of a learner.

Beside the metrics: confused pairs, an image's class and the name that it was given instead; and whether confidence is
right, where of all images named with 80 % confidence 80 % are named right (Guo et al., 2017): ten bins of equal width,
each a dot of its mean confidence and its accuracy; no bin of fewer than five images says anything.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from openworld import metrics
from openworld.metrics import CLOSED_SET, QUANTITIES
from openworld.report.layout import ENTITY, METRIC, Pivot, Scatter
from openworld.report.layout.parts import Part
from openworld.results import METRICS, Metric, Result, Value, interval_of, mean
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

PAIRS, BINS, FEWEST = 12, 10, 5
CONFUSED = Metric("confused", "taken for it", better=0)
BIN_CONFIDENCE = Metric("bin_confidence", "mean confidence", better=0)
BIN_ACCURACY = Metric("bin_accuracy", "accuracy", better=0)
BIN_IMAGES = Metric("bin_images", "images", "count", 0, 0, (0.0, None))
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


def prediction_parts(per: Sequence[str]) -> tuple[Part, ...]:
    """Return the parts of a layout that show the rows of `prediction_rows`, at places of these keys."""
    per, calibration = tuple(per), "Is the confidence right?"
    bins = (BIN_CONFIDENCE.key, BIN_ACCURACY.key, BIN_IMAGES.key)
    return (
        Pivot(
            "confused",
            "What is taken for what?",
            (CONFUSED.key,),
            rows=("class", "named"),
            columns=(ENTITY,),
            per=per,
            note=f"Of the images of a class, how many were given the other name: the {PAIRS} most frequent pairs.",
        ),
        Scatter(
            "reliability",
            calibration,
            (BIN_ACCURACY.key, BIN_CONFIDENCE.key),
            dots=("confidence_bin",),
            guide="equal",
            per=per,
            note="On the thin line, confidence is right; below it, too high. A dot is a tenth of the scale of "
            "confidence, of five images or more.",
        ),
        Pivot(
            "confidence", calibration, bins, rows=(ENTITY, "confidence_bin"), columns=(METRIC,), per=per, folded=True
        ),
    )


def prediction_rows(
    tables: Mapping[str, Sequence[Table]], classnames: Sequence[str], place: Mapping
) -> Iterator[Result]:
    """Yield the most frequent pairs and the bins of confidence of every entity, of a table per seed."""
    # label and prediction are int[N], -1 where nothing was named; a table that lacks a column tells less.
    told = {
        entity: own
        for entity, own in tables.items()
        if classnames and all({"label", "prediction"} <= table.keys() for table in own)
    }
    mistakes: dict[str, list[np.ndarray]] = {}  # by entity and seed: int64[M, 2], class and name of wrong images
    for entity, own in told.items():
        named = [
            np.stack([np.asarray(table[key], np.int64) for key in ("label", "prediction")], axis=1) for table in own
        ]
        mistakes[entity] = [pairs[(pairs[:, 1] >= 0) & (pairs[:, 0] != pairs[:, 1])] for pairs in named]
    every = [pairs for own in mistakes.values() for pairs in own]
    distinct, counts = np.unique(np.concatenate(every), axis=0, return_counts=True) if every else ((), ())
    for entity, own in told.items():
        sizes = [np.bincount(np.asarray(table["label"]), minlength=len(classnames)) for table in own]
        for place_of_pair in np.argsort(-np.asarray(counts), kind="stable")[:PAIRS]:
            label, name = distinct[place_of_pair]
            shares = [
                float((pairs == (label, name)).all(axis=1).sum() / size[label])
                for pairs, size in zip(mistakes[entity], sizes, strict=True)
                if size[label]
            ]
            if shares:
                where = {**place, "class": classnames[label], "named": classnames[name]}
                yield Result(entity, CONFUSED, Value(mean(shares)), where)
    for entity, own in tables.items():
        yield from _bins(entity, [table for table in own if {"confidence", "correct"} <= table.keys()], place)


def _bins(entity: str, tables: Sequence[Table], place: Mapping) -> Iterator[Result]:
    if not tables:
        return
    confidence = np.concatenate([np.asarray(table["confidence"], float) for table in tables])
    correct = np.concatenate([np.asarray(table["correct"], bool) for table in tables])
    # the right end belongs to a bin, as in Guo et al.: confidences of 1 are many, those of 0 are none
    bins = np.clip(np.ceil(confidence * BINS).astype(int) - 1, 0, BINS - 1)
    for number in range(BINS):
        inside = bins == number
        count = int(inside.sum())
        if count >= FEWEST:
            where = {**place, "confidence_bin": number + 1}
            yield Result(entity, BIN_CONFIDENCE, Value(float(confidence[inside].mean())), where)
            yield Result(entity, BIN_ACCURACY, Value(float(correct[inside].mean())), where)
            yield Result(entity, BIN_IMAGES, Value(count), where)
