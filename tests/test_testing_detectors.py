"""The contract suite for detectors of other packages: it passes ours and the example, and catches broken promises."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch

from openworld.detectors import KNN, MDS, MSP, Energy, MaxLogit
from openworld.testing import check_detector, small_classifier, small_seen

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "plug_in_detector"
sys.path.append(str(EXAMPLE))

from nearest_means import NearestMeans  # noqa: E402


@pytest.mark.parametrize("nearest", [1, 2])
def test_the_example_keeps_every_promise(nearest):
    check_detector(NearestMeans(nearest))


def test_the_example_is_a_cosine():
    fitted = NearestMeans().fit(torch.tensor([[2.0, 0.0], [0.0, 3.0]]), torch.tensor([0, 1]))
    torch.testing.assert_close(fitted.score(torch.tensor([[3.0, 4.0]])), torch.tensor([0.8]))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU at hand")
@pytest.mark.parametrize("detector", [MSP(), KNN(3), MDS(), NearestMeans()], ids=lambda one: one.name)
def test_on_a_gpu(detector):
    check_detector(detector, device="cuda")


def test_the_world_is_always_the_same_and_known():
    assert small_classifier() is small_classifier()
    first, second = small_seen(5), small_seen(5)
    assert torch.equal(first.features, second.features) and torch.equal(first.patches, second.patches)
    assert (first.predictions == first.labels).float().mean() > 0.95
    assert small_seen(5, known=False).probabilities.amax(dim=1).mean() < first.probabilities.amax(dim=1).mean()


@dataclass(frozen=True)
class Upside(MSP):
    def read(self, state, seen):
        return -super().read(state, seen)


@dataclass(frozen=True)
class Relative(Energy):
    def read(self, state, seen):
        return super().read(state, seen) - 0.1 * seen.energy.mean()


@dataclass(frozen=True)
class Column(MaxLogit):
    def read(self, state, seen):
        return super().read(state, seen)[:, None]


@dataclass(frozen=True)
class Peeking(MaxLogit):
    def read(self, state, seen):
        return super().read(state, seen) + (0 if seen.labels is None else 1)


@dataclass(frozen=True)
class Spoiling(MaxLogit):
    def read(self, state, seen):
        seen.maps.early.zero_()
        return super().read(state, seen)


@dataclass(frozen=True)
class Greedy(KNN):
    needs = ("features",)


@dataclass(frozen=True)
class LastBatch(KNN):
    @property
    def gathers(self):
        return (Last(),)

    def learn(self, head, rows):
        return rows

    needs = ("features", "bank")


@dataclass(frozen=True)
class Last:
    needs = ("features", "bank")

    def add(self, total, seen):
        return seen.unit

    def merge(self, first, second):
        return second


@dataclass(frozen=True)
class Guessing(MDS):
    needs = ("features", "labels")

    def fit(self, features=None, labels=None, head=None):
        seen = features
        if seen is not None and seen.labels is None:
            seen = replace(seen, labels=torch.arange(len(seen)) % 2)
        return super().fit(seen, labels, head)


@dataclass(frozen=True)
class Unwritable(KNN):
    def learn(self, head, rows):
        return [super().learn(head, rows)]

    def read(self, state, seen):
        return super().read(state[0], seen)


@dataclass
class Thawed:
    temperature: float = 1.0
    name, paper, summary, needs, gathers = "Thawed", "none", "can be changed", ("logits",), ()


@pytest.mark.parametrize(
    ("detector", "promise"),
    [
        (Upside(), "AUROC of what it knows against noise is 0.00; turn the sign"),
        (Relative(), "scores (in another order|alone) differ"),
        (Column(), r"a score an image, not \[90, 1\]"),
        (Peeking(), "labels are looked at"),
        (Spoiling(), "what was seen is not changed"),
        (Greedy(3), "needs and gathers disagree on bank"),
        (LastBatch(3), "scores fitted on batches of 7 differ"),
        (Guessing(), "training images without labels must be refused"),
        (Unwritable(3), "survives_a_file: OpenworldError: .* holds a list"),
        (Thawed(), "settings are frozen"),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_broken_promise_is_named(detector, promise):
    with pytest.raises(AssertionError, match=promise):
        check_detector(detector)
