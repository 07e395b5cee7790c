"""What the stored values say beside the estimates: true errors, calibration errors, and both codes' thresholds."""

import numpy as np
import pytest
from simulated import CASES, stored

from openworld.estimators import COTT, ATCMaxConfidence, ATCNegativeEntropy
from openworld.estimators.engine.temperature import probabilities
from openworld.metrics import expected_calibration_error

cases = pytest.mark.parametrize("case", CASES)


def calibration_error(p, labels):
    return expected_calibration_error(p.max(axis=1), p.argmax(axis=1) == labels, bins=15).value


@cases
def test_true_errors(case):
    expected = CASES[case]["outputs"]
    source, target = stored(case)
    assert source.mistakes == expected["exact_float64"]["n_incorrect_src"]
    assert source.mistakes / source.n == pytest.approx(expected["exact_float64"]["src_err"], abs=1e-12)
    assert target.mistakes / target.n == pytest.approx(expected["exact_float64"]["true_err"], abs=1e-12)
    assert target.mistakes / target.n == pytest.approx(expected["cot_repo"]["true_error"], abs=1e-6)  # float32
    reference = np.mean(target.reference.argmax(axis=1) != target.labels)
    assert reference == pytest.approx(expected["frap"]["fm_true_err_tgt"], abs=1e-12)


@cases
def test_calibration_errors(case):
    expected = CASES[case]["outputs"]
    pair = stored(case, expected["cot_repo"]["temperature"])
    for side, one in zip(("src", "tgt"), pair, strict=True):
        found = calibration_error(probabilities(one.logits, 1.0), one.labels)
        assert found == pytest.approx(expected["exact_float64"][f"ECE15_{side}"], abs=1e-6)
    for tau, value in expected["frap"]["ECE15_fm_tgt"].items():
        found = calibration_error(probabilities(pair[1].reference, float(tau)), pair[1].labels)
        assert found == pytest.approx(value, abs=1e-6)


@cases
def test_other_thresholds(case):
    """Of ATC's code without a temperature; of COT's, which scores by minus the L1 distance, with the quotas it drew."""
    expected = CASES[case]["outputs"]
    for estimator in (ATCMaxConfidence, ATCNegativeEntropy):
        source, target = stored(case)
        found = estimator("reference", calibrate=False).fit(source).estimate(target, interval=False)
        stored_threshold = expected["atc_repo_raw"][f"{estimator.name}_threshold"]
        assert found.details["threshold"] == pytest.approx(stored_threshold, abs=1e-12)
    source, target = stored(case, expected["cot_repo"]["temperature"])
    found = COTT(rule="reference", calibrate=False).fit(source).estimate(target, interval=False)
    assert 2 * (found.details["threshold"] - 1) == pytest.approx(expected["cot_repo"]["threshold_COTT"], abs=1e-6)
