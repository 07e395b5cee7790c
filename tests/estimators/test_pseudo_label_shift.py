"""ProjNorm as adapted: by hand, stored values, what sampling alone makes of it."""

import numpy as np
import pytest
from simulated import CASES, outputs, stored

from openworld.estimators import Outputs, PseudoLabelShift


@pytest.mark.parametrize("case", CASES)
def test_stored_values(case):
    expected = CASES[case]["outputs"]["cot_repo"]["ProjNorm"]
    source, target = stored(case)
    assert PseudoLabelShift().fit(source).estimate(target).error == pytest.approx(expected, abs=1e-7)  # float32


def test_by_hand():
    source = Outputs([[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 1, 0]], labels=[0, 1, 1, 2])
    target = Outputs([[1, 0, 0], [0, 1, 0]])
    found = PseudoLabelShift().fit(source).estimate(target)  # true (1, 2, 1) / 4, predicted (1, 1, 0) / 2
    assert found.details["distance"] == 0.25 and found.error == 0.5


def test_the_error_is_held_at_one():
    source = Outputs([[0, 1], [0, 1]], labels=[0, 0])
    found = PseudoLabelShift().fit(source).estimate(Outputs([[0, 1]]))
    assert (found.raw_error, found.error) == (2, 1)


def test_what_sampling_alone_makes_of_it_is_said():
    rng = np.random.default_rng(0)
    distances = []
    for _ in range(300):
        labels, predicted = rng.integers(0, 10, 100), rng.integers(0, 10, 50)
        fitted = PseudoLabelShift().fit(Outputs(np.eye(10)[labels], labels))
        found = fitted.estimate(Outputs(np.eye(10)[predicted]), interval=False)
        distances.append(found.details["distance"])
    assert found.details["sampling_distance"] == pytest.approx(np.mean(distances), rel=0.05)
    assert any("sampling alone" in warning for warning in found.warnings)
    many = outputs(0, 5000)
    assert not PseudoLabelShift().fit(many).estimate(outputs(1, 5000)).warnings


def test_the_interval_holds_the_spread_over_other_sets():
    fitted = PseudoLabelShift().fit(outputs(0, 2000))
    found = fitted.estimate(outputs(1, 2000, strength=1.0))
    others = [fitted.estimate(outputs(seed, 2000, strength=1.0), interval=False).accuracy for seed in range(2, 22)]
    low, high = found.interval
    assert low < found.accuracy and high - low < 0.1
    assert sum(low - 0.02 <= other <= high + 0.02 for other in others) >= 18


def test_with_many_classes_the_interval_holds_the_estimate_and_mostly_the_shift_of_the_populations():
    rng, classes, error = np.random.default_rng(0), 50, 0.2
    target_shares = np.repeat([2.0, 1.0], classes // 2) / (1.5 * classes)
    true_error = np.abs(target_shares - 1 / classes).sum() / 2 + error
    held = 0
    for _ in range(40):
        labels = rng.integers(0, classes, 400)
        named = np.where(rng.random(400) < error, (labels + 1) % classes, labels)
        fitted = PseudoLabelShift().fit(Outputs(np.eye(classes)[named], labels))
        found = fitted.estimate(Outputs(np.eye(classes)[rng.choice(classes, 400, p=target_shares)]))
        low, high = found.interval
        assert low <= found.accuracy <= high
        held += low <= 1 - true_error <= high
    assert held >= 26  # percentiles of the resamples themselves hold it never
