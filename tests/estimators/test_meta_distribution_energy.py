"""MDE: stored values, sets of several sizes, equal energies."""

import numpy as np
import pytest
from simulated import CASES, outputs, stored

from openworld.core.errors import OpenworldError
from openworld.estimators import MDE, Outputs


@pytest.mark.parametrize("case", CASES)
def test_stored_values(case):
    expected, target = CASES[case]["outputs"]["scores"]["MDE"], stored(case)[1]
    assert MDE(size_free=False).score(target) == pytest.approx(expected, abs=1e-12)
    assert np.exp(MDE().score(target)) == pytest.approx(np.exp(expected) - np.log(target.n), abs=1e-12)


def test_the_same_images_ten_times_over_score_the_same():
    once = outputs(0)
    often = Outputs(np.tile(once.logits, (10, 1)))
    assert MDE().score(often) == pytest.approx(MDE().score(once), abs=1e-9)
    assert MDE(size_free=False).score(often) > MDE(size_free=False).score(once)


def test_temperature_is_one_scale():
    one = outputs(0)
    doubled = Outputs(2 * one.logits)
    assert MDE(temperature=2.0, size_free=False).score(doubled) != MDE(size_free=False).score(one)


def test_equal_energies_have_no_spread():
    assert MDE().score(Outputs(np.ones((7, 3)) * 0.1)) is None
    assert MDE().score(outputs(0).take([0])) is None


def test_refusals():
    with pytest.raises(OpenworldError, match="temperature is 0"):
        MDE(temperature=0)
