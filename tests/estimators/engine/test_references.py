"""References that know nothing."""

import numpy as np
import pytest

from openworld.core.errors import OpenworldError
from openworld.estimators import dirichlet_reference, uniform_reference


def test_uniform_and_dirichlet():
    assert not uniform_reference(3, 2).any()
    drawn = dirichlet_reference(4000, 3, seed=0)
    assert drawn.shape == (4000, 3) and drawn.mean(axis=0) == pytest.approx(np.full(3, 1 / 3), abs=0.02)
    assert np.array_equal(drawn, dirichlet_reference(4000, 3, seed=0))
    assert not np.array_equal(drawn, dirichlet_reference(4000, 3, seed=1))


def test_refusals():
    with pytest.raises(OpenworldError, match="n is 0"):
        uniform_reference(0, 2)
    with pytest.raises(OpenworldError, match="classes is 0"):
        dirichlet_reference(2, 0, seed=0)
