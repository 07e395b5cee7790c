"""COT and COTT: never below AC, the source itself, marginals, bias of few images, intervals."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated import outputs, refused

from openworld.estimators import AC, COT, COTT, Outputs

seeds = st.integers(0, 10**6)


def estimate(estimator, source, target):
    return estimator.fit(source).estimate(target, interval=False)


@given(seeds, st.sampled_from(["source_labels", "uniform"]))
def test_the_error_is_acs_or_more(seed, marginal):
    """AC's where predictions come in the very shares that are asked for."""
    source, target = outputs(seed), outputs(seed + 1, 45, strength=1.0)
    plain, shares = estimate(AC(), source, target).error, np.bincount(target.predictions, minlength=4) / target.n
    assert estimate(COT(marginal), source, target).error >= plain - 1e-12
    assert estimate(COT(tuple(shares)), source, target).error == pytest.approx(plain, abs=1e-12)


@given(seeds)
def test_on_the_source_itself_the_thresholded_error_is_the_sources(seed):
    source = outputs(seed)
    found = estimate(COTT(), source, source)
    assert found.error == pytest.approx(source.mistakes / source.n) or "tie at the threshold" in str(found.warnings)
    below = estimate(COTT(rule="reference"), source, source).error
    assert below == pytest.approx(max(source.mistakes - 1, 0) / source.n, abs=1e-9)


@given(seeds, st.floats(0.2, 5))
def test_the_scale_of_the_logits_does_not_matter_where_they_are_calibrated(seed, scale):
    source, target = outputs(seed, 150, strength=1.0), outputs(seed + 1)
    scaled = [replace(one, logits=scale * one.logits) for one in (source, target)]
    assert estimate(COT(), *scaled).error == pytest.approx(estimate(COT(), source, target).error, abs=1e-6)
    assert estimate(COTT(), *scaled).error == pytest.approx(estimate(COTT(), source, target).error, abs=1 / 60 + 1e-9)


def test_sources_named_all_wrong_all_right_and_without_a_class():
    wrong, right = (Outputs(5 * np.eye(4), (np.arange(4) + step) % 4) for step in (1, 0))
    assert estimate(COTT(calibrate=False), wrong, outputs(0)).error == 1
    found = estimate(COTT(), right, outputs(0))  # the public code: the last score of the list, and an error of 1
    assert found.error == 0 and found.details["threshold"] is None
    assert any("no source image" in warning for warning in found.warnings)
    lacking = Outputs(np.eye(3)[[0, 1, 1]], [0, 1, 0])
    for estimator in (COT(), COTT()):
        assert estimate(estimator, lacking, outputs(0, 30, 3)).details["quotas"] == [20, 10, 0]


@pytest.mark.parametrize("marginal", ["uniform", "source_labels"])
@pytest.mark.parametrize(("n", "classes", "strength"), [(50, 10, 4.0), (200, 10, 4.0), (400, 60, 3.5)])
def test_the_bias_of_few_images_is_known(n, classes, strength, marginal):
    """Logits times the strength are the posterior's, so that AC has no bias; shares of the source may err, too."""
    gaps, biases = [], []
    for seed in range(8):
        source, target = outputs(seed + 50, n, classes, strength), outputs(seed, n, classes, strength)
        target = replace(target, logits=target.logits / 2 * strength)
        found = estimate(COT(marginal, calibrate=False), source, target)
        gaps.append(found.error - estimate(AC(calibrate=False), target, target).error)
        biases.append(found.details["sampling_bias"])
    assert np.mean(biases) == pytest.approx(np.mean(gaps), rel=0.4)
    assert "chance alone" in found.warnings[-1]


def test_many_images_have_no_such_bias():
    source, target = outputs(0, 2000), outputs(1, 4000)
    for estimator in (COT(), COTT()):
        found = estimate(estimator, source, target)
        assert found.details["sampling_bias"] < 0.01 and not found.warnings
        assert "chance alone" in estimate(estimator, source, target.take(range(40))).warnings[-1]


def test_the_interval_is_as_wide_as_other_sets_spread():
    """Prices kept: the bootstrap is of the first order."""
    pairs = [(outputs(seed, 500), outputs(seed + 1000, 300, strength=1.5)) for seed in range(30)]
    found = [COT().fit(source).estimate(target, resamples=40) for source, target in pairs]
    width = np.mean([one.interval[1] - one.interval[0] for one in found]) / (2 * 1.96)
    assert width == pytest.approx(np.std([one.accuracy for one in found]), rel=0.35)


def test_the_marginal_is_checked():
    refused("adds up to 0.9", COTT, (0.5, 0.4))
    refused("marginal has 2 shares, but there are 4", estimate, COT((0.5, 0.5)), outputs(0), outputs(1))
