"""OverallAcc and OpenAUC against the authors' numbers."""

import json
from pathlib import Path

import numpy as np
import pytest

from openworld.metrics import open_auc, overall_accuracy

pytestmark = pytest.mark.base

REFERENCE = json.loads((Path(__file__).parents[1] / "reference" / "openworld_auc.json").read_text())


@pytest.mark.parametrize("case", REFERENCE["metric_cases"], ids=lambda case: case["name"])
def test_open_auc_reproduces_xcurve(case):
    given = case["inputs"]
    correct = np.equal(given["base_pred"], given["base_label"])
    found = open_auc(given["base_score"], correct, given["new_score"])
    assert found.value == pytest.approx(case["reference"]["openauc_xcurve_ood_score"], abs=1e-12)


def test_overall_accuracy_reproduces_the_released_code():
    case = REFERENCE["overall_accuracy"][0]
    given, logits = case["inputs"], np.array(case["inputs"]["logits"])
    split = given["n_base_classes"]
    found = overall_accuracy(logits[:, :split], logits[:, split:], given["label"])
    assert found.value == pytest.approx(case["reference"]["overall_acc"], abs=1e-12)
    assert found.standard_error == pytest.approx(np.sqrt(0.5 * 0.5 / (logits.shape[0] - 1)))
    halves = overall_accuracy(logits[:, :split], logits[:, split:], given["label"], groups=["a"] * 15 + ["b"] * 15)
    assert halves.degrees_of_freedom == pytest.approx(1)
