"""Scores of periods: by hand and by a plain loop, under one law, under a shift; and the rate of years."""

from dataclasses import asdict

import numpy as np
import pytest
from simulated import outputs, refused

from openworld.estimators import Outputs
from openworld.estimators.quote import alarm, shift_alarm
from openworld.estimators.quote.alarm import AlarmLimit
from openworld.estimators.quote.shift_alarm import ShiftTest, SignScale, fit_shift_test
from openworld.estimators.quote.shift_signs import ShiftSign, ShiftSigns, shift_signs, vectors_of
from openworld.runs import read_spec


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    monkeypatch.setattr(alarm, "YEARS", 1000)
    monkeypatch.setattr(shift_alarm, "SOURCES", 40)
    monkeypatch.setattr(shift_alarm, "TARGETS", 120)


def test_by_hand():
    limit = AlarmLimit(100, bias=-1.0, within=1.0, error=0.5, limit=5.0, jumps=False)
    test = ShiftTest(100, {"outputs": SignScale(2.0, 1.0, 0.5), "confidences": SignScale(1.0, 1.0, 0.25)}, limit)
    chance = 2 * (1 / 100 + 1 / 50)
    energies = ShiftSigns((ShiftSign("outputs", 1, 0, None, 9 * chance), ShiftSign("confidences", 1, 0, None, 0.03)), 1)
    assert test.score(energies, 50) == (pytest.approx((3 - 1) / 0.5), "outputs")
    assert test.score(ShiftSigns((ShiftSign("embeddings", 1, 0),), 1), 50) == (None, "")
    assert test.statistic(0.5, 4.0) == pytest.approx(0.5 + (4 - 1 - 0.5 - 0.5) / 5)  # less mean, half, and error
    assert test.statistic(0.5, None) == 0.5 and test.statistic(0.0, -1.0) == 0.0
    assert test.statistic(0.0, 100.0) == shift_alarm.HIGHEST > 1
    assert read_spec(asdict(test), ShiftTest) == test


def test_a_plain_loop_over_drawn_sets_finds_the_same_scales():
    source = outputs(0, 120, 3, 2.0)
    found = fit_shift_test(source, 40, seed=3)
    generator, uniform = np.random.default_rng(3), np.full(120, 1 / 120)
    first, second = generator.multinomial(120, uniform, 40), generator.multinomial(40, uniform, 120)
    rows = vectors_of(source, source.once("temperature", lambda: None).value)["confidences"]
    apart = np.abs(rows - rows.T).astype(float)
    x = []
    for u in first / 120:
        chance = u @ apart @ u * 120 / 119 * (1 / 120 + 1 / 40)
        for v in second / 40:
            x.append(np.sqrt((2 * u @ apart @ v - u @ apart @ u - v @ apart @ v) / chance))
    scale = found.scales["confidences"]
    assert scale.apart == pytest.approx(apart.sum() / (120 * 119), rel=1e-4)
    assert (scale.mean, scale.deviation) == (pytest.approx(np.mean(x), rel=1e-3), pytest.approx(np.std(x), rel=1e-3))


@pytest.mark.parametrize("n", [40, 250])
def test_under_one_law_scores_have_the_mean_of_the_test_whatever_the_size(n):
    scores, means = [], []
    for seed in range(15):
        source = outputs(seed, 200, 3, 2.0)
        test = fit_shift_test(source, n, seed=seed, over=10)
        means.append(-test.limit.bias)
        period = outputs(1000 + seed, n, 3, 2.0)
        scores.append(test.score(shift_signs(source, period, deals=1), n)[0])
    assert np.mean(scores) == pytest.approx(np.mean(means), abs=0.6) and np.std(scores) < 1.8


def test_a_collapse_is_found_at_once_and_a_fall_within_days():
    source = outputs(0, 400, 4, 2.5)
    test = fit_shift_test(source, 150)

    def day(strength, number):
        period = outputs(100 + number, 150, 4, strength)
        return test.score(shift_signs(source, period, deals=1), 150)[0]

    assert test.statistic(0.0, day(0.0, 0)) > 1
    last = 0.0
    for number in range(1, 11):
        last = test.statistic(last, day(1.5, number))
    assert last > 1


def test_signs_in_which_all_are_alike_or_one_is_far_off_are_left_out_and_labels_are_needed():
    logits = np.tile([[2.0, 0.0]], (20, 1))
    test = fit_shift_test(Outputs(logits, np.arange(20) % 2), 10)
    assert not test.scales and test.score(ShiftSigns((ShiftSign("outputs", 1, 0, None, 5.0),), 1), 10) == (None, "")
    source, far = outputs(0, 100, 3, 2.0), outputs(0, 100, 3, 2.0)
    far.logits[0] *= 1e4
    usual, again, other, rare = (fit_shift_test(source, 50, **given) for given in ({}, {}, {"seed": 1}, {"rate": 0.01}))
    assert "outputs" not in fit_shift_test(far, 50).scales and usual.scales["outputs"]
    assert usual == again != other and rare.limit.alone(50, 0.0) < usual.limit.alone(50, 0.0)
    refused("needs labels", fit_shift_test, Outputs(logits), 10)
