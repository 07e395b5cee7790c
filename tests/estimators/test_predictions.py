"""GDE and ProjNorm, which look at predictions alone: by hand, what sampling alone makes, intervals, refusals."""

import numpy as np
import pytest
from simulated import outputs, refused

from openworld.estimators import GDE, Outputs, PseudoLabelShift


def shift(source, target):
    return PseudoLabelShift().fit(source).estimate(target)


def test_disagreement_by_hand():
    target = Outputs([[1, 0], [0, 1], [1, 0]], partners=([[1, 0]] * 3, [[0, 1]] * 3))
    errors = [GDE(partner).fit(target).estimate(target).error for partner in (0, 1, None)]
    assert errors == pytest.approx([1 / 3, 2 / 3, 1 / 2])
    assert GDE(None).fit(target).estimate(target).sample_scores.tolist() == [0.5, 0.5, 0.5]
    bare = GDE().fit(Outputs([[1.0, 0.0]]))  # the source needs neither labels nor partners
    assert bare.estimate(outputs(0, classes=2, partners=1)).details["mistakes"] is None
    refused("partner is 2, but there are 2", GDE(2).fit(target).estimate, target)


def test_shares_by_hand_and_an_error_that_is_held_at_one():
    source = Outputs([[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 1, 0]], labels=[0, 1, 1, 2])
    found = shift(source, Outputs([[1, 0, 0], [0, 1, 0]]))  # true (1, 2, 1) / 4, predicted (1, 1, 0) / 2
    assert found.details["distance"] == 0.25 and found.error == 0.5
    found = shift(Outputs([[0, 1], [0, 1]], labels=[0, 0]), Outputs([[0, 1]]))
    assert (found.raw_error, found.error) == (2, 1)


def test_what_sampling_alone_makes_of_shares_is_said():
    rng = np.random.default_rng(0)
    distances = []
    for _ in range(300):
        labels, predicted = rng.integers(0, 10, 100), rng.integers(0, 10, 50)
        fitted = PseudoLabelShift().fit(Outputs(np.eye(10)[labels], labels))
        found = fitted.estimate(Outputs(np.eye(10)[predicted]), interval=False)
        distances.append(found.details["distance"])
    assert found.details["sampling_distance"] == pytest.approx(np.mean(distances), rel=0.05)
    assert any("sampling alone" in warning for warning in found.warnings)
    assert not shift(outputs(0, 5000), outputs(1, 5000)).warnings


def test_with_many_classes_the_interval_holds_the_estimate_and_mostly_the_shift_of_the_populations():
    rng, classes, error = np.random.default_rng(0), 50, 0.2
    target_shares = np.repeat([2.0, 1.0], classes // 2) / (1.5 * classes)
    true_error = np.abs(target_shares - 1 / classes).sum() / 2 + error
    held = 0
    for _ in range(40):
        labels = rng.integers(0, classes, 400)
        named = np.where(rng.random(400) < error, (labels + 1) % classes, labels)
        found = shift(
            Outputs(np.eye(classes)[named], labels), Outputs(np.eye(classes)[rng.choice(classes, 400, p=target_shares)])
        )
        low, high = found.interval
        assert low <= found.accuracy <= high
        held += low <= 1 - true_error <= high
    assert held >= 26  # percentiles of the resamples themselves hold it never
