"""COT and COTT: stored values, never below AC, the source itself, marginals, bias of few images, intervals."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated import CASES, outputs, stored

from openworld.core.errors import OpenworldError
from openworld.estimators import AC, COT, COTT, Outputs

seeds = st.integers(0, 10**6)
cases = pytest.mark.parametrize("case", CASES)


def estimate(estimator, source, target):
    return estimator.fit(source).estimate(target, interval=False)


def at_public_temperature(case):
    """At the public code's own temperature, whose search stops early, and with the marginal that it was given."""
    marginal = tuple(CASES[case]["inputs"]["marginal"])
    return stored(case, CASES[case]["outputs"]["cot_repo"]["temperature"]), marginal


@cases
def test_stored_values(case):
    (source, target), marginal = at_public_temperature(case)
    expected = CASES[case]["outputs"]["exact_float64"]
    found = estimate(COT(marginal, calibrate=False), source, target)
    assert found.error == pytest.approx(expected["COT_err"], abs=1e-12)
    assert found.details["quotas"] == expected["COT_quotas"]
    thresholded = estimate(COTT(marginal, "reference", calibrate=False), source, target)
    assert thresholded.error == pytest.approx(expected["COTT_err"], abs=1e-12)
    assert 1 - thresholded.details["threshold"] == pytest.approx(-expected["COTT_threshold_half_l1"], abs=1e-12)


@cases
def test_public_code_with_the_quotas_that_it_drew(case):
    """It draws the remainder of each class at random; given the same quotas, the values are its own (float32)."""
    (source, target), _ = at_public_temperature(case)
    expected = CASES[case]["outputs"]["cot_repo"]
    for name, make in (("COT", COT), ("COTT", COTT)):
        drawn = np.array(expected[f"{name}_label_counts_drawn"]) / target.n
        rule = {} if make is COT else {"rule": "reference"}
        found = estimate(make(tuple(drawn), calibrate=False, **rule), source, target)
        assert found.error == pytest.approx(expected[name], abs=1e-6)


@given(seeds, st.sampled_from(["source_labels", "uniform"]))
@settings(max_examples=40)
def test_never_below_average_confidence(seed, marginal):
    source, target = outputs(seed), outputs(seed + 1, 45, strength=1.0)
    assert estimate(COT(marginal), source, target).error >= estimate(AC(), source, target).error - 1e-12


@given(seeds)
def test_equals_average_confidence_where_predictions_come_in_the_shares_asked_for(seed):
    source, target = outputs(seed), outputs(seed + 1)
    shares = tuple(np.bincount(target.predictions, minlength=4) / target.n)
    assert estimate(COT(shares), source, target).error == pytest.approx(estimate(AC(), source, target).error, abs=1e-12)


@given(seeds)
@settings(max_examples=40)
def test_on_the_source_itself_the_thresholded_error_is_the_sources(seed):
    source = outputs(seed)
    found = estimate(COTT(), source, source)
    assert found.error == pytest.approx(source.mistakes / source.n) or "tie at the threshold" in str(found.warnings)
    below = estimate(COTT(rule="reference"), source, source).error
    assert below == pytest.approx(max(source.mistakes - 1, 0) / source.n, abs=1e-9)


@given(seeds, st.floats(0.2, 5))
@settings(max_examples=20)
def test_the_scale_of_the_logits_does_not_matter_where_they_are_calibrated(seed, scale):
    source, target = outputs(seed, 150, strength=1.0), outputs(seed + 1)
    scaled = [replace(one, logits=scale * one.logits) for one in (source, target)]
    assert estimate(COT(), *scaled).error == pytest.approx(estimate(COT(), source, target).error, abs=1e-6)
    assert estimate(COTT(), *scaled).error == pytest.approx(estimate(COTT(), source, target).error, abs=1 / 60 + 1e-9)


def test_every_source_image_named_wrong():
    source = Outputs(5 * np.eye(4), (np.arange(4) + 1) % 4)
    assert estimate(COTT(calibrate=False), source, outputs(0)).error == 1


def test_no_mistake_on_the_source():
    """The public code takes the last score of the list for the threshold, and an error of 1."""
    found = estimate(COTT(), Outputs(5 * np.eye(4), np.arange(4)), outputs(0))
    assert found.error == 0 and found.details["threshold"] is None
    assert any("no source image" in warning for warning in found.warnings)


def test_a_class_that_the_source_lacks():
    source = Outputs(np.eye(3)[[0, 1, 1]], [0, 1, 0])
    assert estimate(COT(), source, outputs(0, 30, 3)).details["quotas"] == [20, 10, 0]
    assert estimate(COTT(), source, outputs(0, 30, 3)).details["quotas"] == [20, 10, 0]


@pytest.mark.parametrize(("n", "classes", "strength"), [(50, 10, 2.0), (200, 10, 4.0), (400, 100, 3.0)])
def test_the_bias_of_few_images_is_known(n, classes, strength):
    """Logits times the strength are the posterior's, so that AC has no bias."""
    gaps, biases, fitted = [], [], COT("uniform", calibrate=False).fit(outputs(0, 100, classes))
    for seed in range(12):
        target = outputs(seed, n, classes, strength)
        target = replace(target, logits=target.logits / 2 * strength)
        found = fitted.estimate(target, interval=False)
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


@pytest.mark.parametrize(("n", "classes"), [(50, 10), (500, 10), (500, 100)])
def test_so_is_that_of_a_source_whose_shares_err_too(n, classes):
    gaps, biases = [], []
    for seed in range(12):
        source, target = outputs(seed, n, classes, 4.0), outputs(seed + 50, n, classes, 4.0)
        found = estimate(COT(calibrate=False), source, target)
        gaps.append(found.error - estimate(AC(calibrate=False), source, target).error)
        biases.append(found.details["sampling_bias"])
    assert np.mean(biases) == pytest.approx(np.mean(gaps), rel=0.4)


def test_the_interval_is_as_wide_as_other_sets_spread():
    """Prices kept: the bootstrap is of the first order."""
    fits = [
        COT().fit(outputs(seed, 500)).estimate(outputs(seed + 1000, 300, strength=1.5), resamples=100)
        for seed in range(40)
    ]
    spread = np.std([one.accuracy for one in fits])
    width = np.mean([one.interval[1] - one.interval[0] for one in fits]) / (2 * 1.96)
    assert width == pytest.approx(spread, rel=0.35)


def test_the_marginal_is_checked():
    with pytest.raises(OpenworldError, match="'unifrom' came .* expected one of 'source_labels', 'uniform'"):
        COT("unifrom")
    with pytest.raises(OpenworldError, match="adds up to 0.9"):
        COTT((0.5, 0.4))
    with pytest.raises(OpenworldError, match="marginal has 2 shares, but there are 4"):
        estimate(COT((0.5, 0.5)), outputs(0), outputs(1))


def test_sample_scores_are_probabilities_of_the_given_labels():
    source, target = outputs(0), outputs(1)
    found = estimate(COT(), source, target)
    assert found.accuracy == pytest.approx(found.sample_scores.mean())
    assert estimate(COT(), source, replace(target, labels=None)).accuracy == found.accuracy
