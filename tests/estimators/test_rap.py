"""RAP is FRAP with an uncalibrated, unfused reference."""

import pytest
from simulated import CASES, outputs, stored

from openworld.core.errors import OpenworldError
from openworld.estimators import FRAP, RAP


def test_it_is_a_setting_of_frap():
    source, target = outputs(0), outputs(1)
    fitted = RAP().fit(source)
    assert fitted.estimator == RAP() and fitted.estimator.name == "RAP"
    twin = FRAP(tau=1.0, reference="foundation").fit(source).estimate(target)
    assert fitted.estimate(target).error == twin.error and fitted.estimate(target).interval == twin.interval


@pytest.mark.parametrize("case", CASES)
def test_stored_values(case):
    expected = CASES[case]["outputs"]
    source, target = stored(case, expected["cot_repo"]["temperature"])
    found = RAP(rule="reference", calibrate=False).fit(source).estimate(target)
    assert found.error == pytest.approx(expected["frap"]["raw_unfused"]["err"], abs=1e-12)


def test_an_unknown_rule():
    with pytest.raises(OpenworldError, match="rule: unknown value 'median'"):
        RAP(rule="median")
