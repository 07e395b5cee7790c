"""Scores of OpenOOD @ 3c35632, pytorch-ood 0.4.0, IS-OOD @ e771abb and released scripts, on the same inputs.

Tolerances are those stated with the numbers: 1e-5 of the largest score; 1e-4 for ViM, whose public code takes a general
eigen-decomposition of float32 features. Of what was computed with them, logits and maps are not kept here: they are
inputs of the scores, and were equal to ours. Nor are predictions: no detector of ours gives one, and OpenOOD's are
those of shaped logits for DICE, ASH, SCALE, ReAct and VRA, which differ from the classifier's own. OpenOOD's agreement
with pytorch-ood is not kept either, because both are compared with ours.
"""

import pytest
import torch
from stored import assert_close, head, judged, metrics, more, stored, tensor, training

from openworld.detectors import (
    ASH,
    DICE,
    FDBD,
    GEN,
    KNN,
    MDS,
    MSP,
    NCI,
    RMDS,
    SCALE,
    SHE,
    VRA,
    Energy,
    Entropy,
    GradNorm,
    Head,
    KLMatching,
    MaxLogit,
    NNGuide,
    OpenMax,
    ReAct,
    ViM,
)
from openworld.detectors.engine.statistics import ClassSums, Mean, percentile
from openworld.metrics import detection_metrics

OPENOOD = {
    "msp": MSP(),
    "maxlogit": MaxLogit(),
    "energy_T2": Energy(2),
    "mds": MDS(),
    "gradnorm": GradNorm(),
    "knn_k1": KNN(1),
    "knn_k50": KNN(50),
    "dice_p90": DICE(90),
    "dice_p30": DICE(30),
    "ash_b_p65": ASH("b", 65),
    "ash_s_p65": ASH("s", 65),
    "ash_p_p65": ASH("p", 65),
    "ash_p_p90": ASH("p", 90),
    "react_p85": ReAct(85),
    "scale_p65": SCALE(65),
    "scale_p85": SCALE(85),
    "vim_d20": ViM(20),
    "fdbd_dist1": FDBD(),
    "nnguide_k5": NNGuide(5, 1.0),
    "nnguide_k20": NNGuide(20, 1.0),
    "gen_g0.1_m20": GEN(0.1, 20),
    "gen_g0.5_m5": GEN(0.5, 5),
    "vra_90_10": VRA(90, 10),
    "nci_a0.0001": NCI(1e-4),
    "temp_softmax_tau0.01": MSP(0.01),
}
LEARNED = {("mds", "class_mean_row0"), ("mds", "precision_trace"), ("react_p85", "threshold"), ("vra_90_10", "high")}
LEARNED |= {(label, part) for label in ("dice_p90", "dice_p30") for part in ("threshold", "kept_weights")}
LEARNED |= {("vra_90_10", "low"), ("vim_d20", "alpha"), ("vim_d20", "u")}
HELD_OUT = ("react_p85", "vra_90_10", "react_p90")  # fitted on every second training image
# pytorch-ood's scores grow with strangeness; where it scales them, by how much ours are larger.
PYTORCH_OOD = {
    "MaxSoftmax": (MSP(), 1),
    "MaxLogit": (MaxLogit(), 1),
    "EnergyBased": (Energy(), 1),
    "GEN_g0.1_m10": (GEN(0.1, 10), 10),
    "Mahalanobis": (MDS(), 400),
    "RMD": (RMDS(), 200),
    "DICE_p0.9": (DICE(90), 1),
    "DICE_p0.7": (DICE(70), 1),
    "ViM_d8": (ViM(8), 1),
    "ViM_d20": (ViM(20), 1),
    "fDBD": (FDBD(), 19),
    "NNGuide_k5": (NNGuide(5, 1.0), 1),
    "NCI_a0.01": (NCI(0.01), 1),
    "GradNorm_fc_weight": (GradNorm(), 20),
    "GradNorm_all_params": (GradNorm(bias=True), 20),
    "ASH_ash-b_p0.65": (ASH("b", 65), 1),
    "ASH_ash-s_p0.65": (ASH("s", 65), 1),
    "ASH_ash-p_p0.65": (ASH("p", 65), 1),
    "ASH_ash-b_p0.9": (ASH("b", 90), 1),
    "ASH_ash-s_p0.9": (ASH("s", 90), 1),
    "ASH_ash-p_p0.9": (ASH("p", 90), 1),
    "SCALE_p0.65": (SCALE(65), 1),
    "SCALE_p0.85": (SCALE(85), 1),
    "ReAct_p0.9": (ReAct(90), 1),
}
DISTANCES = {"KNN_k1": KNN(1), "KNN_k5": KNN(5), "KNN_k50": KNN(50)}  # ours are squared
# Scores that are not stored themselves, but AUROC and error rates of them are.
MEASURED = {
    "toy_msp": MSP(),
    "toy_mds": MDS(),
    "toy_knn_k5": KNN(5),
    "toy_ash_b_p65": ASH("b", 65),
    "toy_scale_p85": SCALE(85),
    "toy_nnguide_k5": NNGuide(5, 1.0),
    "toy_react_p90": ReAct(90),
    "toy_she_inner": SHE(),
}


def scores_of(detector, label=""):
    fitted = detector.fit(training(2 if label in HELD_OUT or "eact" in label else 1))
    return {side: fitted.score(judged(side)) for side in ("id", "ood")}


def tolerance_of(label):
    return 1e-4 if label.lower().startswith("vim") else 1e-5


@pytest.mark.parametrize("label", OPENOOD)
def test_openood(label):
    for side, scores in scores_of(OPENOOD[label], label).items():
        assert_close(scores, stored()["openood"][label][side], tolerance_of(label))


def test_nothing_stored_is_left_out():
    """`params` say in words what the label says; `fit_split` is the half that HELD_OUT are fitted on."""
    assert set(stored()["openood"]) == set(OPENOOD)
    assert set(stored()["pytorch_ood"]) == {*PYTORCH_OOD, *DISTANCES}
    for library in ("openood", "pytorch_ood"):
        assert {part for one in stored()[library].values() for part in one} <= {"id", "ood", "params", "fitted"}
    learned = {(label, part) for label, one in stored()["openood"].items() for part in one.get("fitted", {})}
    assert learned == LEARNED | {(label, "fit_split") for label in ("react_p85", "vra_90_10")}
    assert set(stored()) == {"about", "features", "openood", "pytorch_ood", "kernel_pca", "vlm", "images", "is_ood"}
    assert set(stored()["is_ood"]) == {"about", "detectors_on_features", "odin_linear", "rankfeat_toy"}
    assert set(stored()["is_ood"]["detectors_on_features"]["reference_confidence"]) == set(IS_OOD)
    assert set(stored()["kernel_pca"]["scores"]) == {"cop_r0.9", "corp_r0.5_g3_M48"}
    assert set(stored()["vlm"]["scores"]) == {"T1", "T0.01"}


@pytest.mark.parametrize("label", PYTORCH_OOD)
def test_pytorch_ood(label):
    detector, factor = PYTORCH_OOD[label]
    # pytorch-ood adds 1e-6 to the covariance before it inverts it, which moves its distances by 2e-5 here.
    tolerance = 3e-5 if label in ("Mahalanobis", "RMD") else tolerance_of(label)
    for side, scores in scores_of(detector, label).items():
        assert_close(-scores / factor, stored()["pytorch_ood"][label][side], tolerance)


@pytest.mark.parametrize("label", DISTANCES)
def test_pytorch_ood_nearest_neighbours(label):
    for side, scores in scores_of(DISTANCES[label]).items():
        assert_close((-scores).sqrt(), stored()["pytorch_ood"][label][side])


def test_what_was_learned():
    fitted = {name: one["fitted"] for name, one in stored()["openood"].items() if "fitted" in one}
    moments, classes = Mean().add(None, training()), ClassSums().add(None, training())
    for percent in (90, 30):
        theirs = fitted[f"dice_p{percent}"]
        assert int((DICE(percent).fit(training()).state.weight != 0).sum()) == theirs["kept_weights"]
        threshold = percentile(head().weight * moments.mean.float(), percent)
        assert float(threshold) == pytest.approx(theirs["threshold"], abs=1e-6)
    mds = MDS().fit(training())
    assert_close(classes.means[0], fitted["mds"]["class_mean_row0"])
    precision = mds.state.whitening @ mds.state.whitening.mT
    assert float(precision.trace()) == pytest.approx(fitted["mds"]["precision_trace"], rel=1e-4)
    assert float(ReAct(85).fit(training(2)).state) == pytest.approx(fitted["react_p85"]["threshold"], rel=1e-6)
    low, high = VRA(90, 10).fit(training(2)).state
    assert (low, high) == pytest.approx((fitted["vra_90_10"]["low"], fitted["vra_90_10"]["high"]), rel=1e-6)
    vim = ViM(20).fit(training()).state
    assert vim.weight == pytest.approx(fitted["vim_d20"]["alpha"], rel=1e-5)
    assert_close(vim.origin, fitted["vim_d20"]["u"], 1e-4)


@pytest.mark.parametrize("side", ["id", "ood"])
def test_further_detectors_of_pytorch_ood(side):
    def theirs(label):
        return torch.tensor(more()[label][side], dtype=torch.float64)

    assert_close(Entropy().fit(training()).score(judged(side)), -theirs("Entropy"))
    for alpha in (3, 10):
        unknown = -OpenMax(alpha, 5).fit(training()).score(judged(side)).expm1()
        assert_close(unknown, theirs(f"OpenMax_a{alpha}_t5"), 1e-4)  # SciPy's search for the tails ends early
    # Ours is the nearest class, theirs the predicted one, which mostly is the nearest.
    farther = -theirs("KLMatching") - KLMatching().fit(training()).score(judged(side))
    assert farther.max() < 1e-6 and (farther > -1e-6).double().mean() > 0.5


@pytest.mark.parametrize("label", MEASURED)
def test_auroc_and_error_rates_of_our_scores(label):
    scores = scores_of(MEASURED[label], label)
    report = detection_metrics(scores["id"].numpy(), scores["ood"].numpy())
    theirs, exact = metrics()[label]["openood"], metrics()[label]["exact_no_dropped_points"]
    assert report.auroc == pytest.approx(theirs["auroc"], abs=1e-9)
    assert report.fpr_out_positive == pytest.approx(exact["fpr95_ood_positive"], abs=1e-9)
    assert report.fpr_in_positive == pytest.approx(exact["fpr95_id_positive"], abs=1e-9)
    assert report.aupr_in == pytest.approx(theirs["aupr_in"], abs=1e-9)


IS_OOD = {
    "msp": MSP(),
    "ash_b_percentile90": ASH(),
    "dice_p90": DICE(),
    "gradnorm": GradNorm(),
    "knn_k5": KNN(5),
    "mds": MDS(),
}


@pytest.mark.parametrize("label", IS_OOD)
def test_is_ood(label):
    case = stored()["is_ood"]["detectors_on_features"]
    inputs = {name: tensor(values) for name, values in case["inputs"].items() if name[:2] in ("fc", "tr", "te")}
    of_classifier = Head(inputs["fc_weight"], inputs["fc_bias"])
    fitted = IS_OOD[label].fit(inputs["train_features"], inputs["train_labels"].long(), of_classifier)
    assert_close(fitted.score(inputs["test_features"]), case["reference_confidence"][label])
