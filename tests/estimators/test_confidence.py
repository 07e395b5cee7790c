"""AC, DoC, IM, ATC and CBPE: by hand, brute-force twins, scikit-learn's curve, where they are undefined."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax
from simulated import outputs, refused

from openworld.estimators import AC, CBPE, IM, ATCMaxConfidence, ATCNegativeEntropy, DoC, Outputs
from openworld.estimators.calibrated_confidence import isotonic
from openworld.estimators.engine.temperature import source_temperature

seeds = st.integers(0, 10**6)
CALIBRATED = [
    *(AC(), DoC(), IM(), ATCMaxConfidence(), ATCNegativeEntropy()),
    *(ATCMaxConfidence("reference"), ATCNegativeEntropy("reference")),
]


def estimate(estimator, source, target):
    return estimator.fit(source).estimate(target, interval=False)


def with_confidence(*confidences):
    return np.log([[one, 1 - one] for one in confidences])


@given(seeds)
def test_the_error_on_the_source_itself_is_the_sources(seed):
    source = outputs(seed)
    for estimator in (DoC(), IM(), ATCMaxConfidence(), ATCNegativeEntropy()):
        assert estimate(estimator, source, source).raw_error == pytest.approx(source.mistakes / source.n, abs=1e-9)


@given(seeds, st.floats(0.2, 5))
def test_the_scale_of_the_logits_does_not_matter_where_they_are_calibrated(seed, scale):
    source, target = outputs(seed, 150, strength=1.0), outputs(seed + 1)
    if source_temperature(source.logits, source.labels).warning:
        return
    for estimator in CALIBRATED:
        found = estimate(estimator, *(replace(one, logits=scale * one.logits) for one in (source, target)))
        assert found.raw_error == pytest.approx(estimate(estimator, source, target).raw_error, abs=1 / 60 + 1e-9)


@pytest.mark.parametrize("estimator", CALIBRATED, ids=str)
def test_no_mistake_on_the_source(estimator):
    """Public code: threshold at the end of the list and an error of 1; ATC's 1 for entropies, 0 for confidences."""
    found = estimate(estimator, Outputs(5 * np.eye(4), np.arange(4)), Outputs([[1, 0.5, 0.2, 0.1]]))
    assert found.details["temperature"] == 1 and any("no source image" in one for one in found.warnings)
    if estimator.name.startswith("ATC"):
        assert found.error == 0 and found.details["threshold"] is None


def test_sources_named_all_wrong_without_labels_and_unsure():
    wrong, sure = Outputs([[1.0, 0.0], [2.0, 0.0]], [1, 1]), Outputs([[9.0, 0.0]])
    assert estimate(ATCMaxConfidence(calibrate=False), wrong, sure).error == 1
    assert estimate(ATCMaxConfidence("reference", calibrate=False), wrong, sure).error == 0
    found = estimate(AC(calibrate=False), Outputs([[1.0, 0.0]]), Outputs([[0.0, 0.0]]))
    assert found.accuracy == 0.5 and found.details["mistakes"] is None
    refused("AC needs labels", AC().fit, Outputs([[1.0, 0.0]]))
    found = estimate(DoC(calibrate=False), Outputs([[0.1, 0.0]] * 5, [0, 0, 0, 0, 0]), sure)
    assert found.raw_error < 0 and found.error == 0 and found.accuracy == 1


def test_certain_predictions_have_no_entropy():
    source, target = Outputs([[1e4, 0.0], [0.5, 0.0]], [0, 1]), Outputs([[1e4, 0.0], [0.1, 0.0]])
    found = estimate(ATCNegativeEntropy(calibrate=False), source, target)
    assert found.error == 0.5 and found.sample_scores[0] == 0


def test_a_confidence_on_an_edge_belongs_to_the_bin_below():
    source = Outputs(with_confidence(0.5, 0.65), [1, 0])  # a confidence of 1/2 is exact: bin (0.4, 0.5]
    assert estimate(IM(calibrate=False), source, Outputs([[0.0, 0.0]])).accuracy == 0
    assert estimate(IM(calibrate=False), source, Outputs([[1e4, 0.0], [0.0, 0.0]])).details["dropped_mass"] == 0.5


def test_bins_without_source_images_are_said():
    source = Outputs(with_confidence(0.65, 0.85), [1, 0])
    found = estimate(IM(calibrate=False), source, Outputs(with_confidence(0.85, 0.95)))
    assert found.accuracy == 1 and found.details["dropped_mass"] == 0.5
    assert "50.0 % of the target images" in found.warnings[-1]
    nothing = IM(calibrate=False).fit(source).estimate(Outputs(with_confidence(0.95)))
    assert nothing.accuracy is nothing.error is nothing.interval is None
    assert "nothing is known" in nothing.warnings[-1]


@given(seeds, st.integers(1, 20))
def test_importance_equals_weights_image_by_image(seed, bins):
    source, target = outputs(seed, 200), outputs(seed + 1, 90, strength=1.0)
    bin_of = [np.ceil(np.round(softmax(one.logits, axis=1).max(axis=1) * bins, 9)) for one in (source, target)]
    weight = [(bin_of[1] == b).mean() / (bin_of[0] == b).mean() for b in bin_of[0]]
    expected = np.average(source.wrong, weights=weight) if sum(weight) else None
    found = estimate(IM(bins, calibrate=False), source, target)
    assert found.raw_error == (None if expected is None else pytest.approx(expected, abs=1e-9))


def test_calibrated_probabilities_correct_an_overconfident_model_and_leave_a_calibrated_one():
    pair = outputs(0, 3000, 3, strength=1.5), outputs(1, 2000, 3, strength=1.5)
    source, target = (replace(one, logits=2.5 * one.logits) for one in pair)
    true = target.mistakes / target.n
    found = CBPE().fit(source).estimate(target)
    assert found.details["calibrated_classes"] == 3
    assert abs(found.error - true) < 0.03 < true - estimate(AC(calibrate=False), source, target).error
    assert found.details["sampling_error"] == pytest.approx((true * (1 - true) / 2000) ** 0.5, rel=0.1)
    calibrated = [replace(one, logits=one.logits / 2 * 1.5) for one in pair]  # the posterior's logits
    plain = estimate(AC(calibrate=False), *calibrated).error
    assert estimate(CBPE(), *calibrated).error == pytest.approx(plain, abs=0.02)


@pytest.mark.parametrize("estimator", [AC(), DoC(), CBPE()], ids=str)
def test_the_interval_is_as_wide_as_other_sources_and_targets_spread(estimator):
    """The source comes in through T and the curves, which are moved to first order."""
    pairs = [(outputs(seed, 300, strength=1.2), outputs(seed + 1000, 500, strength=1.5)) for seed in range(40)]
    found = [estimator.fit(source).estimate(target, resamples=40) for source, target in pairs]
    width = np.mean([high - low for low, high in (one.interval for one in found)]) / (2 * 1.96)
    assert width == pytest.approx(np.std([one.accuracy for one in found]), rel=0.35)


def test_what_speaks_against_curves_is_said():
    """They do not calibrate the source itself, or few images a class made them; a class told apart has none."""
    many = outputs(0, 600, classes=60, strength=3.5)  # ten images a class, and far too unsure
    found = estimate(CBPE(), *[replace(many, logits=many.logits / 3)] * 2)
    assert found.accuracy < 1 - many.mistakes / many.n - 0.05 and f"{100 * found.accuracy:.1f}%" in found.warnings[-1]
    for n, few in ((196, True), (200, False)):
        said = " ".join(estimate(CBPE(), outputs(0, n, 4, 2.0), outputs(1, 100, 4, 1.5)).warnings)
        assert ("196 source images, 49.0 a class" in said) == few == ("fewer than 50" in said)
    apart = Outputs(np.eye(3)[[0, 1] * 30] * 9, [0, 1] * 30)
    assert estimate(CBPE(), apart, Outputs(np.eye(3))).details["calibrated_classes"] == 0


@given(seeds)
def test_the_rising_curve_equals_scikit_learns(seed):
    IsotonicRegression = pytest.importorskip("sklearn.isotonic").IsotonicRegression
    rng = np.random.default_rng(seed)
    p, true = rng.random(50).round(1 + seed % 2), rng.random(50) < 0.5
    ours, theirs = isotonic(p, true), IsotonicRegression(out_of_bounds="clip").fit(p, true)
    asked = np.linspace(-0.1, 1.1, 50)
    np.testing.assert_allclose(ours(asked), theirs.predict(asked), atol=1e-9)
