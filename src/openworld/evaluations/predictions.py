"""What any evaluation says where it has predictions and confidences: confused pairs, and whether confidence is right.

A pair is an image's class and the name that it was given instead. Confidence is right where of all images named with
80 % confidence 80 % are named right (Guo et al., 2017): ten bins of equal width, each a dot of its mean confidence and
its accuracy; no bin of fewer than five images says anything.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from openworld.report.layout import ENTITY, METRIC, Pivot, Scatter
from openworld.report.layout.parts import Part
from openworld.results import Metric, Result, Value, mean

PAIRS, BINS, FEWEST = 12, 10, 5
CONFUSED = Metric("confused", "taken for it", better=0)
BIN_CONFIDENCE = Metric("bin_confidence", "mean confidence", better=0)
BIN_ACCURACY = Metric("bin_accuracy", "accuracy", better=0)
BIN_IMAGES = Metric("bin_images", "images", "count", 0, 0, (0.0, None))

Place = Mapping[str, str | int | float]
Table = Mapping[str, np.ndarray]


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


def prediction_rows(tables: Mapping[str, Sequence[Table]], classnames: Sequence[str], place: Place) -> Iterator[Result]:
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


def _bins(entity: str, tables: Sequence[Table], place: Place) -> Iterator[Result]:
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
