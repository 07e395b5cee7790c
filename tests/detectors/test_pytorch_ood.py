"""The adapter for pytorch-ood, with stand-ins that have its methods; its own scores are among the stored ones."""

import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

import pytest
import torch
from stored import assert_close, head, judged, stored, training

from openworld import OpenworldError, detectors
from openworld.detectors import (
    ASH,
    DICE,
    FDBD,
    GEN,
    KNN,
    MCM,
    MDS,
    MSP,
    NCI,
    ODIN,
    RMDS,
    SCALE,
    SHE,
    Activations,
    Energy,
    Entropy,
    GradNorm,
    Maps,
    MaxLogit,
    MDSEnsemble,
    NNGuide,
    PytorchOOD,
    RankFeat,
    ReAct,
    ViM,
    fit_together,
    make_detector,
    plan,
    score_together,
)
from openworld.metrics import detection_report
from openworld.testing import small_classifier, small_pictures, small_seen


class NearestNeighbour:
    """As pytorch-ood's KNN: fitted on whole tensors, float64 distances that grow with strangeness."""

    requires_fit = True

    def __init__(self, k):
        self.k = k

    def fit_features(self, features, labels):
        assert labels.dtype == torch.int64
        self.bank = torch.nn.functional.normalize(features.double(), dim=1)
        return self

    def predict_features(self, features):
        distances = torch.cdist(torch.nn.functional.normalize(features.double(), dim=1), self.bank)
        return distances.kthvalue(self.k, dim=1).values


class MaxSoftmax:
    """As pytorch-ood's of that name: logits in, nothing to fit."""

    requires_fit = False

    def predict_logits(self, logits):
        return -logits.softmax(dim=1).amax(dim=1)


class KLMatching:
    """Logits in, and something to fit."""

    requires_fit = True

    def fit_logits(self, logits, labels):
        self.mean = logits.mean(dim=0)

    def predict_logits(self, logits):
        return (logits - self.mean).norm(dim=1)


@pytest.mark.parametrize("k", [1, 5, 50])
def test_features(k):
    fitted = PytorchOOD(NearestNeighbour(k)).fit(training())
    for side in ("id", "ood"):
        assert_close(-fitted.score(judged(side)), stored()["pytorch_ood"][f"KNN_k{k}"][side])


def test_logits():
    fitted = PytorchOOD(MaxSoftmax()).fit(head=head())
    assert_close(-fitted.score(judged("id")), stored()["pytorch_ood"]["MaxSoftmax"]["id"])


def test_beside_ours():
    detectors = {"ours": KNN(5), "theirs": PytorchOOD(NearestNeighbour(5)), "logits": PytorchOOD(KLMatching())}
    fitted = fit_together(detectors, training().split(64))
    scores = score_together(fitted, judged("id"))
    assert_close(-scores["theirs"].square(), scores["ours"])
    expected = training().logits.mean(dim=0)
    torch.testing.assert_close(scores["logits"], -(judged("id").logits - expected).norm(dim=1))


def test_it_says_what_it_needs():
    assert PytorchOOD(MaxSoftmax()).needs == ("logits",)
    learns = PytorchOOD(NearestNeighbour(1))
    assert learns.needs == ("features", "labels", "bank") and learns.name == "pytorch-ood NearestNeighbour"
    with pytest.raises(OpenworldError, match="needs labels"):
        learns.fit(training().features)
    with pytest.raises(OpenworldError, match="object has neither predict_logits nor predict_features"):
        PytorchOOD(object())


def test_features_alone_are_enough_for_what_looks_at_features():
    fitted = PytorchOOD(NearestNeighbour(1)).fit(training().features, training().labels)
    assert fitted.score(Activations(judged("id").features)).shape == (100,)


@pytest.fixture
def library():
    """pytorch-ood itself; of torchvision, which it imports, names that do nothing where that is missing."""
    if find_spec("pytorch_ood") is None:
        pytest.skip("pytorch-ood is not installed")
    blank = None if find_spec("torchvision") else Blank()
    sys.meta_path[:0] = [blank] if blank else []
    yield import_module("pytorch_ood.detector")
    sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not blank]


class Blank(MetaPathFinder, Loader):
    """A torchvision of empty classes."""

    def find_spec(self, name, path=None, target=None):
        return ModuleSpec(name, self, is_package=True) if name.partition(".")[0] == "torchvision" else None

    def create_module(self, spec):
        module = ModuleType(spec.name)
        module.__path__, module.__getattr__ = [], self._empty
        return module

    def exec_module(self, module):
        pass

    @staticmethod
    def _empty(name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


IMAGES, CLASSES = 300, 3
SAME = {
    "DICE": ({"p": 0.9}, DICE(), 1),
    "EnergyBased": ({}, Energy(), 1),
    "Entropy": ({}, Entropy(), 1),
    "fDBD": ({}, FDBD(), CLASSES - 1),
    "GEN": ({}, GEN(), CLASSES),
    "GradNorm": ({"param_filter": "{head}.weight"}, GradNorm(), CLASSES),
    "KLMatching": ({}, detectors.KLMatching(), 1),
    "Mahalanobis": ({}, MDS(), 2 * IMAGES),
    "MultiMahalanobis": ({}, MDSEnsemble(), 2 * IMAGES),
    "MaxLogit": ({}, MaxLogit(), 1),
    "MaxSoftmax": ({}, MSP(), 1),
    "NCI": ({"alpha": 0.001}, NCI(alpha=0.001), 1),
    "NNGuide": ({"k": 10}, NNGuide(k=10, share=1.0), 1),
    "ODIN": ({}, ODIN(), 1),
    "RankFeat": ({}, RankFeat("last"), 1),
    "RMD": ({}, RMDS(), IMAGES),
    "SHE": ({}, SHE(), 1),
}
"""Name -> settings, ours, and by how much ours is larger."""
INVERTED = {"Mahalanobis": 1e-3, "MultiMahalanobis": 1e-3, "RMD": 1e-3}
"""Covariances are inverted in float32; ours are float64."""
ON_FEATURES = {
    "ASH": ({"variant": "ash-b", "percentile": 0.9}, ASH()),
    "ReAct": ({"percentile": 0.9}, ReAct()),
    "SCALE": ({"percentile": 0.85}, SCALE()),
}
OTHERWISE = {"GMM": {"reg": 1e-4}, "Gram": {}, "KNN": {"k": 5}, "MCD": {"mode": "mean"}, "MCM": {}, "NACUE": {},
             "OpenMax": {}, "TemperatureScaling": {}, "VRA": {}}  # fmt: skip
ALONE = {"GradUncertainty": {}, "LTS": {}, "MahalanobisODIN": {}, "PNML": {}}


def of_images(detectors):
    model = small_classifier("cpu")
    route = plan(detectors, model)
    fitted = route.fit([small_pictures(0, IMAGES)])
    return route.score(fitted, [small_pictures(1, 40)[0], small_pictures(1, 40, known=False)[0]])


@pytest.mark.parametrize("name", SAME)
def test_the_real_one_gives_what_ours_gives(name, library):
    settings, ours, factor = SAME[name]
    settings = {key: value.format(head=small_classifier("cpu").head_name) if isinstance(value, str) else value
                for key, value in settings.items()}  # fmt: skip
    scores = of_images({"theirs": make_detector(f"pytorch-ood:{name}", settings), "ours": ours})
    assert_close(scores["ours"] / factor, scores["theirs"], INVERTED.get(name, 1e-4))


def test_the_real_one_with_a_head_of_full_rank(library):
    """The small classifier's three rows nearly add up to zero, and float32 cannot say whether they do."""
    detectors = {"theirs": make_detector("pytorch-ood:ViM", {"d": 8}), "ours": ViM(dimensions=8)}
    scores = score_together(fit_together(detectors, [training()]), judged("ood"))
    assert_close(scores["ours"], scores["theirs"], 1e-4)


@pytest.mark.parametrize("name", ON_FEATURES)
def test_the_real_one_on_maps_of_one_position(name, library):
    settings, ours = ON_FEATURES[name]
    seen = [small_seen(0, IMAGES), small_seen(1, 40)]
    flat = [replace(own, maps=Maps(*[own.features[:, :, None, None]] * 2, torch.nn.Identity())) for own in seen]
    fitted = fit_together({"theirs": make_detector(f"pytorch-ood:{name}", settings), "ours": ours}, flat[:1])
    scores = score_together(fitted, flat[1])
    assert_close(scores["ours"], scores["theirs"], 1e-4)


@pytest.mark.parametrize("name", OTHERWISE | ALONE)
def test_the_real_one_that_we_have_otherwise_or_not(name, library):
    detector = make_detector(f"pytorch-ood:{name}", (OTHERWISE | ALONE)[name])
    if name == "MCM":
        seen = [small_seen(1, 40, known=known) for known in (True, False)]
        scores = torch.cat([detector.fit().score(own) for own in seen])
    else:
        scores = of_images({"theirs": detector})["theirs"]
    assert detection_report(scores[:40], scores[40:]).auroc > 0.7
    if name == "KNN":
        assert_close(-scores.square(), of_images([KNN(5)])["KNN"])
    if name == "MCM":
        assert_close(MCM().fit().score(seen[0]), scores[:40])


def test_the_real_ones_are_all_here(library):
    served = {"ViM", *SAME, *ON_FEATURES, *OTHERWISE, *ALONE}
    assert served | {"WeightedEBO", "odin_preprocessing"} == set(library.__all__)


def test_nothing_of_it_is_imported():
    code = "import sys, openworld.detectors; assert not {'pytorch_ood', 'torchvision', 'sklearn'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
