"""Other class shares: found by expectation maximisation, and an explanation only where they explain the whole."""

import numpy as np
import pytest
from simulated import outputs

from openworld.estimators import Outputs
from openworld.estimators.engine.temperature import probabilities, source_temperature
from openworld.estimators.quote.class_shares import class_weights, explain_by_shares, moved_shares


def drawn(everything, shares, n, seed):
    rng = np.random.default_rng(seed)
    return everything.take(
        rng.choice(everything.n, n, p=np.array(shares)[everything.labels] / np.sum(np.array(shares)[everything.labels]))
    )


def test_shares_are_found_by_expectation_maximisation():
    source, everything = outputs(0, 4000, 4, 3.0), outputs(1, 8000, 4, 3.0)
    wanted = np.array([0.6, 0.2, 0.15, 0.05])
    target = drawn(everything, wanted, 1500, 2)
    p = probabilities(target.logits, source_temperature(source.logits, source.labels).value)
    before = np.bincount(source.labels, minlength=4) + 0.5
    before = shares = before / before.sum()
    for _ in range(200):  # as Saerens and others write it
        posterior = p * shares / before
        shares = (posterior / posterior.sum(axis=1, keepdims=True)).mean(axis=0)
    weights = class_weights(source.labels, p)
    np.testing.assert_allclose(weights * before, shares, atol=1e-4)
    np.testing.assert_allclose(weights * before, wanted, atol=0.04)
    explained = explain_by_shares(source.take(range(500)), target.take(range(300)))
    assert explained.distance == pytest.approx(np.abs(wanted - 1 / 4).sum() / 2, abs=0.06)
    lacking = class_weights(np.array([0, 0, 1, 1]), np.array([[0.1, 0.1, 0.8]] * 5))
    assert np.isfinite(lacking).all() and lacking[2] > 1


def test_other_shares_explain_what_they_cause_and_tell_the_accuracy():
    uneven = np.array([1.2, 1.0, 0.7, 0.6])  # some classes are harder, so that shares move the accuracy
    source, everything = (
        Outputs(one.logits * uneven, one.labels) for one in (outputs(0, 500, 4, 2.0), outputs(1, 8000, 4, 2.0))
    )
    errors, chances = [], []
    for seed in range(10):
        target = drawn(everything, [0.1, 0.1, 0.3, 0.5], 300, seed)
        found = explain_by_shares(source, target, seed=seed)
        assert found.taken > 0.5 and found.less_agreement == 0
        errors.append((found.accuracy - 1 + target.mistakes / target.n) / found.spread)
        chances.append(found.p)
    assert abs(np.mean(errors)) < 1.2 and 0.3 < np.std(errors) < 1.6 and np.mean(np.array(chances) < 0.05) < 0.2


def test_they_do_not_explain_a_model_that_became_unsure_or_a_reference_that_agrees_less():
    source, target = outputs(0, 500, 4, 2.0), outputs(1, 300, 4, 2.0)
    unsure = explain_by_shares(source, outputs(3, 500, 4, 1.0))
    assert unsure.p < 0.02 and unsure.taken < 0.8
    assert explain_by_shares(source, target).less_agreement < 2
    turned = Outputs(target.logits, reference=target.reference[::-1])
    assert explain_by_shares(source, turned).less_agreement > 5
    partners = outputs(2, 500, 4, 2.0, partners=1)
    other = Outputs(target.logits, partners=(target.logits[:, ::-1],))
    assert explain_by_shares(partners, other).less_agreement > 5


def test_moved_shares_by_hand_and_by_chance():
    distance, chance = moved_shares(np.array([30, 10]), np.array([10, 10]))
    assert distance == pytest.approx(0.25)  # .75 and .5
    deviation = np.sqrt(2 / 3 * 1 / 3 * (1 / 40 + 1 / 20))  # of either class, pooled 40 and 20 of 60
    assert chance == pytest.approx(deviation * np.sqrt(2 / np.pi))
    rng = np.random.default_rng(0)
    found = [moved_shares(*(np.bincount(rng.integers(0, 20, n), minlength=20) for n in (500, 300))) for _ in range(200)]
    distances, chances = np.array(found).T
    assert distances.mean() == pytest.approx(chances.mean(), rel=0.1)
