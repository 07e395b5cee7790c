"""The design is plain until labels show that the proxies are worth more, and plain labels are read without them."""

import numpy as np
import pytest
from labelled_stream import simulated

from openworld.labels import (
    PlanSettings,
    choose_design,
    closed_set_stream,
    estimate,
    label_answers,
    plan,
    right_answers,
    scored_stream,
)

pytestmark = pytest.mark.base

OF = {"of": "overall_accuracy"}
RANDOM = PlanSettings("random")
RIGHT = np.random.default_rng(0).random(2000) < np.repeat([0.6, 0.995], [300, 1700])
SURE = np.repeat([0.6, 0.995], [300, 1700])


def after(proxies, n=50, seed=0):
    """A pilot of n labels, and its answers."""
    pilot = plan(closed_set_stream(proxies), n, settings=PlanSettings("random", seed=seed), **OF)
    return [(pilot, right_answers(RIGHT[pilot.chosen]))]


@pytest.mark.parametrize("proxies", [SURE, np.full(2000, 0.9)])
def test_without_a_label_the_draw_is_plain(proxies):
    stream = closed_set_stream(proxies)
    choice, drawn = choose_design(stream, 100, **OF), plan(stream, 100, **OF)
    assert (choice.design, choice.labels, choice.ratio) == ("random", 0, None) and "no label" in choice.reason
    assert drawn.settings.design == "random" and np.ptp(drawn.inclusion) == 0
    assert plan(stream, 100, settings=PlanSettings("poisson"), **OF).is_poisson


def test_a_pilot_takes_strata_for_proxies_that_are_right_and_none_for_those_of_other_images():
    drawn = {True: 0, False: 0}
    for seed in range(10):
        for right, proxies in ((True, SURE), (False, np.random.default_rng(seed).permutation(SURE))):
            earlier = after(proxies, seed=seed)
            choice = choose_design(closed_set_stream(proxies), 100, earlier=earlier, **OF)
            drawn[right] += choice.design == "stratified"
            assert (choice.ratio + choice.standard_error < 0.9) == (choice.design == "stratified")
            assert f"{choice.ratio:.2f}" in choice.reason and choice.labels == 50
    assert drawn[True] >= 8 and drawn[False] <= 2
    batch = plan(closed_set_stream(SURE), 100, earlier=after(SURE), **OF)
    assert batch.settings.design == choose_design(closed_set_stream(SURE), 100, earlier=after(SURE), **OF).design


def test_the_variance_ratio_of_a_pilot_is_that_of_many_draws():
    stream, earlier = closed_set_stream(SURE), after(SURE, 1000)
    ratio = choose_design(stream, 100, earlier=earlier, **OF).ratio
    values = [
        [
            estimate(drawn, right_answers(RIGHT[drawn.chosen]), proxy_weight=1.0).of("overall_accuracy").value
            for drawn in (plan(stream, 100, settings=PlanSettings(design, seed=seed), **OF) for seed in range(150))
        ]
        for design in ("poisson", "random")
    ]
    assert ratio == pytest.approx(np.var(values[0]) / np.var(values[1]), rel=0.35) and ratio < 0.7


def test_few_labels_and_labels_that_show_no_variance_decide_nothing():
    stream = closed_set_stream(SURE)
    few = choose_design(stream, 50, earlier=after(SURE, 24), **OF)
    assert few.design == "random" and few.labels == 24 and "24 labels are too few" in few.reason
    truth = simulated()
    pilot = plan(truth.stream, 60, settings=RANDOM)
    base, first, second = (part[pilot.chosen] for part in (truth.base, truth.base_right, truth.new_right))
    unnamed = choose_design(truth.stream, 50, earlier=[(pilot, label_answers(base, first, second))], **OF)
    assert unnamed.design == "random" and unnamed.ratio is None and "do not tell" in unnamed.reason


def test_a_pilot_of_two_classifiers_decides_by_their_difference():
    names = np.arange(2000) % 7
    streams = closed_set_stream(SURE, names), closed_set_stream(1 - SURE, np.where(SURE < 0.9, names + 1, names))
    pilot = plan(streams, 40, settings=RANDOM, **OF)
    right = RIGHT[pilot.chosen]
    choice = choose_design(streams, 60, earlier=[(pilot, right_answers([right, ~right]))], **OF)
    assert choice.labels == 40 and choice.ratio > 0.9 and choice.design == "random"  # all that differ are alike


def test_few_plain_labels_are_read_without_proxies_and_those_in_strata_with_half():
    for design, trust in (("random", 0.0), ("stratified", 0.5)):
        drawn = plan(closed_set_stream(SURE), 40, settings=PlanSettings(design), **OF)
        found = estimate(drawn, right_answers(np.arange(40) % 4 > 0)).of("overall_accuracy")
        assert found.proxy_weight == trust
    half = np.full(400, 0.5)
    drawn = plan(scored_stream(np.arange(400.0), half * np.linspace(0.2, 0.9, 400), 0.3 * half, half), 100)
    nothing = np.zeros(100, bool)  # no success
    found = estimate(drawn, label_answers(drawn.chosen % 2 == 0, nothing, nothing)).of()
    assert found.proxy_weight == 0 and found.value == 0 and found.interval()[0] == 0
