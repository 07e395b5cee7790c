"""Labelled sets as estimators see them: drawn like the source and as large as the target."""

import numpy as np
import pytest
from simulated import outputs

from openworld import OpenworldError
from openworld.estimators import AC, COT, ESTIMATORS, Estimate, LabelledShift, Outputs, measure_null
from openworld.estimators.quote.learned_shifts import _weights, centre, read_shifts

CLASSES = 30


def confident(labels, seed=0, wrong=0.05):
    """A model that is sure, and wrong on some images."""
    rng = np.random.default_rng(seed)
    named = np.where(rng.random(len(labels)) < wrong, rng.integers(0, CLASSES, len(labels)), labels)
    return Outputs(6 * np.eye(CLASSES)[named] + rng.normal(size=(len(labels), CLASSES)), labels)


def test_a_balanced_set_that_has_not_shifted_reads_as_source_like_sets_do():
    source = confident(np.arange(900) % CLASSES)
    balanced = confident(np.arange(90) % CLASSES, seed=1)
    nulls = measure_null({"COT": COT()}, source, 90)
    (reading,) = read_shifts({"COT": COT()}, source, [LabelledShift("same", "none", balanced)], nulls)
    as_it_lies = COT().fit(source).estimate(balanced, interval=False).accuracy / centre(nulls["COT"])
    assert reading.relative["COT"] == pytest.approx(1, abs=0.05) and as_it_lies > 1.1
    assert reading.accuracy == pytest.approx(1 - balanced.mistakes / 90, abs=0.05) and reading.n == 90


def test_sets_are_drawn_anew_by_the_seed_and_as_large_as_the_target():
    source, shift = outputs(0, n=300), LabelledShift("weaker", "noise", outputs(1, n=40, strength=1.0))
    nulls = measure_null({"AC": AC()}, source, 500)
    asked = []

    class Counting:
        needs, name = ("labels",), "counting"

        def fit(self, known):
            return self

        def estimate(self, target, interval):
            asked.append(target.n)
            return AC().fit(source).estimate(target, interval=interval)

    first, again, other = (
        read_shifts({"AC": Counting()}, source, [shift], nulls, seed=seed)[0].relative["AC"] for seed in (0, 0, 1)
    )
    assert set(asked) == {500} and first == again != other


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([0] * 5 + [1] * 5, [0.1] * 10),  # as on the source
        ([0] * 6 + [1] * 4, [0.5 / 6] * 6 + [0.5 / 4] * 4),  # by chance: weighted back to the source's shares
        ([0] * 4, [0.25] * 4),  # a class is missing, by chance
        ([0] * 95 + [1] * 5, [0.01] * 100),  # other shares: kept
    ],
)
def test_class_shares_are_those_of_the_source_unless_they_have_moved(labels, expected):
    source = Outputs(np.eye(2)[[0, 1] * 100], [0, 1] * 100)
    assert _weights(Outputs(np.zeros((len(labels), 2)), labels), source) == pytest.approx(expected)


def test_a_set_of_a_class_that_the_source_lacks_is_drawn_as_it_is():
    source = Outputs(np.eye(3)[[0, 1]], [0, 1])
    assert _weights(Outputs(np.eye(3)[[2]], [2]), source) == pytest.approx([1])


def test_what_an_estimator_cannot_say_is_nan_and_what_has_no_null_is_not_asked():
    class Silent:
        def fit(self, source):
            return self

        def estimate(self, target, interval):
            return Estimate.of(None)

    source, asked = outputs(0), {"silent": Silent(), "AC": AC(), "COT": COT()}
    known = measure_null({"AC": AC()}, source, 20)
    nulls = {"silent": known["AC"], "AC": known["AC"]}
    (reading,) = read_shifts(asked, source, [LabelledShift("night", "light", outputs(1))], nulls)
    assert np.isnan(reading.relative["silent"]) and reading.relative["AC"] > 0 and "COT" not in reading.relative


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (Outputs(np.eye(4)), "night.*labels"),
        (Outputs(np.eye(5), range(5), reference=np.eye(5)), "night.*5 classes.*4"),
        (Outputs(np.eye(4), range(4)), "FRAP on labelled shift night.*reference"),
    ],
)
def test_sets_that_cannot_be_read_are_refused_by_name(bad, words):
    source, asked = outputs(0), {"FRAP": ESTIMATORS["FRAP"]()}
    with pytest.raises(OpenworldError, match=words):
        read_shifts(asked, source, [LabelledShift("night", "light", bad)], measure_null(asked, source, 20))
