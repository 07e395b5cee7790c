"""Plans: probabilities, strata, what a rare side gets, storage, refusals."""

from dataclasses import replace

import numpy as np
import pytest
from labelled_stream import refused, simulated

from openworld.labels import (
    LabelPlan,
    PlanSettings,
    closed_set_stream,
    plan,
    plan_from_draw,
    scored_stream,
)
from openworld.labels.inclusion import inclusion_probabilities, influence_spread, sizes, strata
from openworld.metrics import Outcomes

pytestmark = pytest.mark.base

STRATA = PlanSettings("stratified")
DESIGNS = pytest.mark.parametrize("design", ["random", "stratified", "poisson"])


def test_the_spread_of_an_influence_is_that_of_its_four_outcomes():
    stream = simulated(0, 50).stream
    expected, tau = stream.expected, influence_spread((stream,), "openworld_auc")
    for place in (0, 7, 33):
        chances = expected.base_right, expected.base - expected.base_right
        chances += expected.new_right, expected.new - expected.new_right
        sure = Outcomes(1, 0, 1, 0), Outcomes(0, 0, 1, 0), Outcomes(0, 1, 0, 1), Outcomes(0, 0, 0, 1)
        values = [float(np.broadcast_to(stream.expectation.influence(others=each), 50)[place]) for each in sure]
        weights = [chance[place] for chance in chances]
        mean = np.average(values, weights=weights)
        assert tau[place] == pytest.approx(np.sqrt(np.average((values - mean) ** 2, weights=weights)), abs=1e-12)


@pytest.mark.parametrize("of", ["openworld_auc", "base_accuracy", "new_accuracy", "overall_accuracy"])
def test_no_label_tells_two_models_apart_that_say_the_same(of):
    names = {name: np.zeros(50, int) for name in ("base_name", "new_name", "joint_name")}
    stream = replace(simulated(0, 50).stream, **names)
    assert influence_spread((stream,), of).max() > 0.1
    np.testing.assert_allclose(influence_spread((stream, stream), of), 0, atol=1e-9)


def test_probabilities_add_up_and_none_is_above_one():
    rng = np.random.default_rng(0)
    worth = rng.random(200) ** 8
    for n in (1, 20, 150, 199):
        q = inclusion_probabilities(worth, n)
        assert q.sum() == pytest.approx(n) and q.max() <= 1
        free = q < 1
        assert np.ptp(q[free] / worth[free]) < 1e-9 * (q[free] / worth[free]).max()


@DESIGNS
def test_images_are_drawn_as_often_as_their_probability_says(design):
    stream = simulated(1, 60).stream
    draws = [plan(stream, 16, settings=PlanSettings(design, seed=seed)) for seed in range(300)]
    often = sum(np.bincount(drawn.chosen, minlength=60) for drawn in draws) / 300
    q = draws[0].inclusion
    assert np.abs((often - q) / np.sqrt(q * (1 - q) / 300 + 1e-9)).max() < 4.5
    assert q.sum() == pytest.approx(16) and q.min() > 0
    again = plan(stream, 16, settings=PlanSettings(design, seed=1))
    assert np.array_equal(again.chosen, draws[1].chosen) and again.fingerprint == draws[1].fingerprint


def test_strata_have_equal_shares_and_at_least_two_labels():
    stream = simulated(2, 500).stream
    drawn = plan(stream, 64, settings=STRATA)
    labels = np.bincount(drawn.stratum[drawn.chosen])
    assert labels.size == 8 and labels.min() >= 2 and labels.sum() == 64
    held = np.bincount(drawn.stratum)
    assert drawn.inclusion == pytest.approx((labels / held)[drawn.stratum])
    assert sizes(np.array([0, 1, 1, 1]), np.array([0.9, 0.4, 0.4, 0.3]), 3).tolist() == [1, 2]
    assert strata(np.arange(4), np.ones(4) / 4, 1).tolist() == [0, 0, 0, 0]


def test_labels_go_to_a_rare_side_and_where_a_name_is_in_doubt():
    stream = simulated(3, 2000, share=0.92).stream
    drawn = plan(stream, 200, settings=STRATA)
    at_random = 200 * stream.expected.new.mean()
    assert (drawn.inclusion * stream.expected.new).sum() > max(19.0, 1.1 * at_random)
    drawn = plan(closed_set_stream(np.repeat([0.5, 0.99], 200)), 60, of="overall_accuracy", settings=STRATA)
    assert drawn.inclusion[:200].mean() > 1.7 * drawn.inclusion[200:].mean()


@DESIGNS
def test_a_plan_is_stored_and_read_without_loss(design, tmp_path):
    truth = simulated()
    stream = truth.stream
    named = replace(stream, base_name=np.arange(400) % 7, joint_name=np.array([f"class {i}" for i in range(400)]))
    drawn = plan((named, stream), 40, settings=PlanSettings(design, seed=3, even=0.5))
    np.savez(tmp_path / "plan.npz", **drawn.to_arrays())
    found = LabelPlan.from_arrays(np.load(tmp_path / "plan.npz"))
    assert found.fingerprint == drawn.fingerprint and found.settings == drawn.settings and found.of == drawn.of
    for name, array in drawn.to_arrays().items():
        assert np.array_equal(array, found.to_arrays()[name]) and array.dtype == found.to_arrays()[name].dtype
    arrays = drawn.to_arrays()
    refused("not as it was stored", LabelPlan.from_arrays, arrays | {"inclusion": arrays["inclusion"] / 2})
    refused("no stored plan", LabelPlan.from_arrays, {"a": np.zeros(2)})


def test_a_pilot_recalibrates_the_proxies_of_the_rest():
    truth = simulated(6, 1000)
    wrong = scored_stream(truth.scores, *(np.full(1000, share) for share in (0.1, 0.05, 0.2)), right=np.full(1000, 0.1))
    pilot = plan(wrong, 200, settings=PlanSettings("random"))
    rest = plan(wrong, 100, earlier=[(pilot, truth.answer(pilot))])
    after = rest.streams[0].expectation
    for name in ("base_share", "base_accuracy", "new_accuracy", "overall_accuracy"):
        assert after.value_of(name) == pytest.approx(truth.whole.value_of(name), abs=0.1), name
    sure = truth.stream
    kept = plan(sure, 100, earlier=[(drawn := plan(sure, 200), truth.answer(drawn))]).streams[0].expected.base
    assert np.abs(kept - sure.expected.base).max() < 0.15


def test_no_plan_where_labels_cannot_say_anything():
    stream = simulated().stream
    refused("401 labels were asked for, but there are 400", plan, stream, 401)
    refused("there is no new sample", plan, scored_stream([2, 1], [1, 1], [0, 0], [1, 1]), 2)
    refused("same images", plan, (stream, simulated(0, 300).stream), 20)
    refused("at most that of base", scored_stream, [1, 2], [0.5, 0.6], [0, 0], [0.5, 0.5])
    refused("twice", plan_from_draw, stream, [1, 1])
    refused("cannot be drawn", plan_from_draw, stream, [1], np.zeros(400))
