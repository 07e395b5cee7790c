"""What pytorch-ood 0.4.0, oodeel, the code of MCM and GL-MCM, and torch-uncertainty make of the stored scores.

OpenOOD's own numbers are in test_detection. Every stored number is compared here or there, or has its reason below.
"""

import json
from pathlib import Path

import pytest

from openworld.metrics import detection_metrics

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
OTHERS = {
    "openood/fpr95_ood_positive": "of a curve without its collinear points; the exact one is compared",
    "openood/fpr95_id_positive": "likewise",
    "openood/thresh_id_positive": "a threshold, which no report of ours gives",
    "openood/acc": "an accuracy: of predictions, not of scores",
    "pytorch_ood_0_4_0/ACC": "likewise",
    "pytorch_ood_0_4_0/AUTC": "depends on the scale of the scores; no metric of ours",
    "oodeel/step4/auroc": "of every fourth threshold",
    "oodeel/step4/fpr95tpr": "likewise",
    "oodeel/step1/fpr95tpr": "of the threshold before 95 % are reached",
    "mcm_glmcm_code/fpr95_id_positive": "of the recall nearest to 95 %, which may lie below it",
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


@pytest.mark.parametrize("name", CASES)
def test_every_stored_number_is_compared_or_has_its_reason(name):
    assert set(numbers(name)) == {*SAME, *OTHERS}


def test_what_is_not_compared_does_differ_somewhere():
    for place, metric in (
        ("oodeel/step1/fpr95tpr", "fpr_out_positive"),
        ("oodeel/step4/auroc", "auroc"),
        ("mcm_glmcm_code/fpr95_id_positive", "fpr_in_positive"),
    ):
        reports = {name: detection_metrics(case["id"], case["ood"]) for name, case in CASES.items()}
        assert any(abs(getattr(reports[name], metric) - numbers(name)[place]) > 1e-3 for name in CASES)
