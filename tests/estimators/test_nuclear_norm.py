"""Nuclear norm: stored values, its range."""

import numpy as np
import pytest
from simulated import CASES, outputs, stored

from openworld.estimators import NuclearNorm, Outputs


@pytest.mark.parametrize("case", CASES)
def test_stored_values(case):
    expected = CASES[case]["outputs"]["scores"]["nuclear_norm_score"]
    assert NuclearNorm().score(stored(case)[1]) == pytest.approx(expected, abs=1e-9)


def test_certain_and_spread_is_the_most():
    assert NuclearNorm().score(Outputs(99 * np.eye(4)[np.arange(40) % 4])) == pytest.approx(1)
    assert NuclearNorm().score(Outputs(99 * np.eye(4)[np.zeros(40, int)])) == pytest.approx(0.5)
    assert NuclearNorm().score(outputs(0, 2000, strength=3.0)) > NuclearNorm().score(outputs(0, 2000, strength=1.0))
