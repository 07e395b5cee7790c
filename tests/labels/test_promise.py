"""Promises before the labels: at best if proxies are right, at worst whatever they are, none where they say nothing."""

import numpy as np
import pytest
from labelled_stream import Truth, simulated

from openworld.labels import (
    PlanSettings,
    closed_set_stream,
    estimate,
    labels_needed,
    plan,
    promise,
    right_answers,
    scored_stream,
)
from openworld.labels.label_plan import AUTO
from openworld.metrics.estimate import student_quantile

pytestmark = pytest.mark.base

ACCURACY = "overall_accuracy"
DESIGNS = pytest.mark.parametrize("design", [AUTO, "stratified", "poisson"])


def halves(truth: Truth, stream, n: int, design: str, draws: int = 12, of: str = "openworld_auc"):
    """Half-widths of draws, and what was promised."""
    plans = [plan(stream, n, of=of, settings=PlanSettings(design, seed=seed)) for seed in range(draws)]
    ends = [estimate(each, truth.answer(each)).of(of).interval() for each in plans]
    given = [(high - low) / 2 for low, high in filter(None, ends)]  # few labels of a side give no number
    return np.array(given), promise(plans[0])


@DESIGNS
@pytest.mark.parametrize("of", ["openworld_auc", "new_accuracy", ACCURACY])
def test_at_best_is_reached_where_proxies_hold(design, of):
    truth = simulated(4, 1000)
    found, promised = halves(truth, truth.stream, 200, design, of=of)
    assert found.mean() == pytest.approx(promised.at_best, rel=0.1)
    assert found.max() < promised.at_worst and abs(promised.labels - 200) < 40  # Poisson draws about as many


@DESIGNS
@pytest.mark.parametrize("n", [40, 100])
def test_no_draw_is_wider_than_at_worst_however_wrong_the_proxies_are(design, n):
    truth = simulated(7, 800, share=0.35)
    wrong = Truth(-truth.scores, truth.base, truth.base_right, truth.new_right).stream
    wrong = scored_stream(
        truth.scores, *(getattr(wrong.expected, name) for name in ("base_right", "new_right", "base"))
    )
    found, promised = halves(truth, wrong, n, design, 20)
    assert np.mean(found <= promised.at_worst) >= 0.95
    assert promised.at_best < promised.at_worst


def test_at_worst_is_the_widest_interval_of_a_share():
    stream = closed_set_stream(np.linspace(0.1, 0.9, 2000))
    drawn = plan(stream, 200, of=ACCURACY)
    by_hand = student_quantile(0.95, 199) * np.sqrt(0.25 / 200 * 0.9)
    assert promise(drawn).at_worst == pytest.approx(by_hand, rel=1e-9)
    ends = estimate(drawn, right_answers(np.arange(200) % 2 == 0), proxy_weight=0.0).of(ACCURACY).interval()
    assert (ends[1] - ends[0]) / 2 == pytest.approx(by_hand, rel=0.01)
    assert promise(drawn, level=0.8).at_worst < by_hand


@pytest.mark.parametrize(
    ("of", "base", "share"), [("openworld_auc", 0.5, 0.35), ("base_accuracy", 0.3, 0.21), ("auroc", 0.01, 0.05)]
)
def test_at_worst_a_side_is_rarer_than_expected_but_has_the_labels_that_a_number_needs(of, base, share):
    base = base + np.linspace(-0.005, 0.005, 2000)
    drawn = plan(scored_stream(np.arange(2000.0), base / 2, (1 - base) / 2, base), 200, of=of)
    by_hand = student_quantile(0.95, 199) * np.sqrt(0.25 / (share * 200) * 0.9)
    assert promise(drawn).at_worst == pytest.approx(by_hand, rel=1e-6)


def test_a_weighted_draw_promises_less_at_worst_than_a_plain_one():
    stream = simulated(1, 2000).stream
    plain, strata = (promise(plan(stream, 200, settings=PlanSettings(each))) for each in ("random", "stratified"))
    assert 1.05 * plain.at_worst < strata.at_worst < 1.5 * plain.at_worst  # at most 1 / even in variance, and strata
    assert strata.at_best < plain.at_best


def test_constant_proxies_promise_nothing_at_best_until_labels_correct_them():
    stream, right = closed_set_stream(np.full(1000, 0.99)), np.random.default_rng(0).random(1000) < 0.6
    first = plan(stream, 50, of=ACCURACY)
    assert promise(first).at_best is None and promise(first).at_worst == pytest.approx(0.1384, abs=1e-3)
    assert labels_needed(stream, 0.05, of=ACCURACY) is None
    assert labels_needed(stream, 0.05, of=ACCURACY, at_worst=True) > 250
    earlier = [(first, right_answers(right[first.chosen]))]
    rest = plan(stream, 100, of=ACCURACY, earlier=earlier)
    found = promise(rest, earlier)
    ends = estimate(rest, right_answers(right[rest.chosen]), earlier=earlier).of(ACCURACY).interval()
    assert found.labels == 150 and found.at_best == pytest.approx((ends[1] - ends[0]) / 2, rel=0.1)
    assert found.at_best <= found.at_worst < promise(first).at_worst


def test_labels_needed_fall_with_the_width_and_reach_it():
    stream = simulated(5, 2000).stream
    for worst in (False, True):
        counts = [labels_needed(stream, width, at_worst=worst) for width in (0.1, 0.05, 0.03, 1e-6)]
        assert counts == sorted(counts) and counts[-1] == 2000
        found = promise(plan(stream, counts[1]))
        assert (found.at_worst if worst else found.at_best) == pytest.approx(0.05, rel=0.02)
    assert labels_needed(stream, 0.05, at_worst=True) > labels_needed(stream, 0.05)
    assert labels_needed(stream, 0.05, settings=PlanSettings("stratified")) < labels_needed(stream, 0.05)


def test_a_difference_of_two_classifiers_is_bounded_by_where_they_differ():
    names = np.arange(1000) % 7
    other = np.where(np.arange(1000) < 200, names + 1, names)
    streams = tuple(closed_set_stream(np.linspace(0.2, 0.9, 1000), each) for each in (names, other))
    found = promise(plan(streams, 50, of=ACCURACY))
    by_hand = 0.2 * student_quantile(0.95, 49) * np.sqrt(1 / 50 * (1 - 50 / 200))
    assert found.at_worst == pytest.approx(by_hand, rel=1e-9) and found.at_best < by_hand
