"""What is gathered on shards and merged is what one pass over all images gathers."""

from dataclasses import dataclass, replace
from functools import reduce

import pytest
import torch
from seen_images import whole

from openworld import OpenworldError
from openworld.detectors import KNN, MSP, Activations, GradNorm, Head, NNGuide, ReAct, gather
from openworld.detectors.corp import Fourier
from openworld.detectors.engine.bank import Bank
from openworld.detectors.engine.statistics import ClassSums, Collected, Mean, Products, begins_by_place

STATISTICS = {
    "class sums": ClassSums(),
    "class sums, right": ClassSums(correct=True),
    "mean": Mean(),
    "products": Products(),
    "lifted products": Products(Fourier(16, 1.0, 0)),
    "bank": Bank(),
    "sampled bank": Bank(20, seed=3),
    "small bank": Bank(4, share=0.6, seed=1),
    "collected": Collected(lambda seen: seen.energy, ("logits",)),
}


def gathered(statistic, places, size=13):
    """One total for each shard between two places, none for shards without images."""
    for start, stop in zip(places, places[1:], strict=False):
        total = start if begins_by_place(statistic) else None
        for part in whole().take(slice(start, stop)).split(size) if stop > start else ():
            total = statistic.add(total, part)
        if stop > start:
            yield total


def numbers(total):
    """All tensors and numbers of a total, in order."""
    if isinstance(total, torch.Tensor):
        return [total.double()]
    if isinstance(total, (int, float)):
        return [torch.tensor(float(total)).double()]
    return [
        one for part in vars(total).values() if not isinstance(part, (torch.dtype, type(None))) for one in numbers(part)
    ]


@pytest.mark.parametrize("name", STATISTICS)
def test_shards_merged_are_one_pass(name):
    statistic = STATISTICS[name]
    (once,) = gathered(statistic, [0, 90])
    shards = list(gathered(statistic, [0, 1, 20, 20, 47, 90]))
    before = [[one.clone() for one in numbers(total)] for total in shards]
    merged = reduce(statistic.merge, shards)
    for ours, theirs in zip(numbers(merged), numbers(once), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)
    for total, kept in zip(shards, before, strict=True):
        assert all(map(torch.equal, numbers(total), kept)), "merging leaves shards as they were"


def test_shards_without_images():
    detectors = {"KNN": KNN(1), "MSP": MSP()}
    full, none = gather(detectors, [whole()]), gather(detectors, [whole().take([])], start=90)
    for merged in (full.merge(none), none.merge(full)):
        assert len(merged.fit()["KNN"].state) == 90
    with pytest.raises(OpenworldError, match="no training image, but KNN learns"):
        none.merge(none).fit()


@pytest.mark.parametrize("sign", [1, -1])
def test_the_least_feature_may_lie_in_any_shard(sign):
    head, rows = Head(torch.eye(2)), torch.tensor([[1.0, 2.0]])
    first, second = (gather({"GradNorm": GradNorm()}, [Activations(one, head)]) for one in (sign * rows, -sign * rows))
    assert "the smallest here is -2" in first.merge(second).fit()["GradNorm"].warnings[0]


@dataclass(frozen=True)
class Count:
    """A statistic of another package that cannot be merged."""

    needs = ("features",)

    def add(self, total, seen):
        return (total or 0) + len(seen)


@dataclass(frozen=True)
class Counting(MSP):
    name = "Counting"
    gathers = (Count(),)

    def learn(self, head, count):
        return count


def one(detector, seen=None, **how):
    return gather({detector.name: detector}, [whole() if seen is None else seen], **how)


@pytest.mark.parametrize(
    ("detector", "other", "said"),
    [
        (KNN(1), one(KNN(2)), "other detectors or settings; gather both for the same"),
        (KNN(1), one(KNN(1), replace(whole(), head=Head(torch.rand(3, 24)))), "the heads of the shards differ"),
        (Counting(), one(Counting()), "Count has no `merge`; gather all training images in one pass"),
        (ReAct(bank=20), one(ReAct(bank=20)), "ends before image 90, the next begins with image 0.*start=90"),
        (NNGuide(1, 0.5), one(NNGuide(1, 0.5)), "the next begins with image 0"),
    ],
)
def test_what_cannot_be_merged(detector, other, said):
    with pytest.raises(OpenworldError, match=said):
        one(detector).merge(other)
