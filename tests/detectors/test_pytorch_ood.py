"""The adapter for pytorch-ood, with stand-ins that have its methods; its own scores are among the stored ones."""

import subprocess
import sys

import pytest
import torch
from stored import assert_close, head, judged, stored, training

from openworld import OpenworldError
from openworld.detectors import KNN, Activations, PytorchOOD, fit_together, score_together


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


def test_the_real_one_where_it_is_installed():
    """It imports torchvision; the stand-ins above serve where that is missing."""
    pytest.importorskip("torchvision")
    detectors = pytest.importorskip("pytorch_ood.detector")
    fitted = PytorchOOD(detectors.KNN(encoder=None, k=5)).fit(training())
    assert_close(-fitted.score(judged("id")), stored()["pytorch_ood"]["KNN_k5"]["id"])


def test_nothing_of_it_is_imported():
    code = "import sys, openworld.detectors; assert not {'pytorch_ood', 'torchvision', 'sklearn'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
