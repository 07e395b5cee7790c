"""What pytorch-ood 0.4.0, oodeel, the code of MCM and GL-MCM, and torch-uncertainty make of the stored scores.

OpenOOD's own numbers are in test_detection. Every stored number is compared here or there, or has its reason below.
"""

import json
from pathlib import Path

import pytest

from openworld.metrics import detection_metrics

pytestmark = pytest.mark.base

CASES = json.loads((Path(__file__).parents[1] / "reference" / "ood_metrics.json").read_text())["cases"]

# Numbers by where they are stored, and which of ours they are.
SAME = {
    "openood/auroc": "auroc",
    "openood/aupr_in": "aupr_in",
    "openood/aupr_out": "aupr_out",
    "exact_no_dropped_points/fpr95_ood_positive": "fpr_out_positive",
    "exact_no_dropped_points/fpr95_id_positive": "fpr_in_positive",
    "exact_no_dropped_points/average_precision_in": "average_precision_in",
    "exact_no_dropped_points/average_precision_out": "average_precision_out",
    "pytorch_ood_0_4_0/AUROC": "auroc",
    "pytorch_ood_0_4_0/AUPR-IN": "aupr_in",
    "pytorch_ood_0_4_0/AUPR-OUT": "aupr_out",
    "pytorch_ood_0_4_0/FPR95TPR": "fpr_out_positive",
    "oodeel/step1/auroc": "auroc",
    "mcm_glmcm_code/auroc": "auroc",
    "mcm_glmcm_code/aupr_id_positive": "average_precision_in",
    "torch_uncertainty_fprx95": "fpr_out_positive",
}


def leaves(entry, path=""):
    """Stored numbers by their place."""
    if not isinstance(entry, dict):
        return {path: entry}
    found = {}
    for name, part in entry.items():
        found |= leaves(part, f"{path}/{name}" if path else name)
    return found


def numbers(name):
    return {place: value for place, value in leaves(CASES[name]).items() if place not in ("id", "ood", "note")}


@pytest.mark.parametrize("name", CASES)
def test_what_others_compute_alike(name):
    report, stored = detection_metrics(CASES[name]["id"], CASES[name]["ood"]), numbers(name)
    for place, metric in SAME.items():
        tolerance = 1e-6 if place.startswith("torch_uncertainty") else 1e-9  # it computes in float32
        assert getattr(report, metric) == pytest.approx(stored[place], abs=tolerance), place
