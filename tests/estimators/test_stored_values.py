"""Numbers of other people's code (tests/reference/label_free.json): estimates, thresholds, scores, temperatures."""

from dataclasses import replace

import numpy as np
import pytest
from pytest import approx
from simulated import CASES, stored

from openworld.estimators import (
    AC,
    COT,
    COTT,
    FRAP,
    GDE,
    IM,
    MDE,
    RAP,
    ATCMaxConfidence,
    ATCNegativeEntropy,
    DoC,
    MaNo,
    NuclearNorm,
    Outputs,
    PseudoLabelShift,
    SoftmaxCorr,
    reference_temperature,
)
from openworld.estimators.engine.temperature import confidences, probabilities, source_temperature
from openworld.estimators.mano import from_uniform
from openworld.metrics import expected_calibration_error

pytestmark = pytest.mark.parametrize("case", CASES)
ATC = [kind("reference", calibrate=False) for kind in (ATCMaxConfidence, ATCNegativeEntropy)]
SCORES = {
    "MDE": MDE(size_free=False),
    "nuclear_norm_score": NuclearNorm(),
    "SoftmaxCorr_identity": SoftmaxCorr(),
    "MaNo_p4_softmax": MaNo(normalisation="softmax"),
    "MaNo_p4_taylor": MaNo(normalisation="taylor"),
}
FRAPS = {
    "TTC_own_tau": {},
    "TTC_target_tau_for_both": {"tau_source": "target"},
    **{f"fixed_{tau}": {"tau": tau} for tau in (1.0, 0.1, 0.05, 0.01)},
}


def estimate(estimator, source, target):
    return estimator.fit(source).estimate(target, interval=False)


def at_public_temperature(case):
    """At the public code's own temperature, whose search stops early."""
    return stored(case, CASES[case]["outputs"]["cot_repo"]["temperature"])


def test_true_errors_and_calibration_errors(case):
    expected, (source, target) = CASES[case]["outputs"], at_public_temperature(case)
    exact = expected["exact_float64"]
    assert source.mistakes == exact["n_incorrect_src"] and source.mistakes / source.n == approx(exact["src_err"])
    assert target.mistakes / target.n == approx(exact["true_err"]) == approx(expected["cot_repo"]["true_error"])
    assert np.mean(target.reference.argmax(axis=1) != target.labels) == approx(expected["frap"]["fm_true_err_tgt"])
    sides = [
        (source.logits, 1.0, source.labels, exact["ECE15_src"]),
        (target.logits, 1.0, target.labels, exact["ECE15_tgt"]),
    ]
    sides += [(target.reference, float(t), target.labels, v) for t, v in expected["frap"]["ECE15_fm_tgt"].items()]
    for logits, temperature, labels, value in sides:
        p = probabilities(logits, temperature)
        found = expected_calibration_error(p.max(axis=1), p.argmax(axis=1) == labels, bins=15).value
        assert found == approx(value, abs=1e-6)


def test_temperatures(case):
    """The public code's L-BFGS stops up to 0.4 % before the optimum."""
    expected, (source, _) = CASES[case]["outputs"], stored(case)
    found = source_temperature(source.logits, source.labels).value
    assert found == approx(expected["temperature_exact_float64"], abs=1e-6)
    assert found == approx(expected["cot_repo"]["temperature"], rel=0.005)
    for side, outputs in zip(("src", "tgt"), at_public_temperature(case), strict=True):
        tau = reference_temperature(probabilities(outputs.logits, 1.0), outputs.reference)
        assert tau.value == approx(expected["frap"][f"tau_{side}"], rel=1e-7)
        assert tau.divergence == approx(expected["frap"][f"js_{side}"], abs=1e-12)


@pytest.mark.parametrize("estimator", [AC(False), DoC(False), IM(calibrate=False), *ATC], ids=lambda one: one.name)
def test_confidences_in_both_codes(case, estimator):
    """COT's computes in float32, in bits; ATC's in float64."""
    expected, name = CASES[case]["outputs"], estimator.name
    raw, scaled = estimate(estimator, *stored(case)), estimate(estimator, *at_public_temperature(case))
    for found, key in ((raw, "atc_repo_raw"), (scaled, "atc_repo_calibrated_T")):
        assert found.raw_error == approx(expected[key][f"{name}_err"], abs=1e-12)
        if estimator in ATC:
            assert found.details["threshold"] == approx(expected[key][f"{name}_threshold"], abs=1e-12)
    assert scaled.raw_error == approx(expected["cot_repo"][name], abs=1e-6)
    if estimator in ATC:
        in_bits = expected["cot_repo"][f"threshold_{name}"]
        assert scaled.details["threshold"] == approx(in_bits * (1 if name == "ATC-MC" else np.log(2)), abs=1e-6)


def test_importance_equals_mandolines_solver_and_bins_are_one_kind_of_slices(case):
    """Its search is unbounded where a target bin holds no source image."""
    source, target = at_public_temperature(case)
    found, expected = estimate(IM(calibrate=False), source, target), CASES[case]["outputs"]["mandoline_kliep_bins_err"]
    assert not isinstance(expected, float) or found.error == approx(expected, abs=1e-6)
    bins = (np.searchsorted(np.arange(1, 10) / 10, confidences(one.logits, 1.0)) for one in (source, target))
    pair = (replace(one, slices=np.eye(10)[own]) for one, own in zip((source, target), bins, strict=True))
    solved = estimate(IM(slices="given"), *pair)
    if found.details["dropped_mass"]:
        assert solved.accuracy is None and "nothing is known of it" in solved.warnings[-1]
    else:
        assert solved.error == approx(found.error, abs=1e-6)


def test_transport_with_the_stored_marginal_and_with_the_quotas_that_the_public_code_drew(case):
    """It draws the remainder of each class at random; given the same quotas, the values are its own (float32)."""
    source, target = at_public_temperature(case)
    marginal, exact = tuple(CASES[case]["inputs"]["marginal"]), CASES[case]["outputs"]["exact_float64"]
    found = estimate(COT(marginal, calibrate=False), source, target)
    assert found.error == approx(exact["COT_err"], abs=1e-12) and found.details["quotas"] == exact["COT_quotas"]
    found = estimate(COTT(marginal, "reference", calibrate=False), source, target)
    assert found.error == approx(exact["COTT_err"], abs=1e-12)
    assert 1 - found.details["threshold"] == approx(-exact["COTT_threshold_half_l1"], abs=1e-12)
    public = CASES[case]["outputs"]["cot_repo"]
    drawn = {name: tuple(np.array(public[f"{name}_label_counts_drawn"]) / target.n) for name in ("COT", "COTT")}
    assert estimate(COT(drawn["COT"], False), source, target).error == approx(public["COT"], abs=1e-6)
    found = estimate(COTT(drawn["COTT"], "reference", False), source, target)
    assert found.error == approx(public["COTT"], abs=1e-6)
    assert 2 * (found.details["threshold"] - 1) == approx(public["threshold_COTT"], abs=1e-6)


@pytest.mark.parametrize("variant", FRAPS)
def test_frap(case, variant):
    expected, pair = CASES[case]["outputs"]["frap"][variant], at_public_temperature(case)
    frap = FRAP(rule="reference", calibrate=False, **FRAPS[variant])
    found = estimate(frap, *pair)
    assert found.error == approx(expected["err"], abs=1e-12)
    assert found.details["threshold"] == approx(expected["threshold"], abs=1e-8)
    assert estimate(replace(frap, rule=None), *pair).error == approx(expected["err_no_threshold"], abs=1e-8)


def test_frap_unfused_rap_and_pseudo_labels(case):
    expected, pair = CASES[case]["outputs"]["frap"], at_public_temperature(case)
    frap = FRAP(rule="reference", calibrate=False)
    for unfused in (replace(frap, tau=1.0, reference="foundation"), RAP("reference", calibrate=False)):
        found = estimate(unfused, *pair)
        assert found.error == approx(expected["raw_unfused"]["err"], abs=1e-12)
        assert found.details["threshold"] == approx(expected["raw_unfused"]["threshold"], abs=1e-12)
    assert estimate(replace(frap, reference="pseudo-labels"), *pair).error == approx(expected["Base_err"], abs=1e-12)
    assert estimate(frap, *pair).details["base_weight"] == approx(expected["mean_weight_base_tgt"], abs=1e-8)


def test_disagreement_and_shift_of_pseudo_labels(case):
    source, target = stored(case)
    partner = np.eye(target.classes)[CASES[case]["inputs"]["tgt_alt_preds"]]
    found = estimate(GDE(), source, Outputs(target.logits, partners=(partner,)))
    assert found.error == approx(CASES[case]["outputs"]["exact_float64"]["GDE_err"], abs=1e-12)
    expected = CASES[case]["outputs"]["cot_repo"]["ProjNorm"]
    assert estimate(PseudoLabelShift(), source, target).error == approx(expected, abs=1e-7)


def test_scores_of_sets(case):
    expected, target = CASES[case]["outputs"]["scores"], stored(case)[1]
    for name, score in SCORES.items():
        assert score.score(target) == approx(expected[name], abs=1e-9), name
    assert np.exp(MDE().score(target)) == approx(np.exp(expected["MDE"]) - np.log(target.n), abs=1e-12)
    distance = from_uniform(target.logits)
    assert distance == approx(expected["MaNo_delta_uniform_CE"], abs=1e-9)
    assert MaNo().score(target) == MaNo(normalisation="softmax" if distance > 5 else "taylor").score(target)
