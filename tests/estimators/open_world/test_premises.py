"""What no estimator can know, what is refused, and the signs of another appearance."""

from dataclasses import replace

import numpy as np
import pytest
from simulated import refused

from openworld.estimators.open_world import (
    NUMBERS,
    OPEN_WORLD_ESTIMATORS,
    Mixture,
    OpenWorldOutputs,
    OwnNames,
    PositiveUnlabelled,
    ThirdModel,
    true_numbers,
    two_shares,
)
from openworld.estimators.open_world.posteriors import at_share, posterior_share
from openworld.testing import small_open_world


@pytest.mark.parametrize("name", OPEN_WORLD_ESTIMATORS)
def test_two_labelings_of_the_same_stream_get_the_same_estimate(name):
    """In one, every name is right and high scores are base; in the other, low ones are, and no name is right."""
    stream = small_open_world(7)
    high = stream.scores > np.median(stream.scores)
    told = replace(stream, labels=np.where(high, stream.base_prediction, stream.new_prediction), base_right=None)
    names = np.where(high, 4 + stream.new_prediction % 3, stream.base_prediction)
    wrong = replace(stream, labels=np.where(high, names, (names + 1) % 4), base_right=None)
    assert true_numbers(told)["openworld_auc"] == 1 and true_numbers(wrong)["openworld_auc"] == 0
    fitted = OPEN_WORLD_ESTIMATORS[name]().fit(small_open_world(0, 120, 0))
    first, second = fitted.estimate(told), fitted.estimate(wrong)
    assert [getattr(first, one) for one in NUMBERS] == [getattr(second, one) for one in NUMBERS]


def test_zero_shot_is_no_third_model_and_serves_names_of_new_images():
    validation = replace(small_open_world(0, 120, 0), reference_kind="zero-shot")
    refused("zero-shot model that the learner was tuned from", ThirdModel().fit, validation)
    assert PositiveUnlabelled().fit(validation).estimate(small_open_world(1)).openworld_auc is not None


def test_a_given_share_of_new_images_moves_auroc_as_derived():
    """d AUROC / dp = (AUROC - 1/2) / (1 - p)."""
    fitted, stream = Mixture().fit(small_open_world(0, 200, 0)), small_open_world(1)
    first, second = (fitted.estimate(stream, new_share=share) for share in (0.7, 0.6999))
    slope = (first.auroc - 0.5) / 0.7
    assert (second.auroc - first.auroc) / 0.0001 == pytest.approx(slope, rel=1e-3)


def test_the_likeliest_share_is_where_em_stops():
    base = np.random.default_rng(0).beta(2, 1, 500)
    share = posterior_share(base, 0.6)
    odds = share / (1 - share) * 0.4 / 0.6
    assert np.mean(odds * base / (odds * base + 1 - base)) == pytest.approx(share, abs=1e-9)
    assert at_share(base, share).mean() == pytest.approx(share)
    assert posterior_share(np.full(10, 0.9)) == pytest.approx(1) and posterior_share(np.full(10, 0.1)) < 1e-9


@pytest.mark.parametrize("strength", [0.4, 2.0])
def test_the_alarm_fires_where_the_reference_is_less_or_more_sure(strength):
    """Where nothing but the appearance differs, to the harder or the easier, at any share of new images."""
    validation = small_open_world(0, 300, 0)
    for share in (0.3, 0.7):
        stream = small_open_world(1, 600, share)
        found = two_shares(validation, replace(stream, reference=strength * stream.reference))
        assert "confidence" in found.signs and (found.confidence_moved > 0) == (strength > 1)
        assert "confidence" not in two_shares(validation, stream).signs


def test_the_alarm_fires_where_base_scores_fell_and_without_a_reference_the_share_is_the_learners_own():
    validation, stream = small_open_world(0, 300, 0), small_open_world(1, 600)
    assert not two_shares(validation, stream).alarm
    found = two_shares(validation, replace(stream, scores=stream.scores - 5))
    assert found.signs == ("shares",) and found.by_best_bin > found.by_posterior and found.posterior_of == "reference"
    found = two_shares(*(replace(one, reference=None) for one in (validation, stream)))
    assert found.posterior_of == "own" and found.confidence_moved is None and not found.alarm


def test_rare_new_images_are_refused_with_what_would_help():
    found = PositiveUnlabelled().fit(small_open_world(0, 400, 0)).estimate(small_open_world(1, 400, 0.02))
    assert found.new_share < 0.1 and found.auroc is None
    assert "label some images" in found.reasons["auroc"]


def test_outputs_tell_what_is_missing_and_what_differs():
    logits = small_open_world(0).logits
    whole = {"logits": logits, "n_base": 4}
    for arguments, words in (
        ({}, "neither scores nor logits"),
        ({"logits": logits}, "n_base is None"),
        (whole | {"n_base": 7}, "n_base is 7"),
        ({"base_logits": logits}, "belong together"),
        (whole | {"reference": logits[:, 1:]}, "reference has shape"),
        (whole | {"labels": np.full(240, 7)}, "labels holds 7"),
        (whole | {"scores": np.zeros(3)}, "logits"),
    ):
        refused(words, OpenWorldOutputs, **arguments)
    fitted = OwnNames().fit(small_open_world(0, 120, 0))
    refused("3 base names", fitted.estimate, OpenWorldOutputs(logits=logits, n_base=3))
