"""Detection metrics: numbers of OpenOOD, IS-OOD and others, loops, scikit-learn, both conventions, edges.

The others: pytorch-ood 0.4.0, oodeel, the code of MCM and GL-MCM, torch-uncertainty.
"""

import json
from functools import reduce
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openworld.metrics import (
    aupr_in,
    aupr_out,
    average_precision_in,
    average_precision_out,
    detection_metrics,
    fpr_in_positive,
    fpr_out_positive,
)

pytestmark = pytest.mark.base

FOLDER = Path(__file__).parents[1] / "reference"
CASES = json.loads((FOLDER / "ood_metrics.json").read_text())["cases"]
ISOOD = json.loads((FOLDER / "isood_metrics.json").read_text())["ood_metrics"]
levels = st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=20)
recalls = st.sampled_from([0.05, 0.5, 0.8, 0.95, 1.0])


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


@pytest.mark.parametrize("name", CASES)
def test_reproduces_openood_and_what_others_compute_alike(name):
    """Exact where OpenOOD drops collinear points; torch-uncertainty computes in float32."""
    report = detection_metrics(CASES[name]["id"], CASES[name]["ood"])
    for place, metric in SAME.items():
        stored = reduce(lambda entry, part: entry[part], place.split("/"), CASES[name])
        tolerance = (
            1e-6 if place.startswith("torch_uncertainty") else 1e-11 if place.startswith(("openood", "exact")) else 1e-9
        )
        assert getattr(report, metric) == pytest.approx(stored, abs=tolerance), place


@pytest.mark.parametrize("case", ISOOD, ids=lambda case: case["name"])
def test_reproduces_is_ood(case):
    report = detection_metrics(case["inputs"]["id_conf"], case["inputs"]["ood_conf"])
    expected = {**case["reference"], **case["extra"]}
    for name in ("fpr_at_95_all_thresholds", "fpr_at_95"):  # the released code drops no threshold that matters here
        assert report.fpr_out_positive == pytest.approx(expected[name], abs=1e-12)
    for name in ("auroc", "aupr_in", "aupr_out", "average_precision_in", "average_precision_out"):
        assert getattr(report, name) == pytest.approx(expected[name], abs=1e-12)


@given(levels, levels)
def test_equals_scikit_learn(inside, outside):
    from sklearn.metrics import auc, average_precision_score, precision_recall_curve

    labels, scores = np.r_[np.ones(len(inside)), np.zeros(len(outside))].astype(int), np.r_[inside, outside]
    areas = (aupr_in, average_precision_in), (aupr_out, average_precision_out)
    for positive, sign, (trapezoid, steps) in ((labels, 1, areas[0]), (1 - labels, -1, areas[1])):
        precision, recall, _ = precision_recall_curve(positive, sign * scores)
        assert trapezoid(inside, outside).value == pytest.approx(auc(recall, precision), abs=1e-12)
        expected = average_precision_score(positive, sign * scores)
        assert steps(inside, outside).value == pytest.approx(expected, abs=1e-12)


@given(levels, levels, recalls)
def test_false_positive_rates_are_their_definition(inside, outside, recall):
    inside, outside = np.array(inside), np.array(outside)
    thresholds = sorted({*inside, *outside})
    accepting = max(x for x in thresholds if np.mean(inside >= x) >= recall)
    flagging = min(x for x in thresholds if np.mean(outside <= x) >= recall)
    assert fpr_in_positive(inside, outside, recall=recall).value == pytest.approx(np.mean(outside >= accepting))
    assert fpr_out_positive(inside, outside, recall=recall).value == pytest.approx(np.mean(inside <= flagging))


def test_a_fixed_prevalence_frees_the_area_from_the_sizes():
    rng = np.random.default_rng(0)
    inside, outside = rng.normal(1, 1, 50), rng.normal(0, 1, 80)
    for area in (aupr_in, aupr_out, average_precision_in, average_precision_out):
        plain, share = area(inside, outside).value, (50 if area in (aupr_in, average_precision_in) else 80) / 130
        assert area(inside, outside, prevalence=share).value == pytest.approx(plain, abs=1e-12)
        many = area(inside, np.tile(outside, 10), prevalence=share).value
        assert many == pytest.approx(plain, abs=1e-12)


def test_the_quotient_reaches_the_recall_it_equals():
    for n in (20, 40, 60, 100, 140, 1000, 45_000):  # 0.95 n is an integer: that many suffice
        inside = np.arange(n, dtype=float)
        assert fpr_in_positive(inside, [n * 0.05 - 0.5]).value == 0.0


def test_undefined():
    report = detection_metrics([1.0], [])
    assert report.auroc is None and report.fpr_in_positive is None and report.reason == "there is no out sample"
    assert (report.n_in, report.n_out) == (1, 0)
    assert aupr_in([], [1.0]).reason == "there is no in sample"
    assert fpr_in_positive([], []).value is None
    assert "no closed form" in aupr_in([1.0], [0.0]).error_reason
