"""What holds of a stream without labels: which bound it is, that the margins are added, and what is refused."""

from dataclasses import replace

import pytest
from simulated import refused

from openworld.estimators.open_world import (
    BOUND_MARGIN,
    SHARE_MARGIN,
    OpenWorldOutputs,
    PositiveUnlabelled,
    stream_bounds,
    true_numbers,
    two_shares,
)
from openworld.metrics._accuracy import wilson_interval
from openworld.testing import small_open_world


def tuned(seed, n=400, new_share=0.5, kind="zero-shot"):
    return replace(small_open_world(seed, n, new_share), reference_kind=kind)


HOME = tuned(0, 400, 0)


@pytest.mark.parametrize("share", [None, 0.5])
def test_the_bound_is_the_estimate_and_its_margin(share):
    stream = tuned(1)
    found, estimate = stream_bounds(HOME, stream, share), PositiveUnlabelled().fit(HOME).estimate(stream, share)
    assert found.openworld_auc == pytest.approx(estimate.openworld_auc + BOUND_MARGIN)
    assert found.rests_on == "positive-unlabelled" and true_numbers(stream)["openworld_auc"] < found.openworld_auc


def test_the_share_lies_between_both_ways_and_a_margin():
    stream = tuned(1)
    stream = replace(stream, scores=stream.scores - 1)  # which the best bin takes for more new images
    shares, (low, high) = two_shares(HOME, stream), stream_bounds(HOME, stream).new_share
    assert shares.by_posterior < shares.by_best_bin - 0.05
    assert low == pytest.approx(shares.by_posterior - SHARE_MARGIN)
    assert high == pytest.approx(min(1, shares.by_best_bin + SHARE_MARGIN))


def test_other_references_and_none_bound_nothing():
    for changes in ({"reference_kind": "independent"}, {"reference": None}):
        found = stream_bounds(*(replace(one, **changes) for one in (HOME, tuned(1))))
        assert (found.openworld_auc, found.new_share) == (None, None) and "zero-shot" in found.reason


@pytest.mark.parametrize(("strength", "bounded"), [(0.6, True), (1.0, True), (2.0, False)])
def test_a_surer_zero_shot_takes_the_bound_away_and_leaves_the_share(strength, bounded):
    stream = tuned(1)
    found = stream_bounds(HOME, replace(stream, reference=strength * stream.reference))
    assert (found.openworld_auc is not None) == bounded and found.new_share is not None
    assert bounded or "surer" in found.reason


def test_a_rare_side_leaves_the_base_accuracy_and_the_share():
    found = stream_bounds(HOME, tuned(1, 400, 0.02))
    assert found.rests_on == "base accuracy" and found.new_share[0] == 0
    assert found.openworld_auc == wilson_interval(HOME.base_right.mean(), HOME.n)[1]


def test_few_images_are_not_bounded_and_new_validation_images_are_refused():
    found = stream_bounds(HOME, tuned(1, 30))
    assert (found.openworld_auc, found.new_share) == (None, None) and "20 more" in found.reason
    refused("new classes", stream_bounds, tuned(0), tuned(1))
    assert stream_bounds(OpenWorldOutputs(scores=HOME.scores), tuned(1)).openworld_auc is None
