"""AC, DoC, IM, ATC and CBPE: stored values of public code, by hand, brute-force twins, where they are undefined."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax
from simulated import CASES, outputs, stored

from openworld.core.errors import OpenworldError
from openworld.estimators import AC, CBPE, IM, ATCMaxConfidence, ATCNegativeEntropy, DoC, Outputs
from openworld.estimators.calibrated_confidence import isotonic
from openworld.estimators.engine.temperature import source_temperature

seeds = st.integers(0, 10**6)
cases = pytest.mark.parametrize("case", CASES)
RAW = (AC(calibrate=False), DoC(calibrate=False), IM(calibrate=False))
THRESHOLDED = (ATCMaxConfidence("reference", calibrate=False), ATCNegativeEntropy("reference", calibrate=False))
CALIBRATED = [
    *(AC(), DoC(), IM(), ATCMaxConfidence(), ATCNegativeEntropy()),
    *(ATCMaxConfidence("reference"), ATCNegativeEntropy("reference")),
]


def estimate(estimator, source, target):
    return estimator.fit(source).estimate(target, interval=False)


def named(estimator):
    return f"{estimator.name}-{getattr(estimator, 'rule', '')}"


@cases
@pytest.mark.parametrize("estimator", RAW + THRESHOLDED, ids=named)
def test_stored_values_of_both_codes(case, estimator):
    """At the public code's own temperature, whose search stops early; it computes in float32, ATC's in float64."""
    expected = CASES[case]["outputs"]
    plain = estimate(estimator, *stored(case)).raw_error
    assert plain == pytest.approx(expected["atc_repo_raw"][f"{estimator.name}_err"], abs=1e-12)
    scaled = estimate(estimator, *stored(case, expected["cot_repo"]["temperature"])).raw_error
    assert scaled == pytest.approx(expected["atc_repo_calibrated_T"][f"{estimator.name}_err"], abs=1e-12)
    assert scaled == pytest.approx(expected["cot_repo"][estimator.name], abs=1e-6)


@cases
@pytest.mark.parametrize("estimator", THRESHOLDED, ids=named)
def test_stored_thresholds(case, estimator):
    expected = CASES[case]["outputs"]
    found = estimate(estimator, *stored(case, expected["cot_repo"]["temperature"])).details["threshold"]
    natural = expected["atc_repo_calibrated_T"][f"{estimator.name}_threshold"]
    assert found == pytest.approx(natural, abs=1e-12)
    in_bits = 1 if estimator.name == "ATC-MC" else np.log(2)
    assert found == pytest.approx(in_bits * expected["cot_repo"][f"threshold_{estimator.name}"], abs=1e-6)


@cases
def test_importance_equals_mandolines_solver(case):
    expected = CASES[case]["outputs"]["mandoline_kliep_bins_err"]
    if isinstance(expected, float):  # unbounded where a target bin holds no source image
        found = estimate(IM(calibrate=False), *stored(case, CASES[case]["outputs"]["cot_repo"]["temperature"]))
        assert found.error == pytest.approx(expected, abs=1e-6)  # where its search ends


@given(seeds)
@settings(max_examples=25)
def test_on_the_source_itself_the_error_is_the_sources(seed):
    source = outputs(seed)
    for estimator in (DoC(), IM(), ATCMaxConfidence(), ATCNegativeEntropy()):
        assert estimate(estimator, source, source).raw_error == pytest.approx(source.mistakes / source.n, abs=1e-9)


@given(seeds, st.floats(0.2, 5))
@settings(max_examples=25)
def test_the_scale_of_the_logits_does_not_matter_where_they_are_calibrated(seed, scale):
    source, target = outputs(seed, 150, strength=1.0), outputs(seed + 1)
    if source_temperature(source.logits, source.labels).warning:
        return
    for estimator in CALIBRATED:
        found = estimate(estimator, *(replace(one, logits=scale * one.logits) for one in (source, target)))
        assert found.raw_error == pytest.approx(estimate(estimator, source, target).raw_error, abs=1 / 60 + 1e-9)


@pytest.mark.parametrize("estimator", CALIBRATED, ids=named)
def test_no_mistake_on_the_source(estimator):
    """Public code: threshold at the end of the list and an error of 1; ATC's 1 for entropies, 0 for confidences."""
    source = Outputs(5 * np.eye(4), np.arange(4))
    found = estimate(estimator, source, Outputs([[1, 0.5, 0.2, 0.1]]))
    assert found.details["temperature"] == 1 and any("no source image" in one for one in found.warnings)
    if estimator.name.startswith("ATC"):
        assert found.error == 0 and found.details["threshold"] is None


def test_every_source_image_named_wrong():
    source = Outputs([[1.0, 0.0], [2.0, 0.0]], [1, 1])
    assert estimate(ATCMaxConfidence(calibrate=False), source, Outputs([[9.0, 0.0]])).error == 1
    assert estimate(ATCMaxConfidence("reference", calibrate=False), source, Outputs([[9.0, 0.0]])).error == 0


def test_confidence_of_the_target_alone_needs_no_labels():
    found = estimate(AC(calibrate=False), Outputs([[1.0, 0.0]]), Outputs([[0.0, 0.0]]))
    assert found.accuracy == 0.5 and found.details["mistakes"] is None
    with pytest.raises(OpenworldError, match="AC needs labels"):
        AC().fit(Outputs([[1.0, 0.0]]))


def test_difference_of_confidences_may_leave_the_unit_interval():
    source = Outputs([[0.1, 0.0]] * 5, [0, 0, 0, 0, 0])
    found = estimate(DoC(calibrate=False), source, Outputs([[9.0, 0.0]]))
    assert found.raw_error < 0 and found.error == 0 and found.accuracy == 1


def test_certain_predictions_have_no_entropy():
    source, target = Outputs([[1e4, 0.0], [0.5, 0.0]], [0, 1]), Outputs([[1e4, 0.0], [0.1, 0.0]])
    found = estimate(ATCNegativeEntropy(calibrate=False), source, target)
    assert found.error == 0.5 and found.sample_scores[0] == 0


def with_confidence(*confidences):
    return np.log([[one, 1 - one] for one in confidences])


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
    conf = [softmax(one.logits, axis=1).max(axis=1) for one in (source, target)]
    bin_of = [np.ceil(np.round(one * bins, 9)) for one in conf]
    weight = [(bin_of[1] == b).mean() / (bin_of[0] == b).mean() for b in bin_of[0]]
    expected = np.average(source.wrong, weights=weight) if sum(weight) else None
    found = estimate(IM(bins, calibrate=False), source, target)
    assert found.raw_error == (None if expected is None else pytest.approx(expected, abs=1e-9))


def test_calibrated_probabilities_correct_an_overconfident_model():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 4000)
    logits = rng.normal(size=(4000, 3)) + 1.5 * np.eye(3)[labels]
    source, target = Outputs(5 * logits[:2000], labels[:2000]), Outputs(5 * logits[2000:], labels[2000:])
    true = target.mistakes / target.n
    found = CBPE().fit(source).estimate(target)
    assert found.details["calibrated_classes"] == 3
    assert abs(found.error - true) < 0.03 < true - estimate(AC(calibrate=False), source, target).error
    assert found.details["sampling_error"] == pytest.approx((true * (1 - true) / 2000) ** 0.5, rel=0.1)


@pytest.mark.parametrize("estimator", [AC(), DoC(), CBPE()], ids=named)
def test_the_interval_is_as_wide_as_other_sources_and_targets_spread(estimator):
    """The source comes in through T and the curves, which are moved to first order."""
    pairs = [(outputs(seed, 300, strength=1.2), outputs(seed + 1000, 500, strength=1.5)) for seed in range(40)]
    found = [estimator.fit(source).estimate(target, resamples=100) for source, target in pairs]
    width = np.mean([high - low for low, high in (one.interval for one in found)]) / (2 * 1.96)
    assert width == pytest.approx(np.std([one.accuracy for one in found]), rel=0.35)


def test_a_calibrated_model_is_left_about_as_it_is():
    source, target = outputs(0, 3000, strength=1.5), outputs(1, 3000, strength=1.5)
    calibrated = [replace(one, logits=one.logits / 2 * 1.5) for one in (source, target)]  # the posterior's logits
    assert estimate(CBPE(), *calibrated).error == pytest.approx(
        estimate(AC(calibrate=False), *calibrated).error, abs=0.02
    )


def test_curves_that_do_not_calibrate_the_source_itself_are_told():
    many = outputs(0, 600, classes=60, strength=3.5)  # ten images a class, and far too unsure
    few = outputs(0, 3000, strength=1.5)
    said = {
        classes: CBPE().fit(source).estimate(source, interval=False)
        for classes, source in {60: replace(many, logits=many.logits / 3), 4: few}.items()
    }
    *_, warning = said[60].warnings
    assert said[60].accuracy < 1 - many.mistakes / many.n - 0.05
    assert f"{100 * said[60].accuracy:.1f}%" in warning and not said[4].warnings


def test_a_class_without_source_images_and_one_told_apart_are_not_calibrated():
    source = Outputs(np.eye(3)[[0, 1] * 30] * 9, [0, 1] * 30)
    assert estimate(CBPE(), source, Outputs(np.eye(3))).details["calibrated_classes"] == 0


def test_cbpe_warns_of_few_source_images_a_class():
    target = outputs(1, 100, 4, 1.5)
    for n, few in ((196, True), (200, False)):
        said = " ".join(CBPE().fit(outputs(0, n, 4, 2.0)).estimate(target, interval=False).warnings)
        assert ("196 source images, 49.0 a class" in said) == few and ("fewer than 50" in said) == few


@given(seeds)
def test_the_rising_curve_equals_scikit_learns(seed):
    IsotonicRegression = pytest.importorskip("sklearn.isotonic").IsotonicRegression
    rng = np.random.default_rng(seed)
    p, true = rng.random(50).round(1 + seed % 2), rng.random(50) < 0.5
    ours, theirs = isotonic(p, true), IsotonicRegression(out_of_bounds="clip").fit(p, true)
    asked = np.linspace(-0.1, 1.1, 50)
    np.testing.assert_allclose(ours(asked), theirs.predict(asked), atol=1e-9)
