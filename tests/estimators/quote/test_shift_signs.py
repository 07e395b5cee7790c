"""Signs of a shift in a model's own outputs, against other people's statistics."""

import numpy as np
import pytest
from scipy.stats import ks_2samp
from simulated import outputs

from openworld._errors import OpenworldError
from openworld.estimators import Outputs
from openworld.estimators.engine.temperature import confidences, probabilities, source_temperature
from openworld.estimators.quote.shift_signs import class_weights, moved_shares, shift_signs


def test_distance_and_chance_are_kolmogorovs_and_smirnovs():
    source, target = outputs(0, 300, 4, 2.0), outputs(1, 200, 4, 1.2)
    temperature = source_temperature(source.logits, source.labels).value
    both = [confidences(one.logits, temperature) for one in (source, target)]
    found = shift_signs(source, target)
    assert found.confidences == pytest.approx(ks_2samp(*both).statistic)
    assert ks_2samp(np.arange(300), np.arange(200) + 1000).pvalue < 0.05  # the two agree on what is far
    draws = np.random.default_rng(0).random((400, 500))
    by_chance = [ks_2samp(one[:300], one[300:]).statistic for one in draws]
    assert np.mean(np.array(by_chance) > found.chance) == pytest.approx(0.01, abs=0.01)


def test_other_shares_of_classes_are_told_from_doubt():
    source, all_of = outputs(0, 2000, 3, 2.0), outputs(1, 6000, 3, 2.0)
    uneven = np.array([2.0, 1.0, 1.0])  # one class is as plain again, and its images more certain
    source, all_of = (Outputs(one.logits * uneven, one.labels) for one in (source, all_of))
    rows = np.flatnonzero((all_of.labels == 0) | (np.arange(6000) % 6 == 0))
    found = shift_signs(source, all_of.take(rows))
    assert found.confidences > 2 * found.reweighted and found.reweighted < 0.1 and found.predictions > 0.2
    doubt = shift_signs(source, outputs(3, 2000, 3, 1.0))
    assert doubt.reweighted > 0.15


def test_shares_are_found_by_expectation_maximisation():
    source, all_of = outputs(0, 4000, 4, 3.0), outputs(1, 8000, 4, 3.0)
    wanted = np.array([0.6, 0.2, 0.15, 0.05])
    rng = np.random.default_rng(2)
    drawn = [rng.choice(np.flatnonzero(all_of.labels == c), int(1500 * wanted[c])) for c in range(4)]
    target = all_of.take(np.concatenate(drawn))
    temperature = source_temperature(source.logits, source.labels).value
    weights = class_weights(source.labels, probabilities(target.logits, temperature))
    shares = np.bincount(source.labels) / source.n
    np.testing.assert_allclose(weights * shares, wanted, atol=0.02)


def test_moved_shares_allow_for_chance():
    rng = np.random.default_rng(0)
    found = [moved_shares(*(np.bincount(rng.integers(0, 20, n), minlength=20) for n in (500, 300))) for _ in range(200)]
    distances, chances = np.array(found).T
    assert distances.mean() == pytest.approx(chances.mean(), rel=0.1)


def test_moved_shares_by_hand():
    distance, chance = moved_shares(np.array([30, 10]), np.array([10, 10]))
    assert distance == pytest.approx(0.25)  # .75 and .5
    deviation = np.sqrt(2 / 3 * 1 / 3 * (1 / 40 + 1 / 20))  # of either class, pooled 40 and 20 of 60
    assert chance == pytest.approx(deviation * np.sqrt(2 / np.pi))
    source, target = outputs(0, 300, 4, 2.0), outputs(1, 200, 4, 1.2)
    for moved, lowest in ((target, 0.0), (target.take(target.predictions < 2), 0.3)):
        expected = np.subtract(*moved_shares(*(np.bincount(one.predictions, minlength=4) for one in (source, moved))))
        found = shift_signs(source, moved).predictions
        assert found == pytest.approx(max(0.0, expected)) and found >= lowest


def test_a_class_that_the_source_lacks_may_come():
    weights = class_weights(np.array([0, 0, 1, 1]), np.array([[0.1, 0.1, 0.8]] * 5))
    assert np.isfinite(weights).all() and weights[2] > 1


def test_labels_are_needed():
    with pytest.raises(OpenworldError, match="needs labels"):
        shift_signs(Outputs([[1.0, 0.0]]), Outputs([[1.0, 0.0]]))
