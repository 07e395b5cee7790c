"""SoftmaxCorr: stored values, frequencies from a reference."""

import numpy as np
import pytest
from simulated import CASES, outputs, stored

from openworld.core.errors import OpenworldError
from openworld.estimators import Outputs, SoftmaxCorr


@pytest.mark.parametrize("case", CASES)
def test_stored_values(case):
    expected = CASES[case]["outputs"]["scores"]["SoftmaxCorr_identity"]
    assert SoftmaxCorr().score(stored(case)[1]) == pytest.approx(expected, abs=1e-12)


def test_frequencies_of_the_reference():
    labels = np.repeat([0, 1, 2], [30, 10, 5])
    certain = Outputs(99 * np.eye(3)[labels], reference=np.eye(3)[labels])
    assert SoftmaxCorr(frequencies="reference").score(certain) == pytest.approx(1)
    assert SoftmaxCorr().score(certain) == pytest.approx(45 / np.sqrt((30**2 + 10**2 + 5**2) * 3))


def test_refusals():
    with pytest.raises(OpenworldError, match="frequencies: unknown value"):
        SoftmaxCorr(frequencies="labels")
    with pytest.raises(OpenworldError, match="needs reference"):
        SoftmaxCorr(frequencies="reference").score(Outputs(outputs(0).logits))
