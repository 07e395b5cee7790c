"""Confused pairs and bins of confidence, counted by hand."""

import numpy as np
import pytest

from openworld.evaluations.recognition_metrics import PAIRS, prediction_rows
from openworld.results import Results

NAMES = ("cat", "dog")


def table(pairs, confidence, correct):
    labels, names = (
        np.array([NAMES.index(name) if name else -1 for name in side]) for side in zip(*pairs, strict=True)
    )
    return {"label": labels, "prediction": names, "confidence": np.array(confidence), "correct": np.array(correct)}


CATS = [("cat", "dog")] * 3 + [("cat", "cat")] * 3 + [("dog", "")] * 2
FIRST = table(CATS, [0.75] * 8, [False] * 3 + [True] * 3 + [False] * 2)
SECOND = table(
    [("cat", "dog"), ("cat", "cat"), *[("dog", "cat")] * 6], [0.8] * 2 + [1.0] * 6, [False, True, *[False] * 6]
)
RESULTS = Results("demo", tuple(prediction_rows({"A": [FIRST, SECOND], "B": [FIRST]}, NAMES, {"setting": "s"})))


def test_a_pair_is_counted_against_the_images_of_its_class_and_averaged_over_seeds():
    assert RESULTS.value("A", "confused", **{"class": "cat"}).value == pytest.approx((3 / 6 + 1 / 2) / 2)
    assert RESULTS.value("A", "confused", **{"class": "dog"}).value == pytest.approx((0 + 1) / 2)
    assert RESULTS.value("B", "confused", **{"class": "dog", "named": "cat"}).value == 0, "what another one confuses"
    assert not [row for row in RESULTS if row.where.get("named") == ""], "nothing was named"


def test_bins_end_on_the_right_and_few_images_say_nothing():
    eighth = {"setting": "s", "confidence_bin": 8}
    assert RESULTS.value("A", "bin_images", **eighth).value == 10, "of both seeds, .75 and .8"
    assert RESULTS.value("A", "bin_accuracy", **eighth).value == pytest.approx(4 / 10)
    assert RESULTS.value("A", "bin_confidence", **eighth).value == pytest.approx((8 * 0.75 + 2 * 0.8) / 10)
    assert RESULTS.value("A", "bin_images", setting="s", confidence_bin=10).value == 6
    four = {name: column[:4] for name, column in SECOND.items()}
    assert {row.metric.key for row in prediction_rows({"A": [four]}, NAMES, {})} == {"confused"}


def test_only_the_most_frequent_pairs_are_told():
    names = [*(f"class {place:02}" for place in range(40)), "other"]
    labels = np.array([place for place in range(40) for _ in range(40 - place)])
    many = {"label": labels, "prediction": np.full(len(labels), 40)}
    rows = list(prediction_rows({"A": [many]}, names, {}))
    assert [row.where["class"] for row in rows] == [f"class {place:02}" for place in range(PAIRS)]
    assert not list(prediction_rows({"A": [{"correct": np.array([True])}]}, names, {})), "nothing is told of nothing"
