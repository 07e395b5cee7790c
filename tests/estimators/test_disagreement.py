"""GDE: stored values, by hand, several partners, and who may be asked."""

import numpy as np
import pytest
from simulated import CASES, outputs, stored

from openworld.core.errors import OpenworldError
from openworld.estimators import GDE, Outputs


@pytest.mark.parametrize("case", CASES)
def test_stored_values(case):
    source, target = stored(case)
    partner = np.eye(target.classes)[CASES[case]["inputs"]["tgt_alt_preds"]]
    found = GDE().fit(source).estimate(Outputs(target.logits, partners=(partner,)))
    assert found.error == pytest.approx(CASES[case]["outputs"]["exact_float64"]["GDE_err"], abs=1e-12)


def test_by_hand():
    target = Outputs([[1, 0], [0, 1], [1, 0]], partners=([[1, 0]] * 3, [[0, 1]] * 3))
    assert GDE().fit(target).estimate(target).error == pytest.approx(1 / 3)
    assert GDE(partner=1).fit(target).estimate(target).error == pytest.approx(2 / 3)
    average = GDE(partner=None).fit(target).estimate(target)
    assert average.error == 0.5 and average.sample_scores.tolist() == [0.5, 0.5, 0.5]


def test_the_source_needs_neither_labels_nor_partners():
    fitted = GDE().fit(Outputs([[1.0, 0.0]]))
    assert fitted.estimate(outputs(0, classes=2, partners=1)).details["mistakes"] is None


def test_a_partner_that_is_not_there():
    data = outputs(0, partners=2)
    with pytest.raises(OpenworldError, match="partner is 2, but there are 2"):
        GDE(partner=2).fit(data).estimate(data)
    with pytest.raises(OpenworldError, match="partner is -1, expected 0 or more"):
        GDE(partner=-1)
