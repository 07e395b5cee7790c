"""MaNo: stored values of both normalisations and of the choice between them, rows of equal logits."""

import numpy as np
import pytest
from simulated import CASES, outputs, stored

from openworld.core.errors import OpenworldError
from openworld.estimators import MaNo, Outputs
from openworld.estimators.mano import from_uniform

cases = pytest.mark.parametrize("case", CASES)


@cases
@pytest.mark.parametrize("normalisation", ["softmax", "taylor"])
def test_stored_values(case, normalisation):
    expected = CASES[case]["outputs"]["scores"][f"MaNo_p4_{normalisation}"]
    assert MaNo(normalisation=normalisation).score(stored(case)[1]) == pytest.approx(expected, abs=1e-12)


@cases
def test_softmax_is_kept_where_predictions_are_far_from_uniform(case):
    expected, target = CASES[case]["outputs"]["scores"], stored(case)[1]
    distance = from_uniform(target.logits)
    assert distance == pytest.approx(expected["MaNo_delta_uniform_CE"], abs=1e-9)
    chosen = "softmax" if distance > 5 else "taylor"
    assert MaNo().score(target) == MaNo(normalisation=chosen).score(target)


def test_equal_logits_prefer_no_class():
    assert MaNo(normalisation="taylor").score(Outputs(np.ones((3, 4)))) == pytest.approx(1 / 4)


def test_other_powers():
    target = outputs(0)
    assert MaNo(power=1, normalisation="softmax").score(target) == pytest.approx(1 / 4)


def test_refusals():
    with pytest.raises(OpenworldError, match="did you mean 'taylor'"):
        MaNo(normalisation="tailor")
    with pytest.raises(OpenworldError, match="power is 0"):
        MaNo(power=0)
