"""What fits gather of training images in one streaming pass: sums in float64, and features one by one where needed.

A statistic is a frozen dataclass: detectors that ask for equal ones share them. `add(total, seen)` returns the total
with one more batch in it; it starts from None. The order of batches changes sums by rounding alone, and banks not at
all as long as the images come in the same order, however they are cut into batches.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from openworld._errors import OpenworldError
from openworld.detectors.seen import Seen


@dataclass(frozen=True, eq=False)
class ClassTotals:
    """counts: int64[C]. sums: float64[C, D], of features. dtype: that of the features."""

    counts: Tensor
    sums: Tensor
    dtype: torch.dtype

    @property
    def means(self) -> Tensor:
        """float64[C, D]; NaN for a class without an image."""
        return self.sums / self.counts[:, None]


@dataclass(frozen=True)
class ClassSums:
    """Features summed by class; `correct`: only of images that the model names right."""

    correct: bool = False

    needs: ClassVar[tuple[str, ...]] = ("features", "labels")

    def add(self, total: ClassTotals | None, seen: Seen) -> ClassTotals:
        """The total with one more batch in it."""
        chosen = seen.predictions == seen.labels if self.correct else slice(None)
        labels, features = seen.labels[chosen].to(seen.features.device), seen.features[chosen].double()
        classes = seen.head.classes if seen.head else int(seen.labels.max()) + 1
        if total is not None:
            classes = max(classes, len(total.counts))
        counts = torch.bincount(labels, minlength=classes)
        sums = features.new_zeros(classes, features.shape[1]).index_add_(0, labels, features)
        if total is not None:
            counts[: len(total.counts)] += total.counts
            sums[: len(total.sums)] += total.sums
        return ClassTotals(counts, sums, seen.features.dtype)


@dataclass(frozen=True, eq=False)
class Moments:
    """n: how many images. sum: float64[D]. products: float64[D, D], sum of outer products, or None.

    dtype: that of the features. What is learned in float64 is kept in it: a conversion at every call would cost more
    than most scores.
    """

    n: int
    sum: Tensor
    dtype: torch.dtype
    products: Tensor | None = None

    @property
    def mean(self) -> Tensor:
        """float64[D]."""
        return self.sum / self.n

    def about(self, centre: Tensor) -> Tensor:
        """Mean outer product of (features - centre), float64[D, D]; of the mean, the covariance with 1/N."""
        crossed = torch.outer(self.mean, centre)
        return self.products / self.n - crossed - crossed.mT + torch.outer(centre, centre)


@dataclass(frozen=True)
class Mean:
    """Features summed over all images."""

    needs: ClassVar[tuple[str, ...]] = ("features",)

    def add(self, total: Moments | None, seen: Seen) -> Moments:
        """The total with one more batch in it."""
        found = seen.features.sum(dim=0, dtype=torch.float64)
        dtype = seen.features.dtype
        return (
            Moments(len(seen), found, dtype)
            if total is None
            else Moments(total.n + len(seen), total.sum + found, dtype)
        )


@dataclass(frozen=True)
class Products:
    """Features, or what `lift` makes of them, and their outer products, summed over all images.

    lift: a frozen dataclass called with float64[B, D]; None for the features themselves.
    """

    lift: Any = None

    needs: ClassVar[tuple[str, ...]] = ("features",)

    def add(self, total: Moments | None, seen: Seen) -> Moments:
        """The total with one more batch in it."""
        rows = seen.features.double()
        rows = rows if self.lift is None else self.lift(rows)
        if total is None:
            return Moments(len(rows), rows.sum(dim=0), seen.features.dtype, rows.mT @ rows)
        total.products.addmm_(rows.mT, rows)  # in place: 33 MB for 2,048 features, once per batch
        return Moments(total.n + len(rows), total.sum + rows.sum(dim=0), total.dtype, total.products)


@dataclass(frozen=True, eq=False)
class Rows:
    """features: [M, D]. labels: int64[M] or None. offered: how many images they were drawn from. draws: float64[M]."""

    features: Tensor
    labels: Tensor | None
    offered: int
    draws: Tensor


@dataclass(frozen=True)
class Bank:
    """Features kept one by one: all, or a seeded sample that is balanced over classes where labels are known.

    Args:
        rows: how many to keep at most; None for no limit.
        share: of the images, each drawn with this chance before the limit is looked at.
        seed: of the draws.
    """

    rows: int | None = None
    share: float = 1.0
    seed: int = 0

    needs: ClassVar[tuple[str, ...]] = ("features", "bank")

    def __post_init__(self):
        if not 0 < self.share <= 1 or (self.rows is not None and self.rows < 1):
            raise OpenworldError(
                f"a bank of rows={self.rows} and share={self.share:g} was asked for; expected rows of 1 or more, or "
                "None, and a share in (0, 1]."
            )

    def add(self, total: Rows | None, seen: Seen) -> Rows:
        """The total with one more batch in it."""
        offered = 0 if total is None else total.offered
        generator = np.random.default_rng(self.seed)
        generator.bit_generator.advance(offered)  # one draw per image: the cut into batches does not matter
        draws = torch.from_numpy(generator.random(len(seen))).to(seen.features.device)
        drawn = draws < self.share
        labels = None if seen.labels is None else seen.labels.to(drawn.device)[drawn]
        found = Rows(seen.features[drawn], labels, offered + len(seen), draws[drawn])
        return self._trimmed(found if total is None else _joined(total, found))

    def _trimmed(self, found: Rows) -> Rows:
        if self.rows is None or len(found.features) <= self.rows:
            return found
        ranks = _rank_in_class(found.labels, found.draws)
        # By rank within the class, then by draw: every class keeps as many as the rarest can match, then more.
        order = np.lexsort((found.draws.cpu().numpy(), ranks))[: self.rows]
        kept = torch.from_numpy(np.sort(order)).to(found.features.device)
        labels = None if found.labels is None else found.labels[kept]
        return Rows(found.features[kept], labels, found.offered, found.draws[kept])


@dataclass(frozen=True, eq=False)
class Collected:
    """One number per training image: what `of(seen)` gives, float[N]; `needs` what it looks at."""

    of: Any
    needs: tuple[str, ...]

    def add(self, total: Tensor | None, seen: Seen) -> Tensor:
        """The total with one more batch in it."""
        found = self.of(seen)
        return found if total is None else torch.cat([total, found])


@dataclass(frozen=True)
class Least:
    """The smallest feature of all, as a number."""

    needs: ClassVar[tuple[str, ...]] = ("features",)

    def add(self, total: float | None, seen: Seen) -> float:
        """The total with one more batch in it."""
        found = float(seen.features.min())
        return found if total is None else min(total, found)


def percentile(values: Tensor, percent: float) -> Tensor:
    """The value below which `percent` of a tensor lie, linear between neighbours; any size, 0-d.

    As NumPy's default; `torch.quantile` refuses more than 16 million values, a head of 21,000 classes has more.

    >>> percentile(torch.tensor([0.0, 1.0, 4.0]), 75)
    tensor(2.5000)
    """
    values = values.flatten()
    place = (len(values) - 1) * percent / 100
    low = int(place)
    below = values.kthvalue(low + 1).values
    if low == place:
        return below
    return below + (values.kthvalue(low + 2).values - below) * (place - low)


def _joined(first: Rows, second: Rows) -> Rows:
    if (first.labels is None) != (second.labels is None):
        raise OpenworldError("some training batches have labels and some have none; give labels with all or with none.")
    labels = None if first.labels is None else torch.cat([first.labels, second.labels])
    features, draws = torch.cat([first.features, second.features]), torch.cat([first.draws, second.draws])
    return Rows(features, labels, second.offered, draws)


def _rank_in_class(labels: Tensor | None, draws: Tensor) -> np.ndarray:
    """How many images of the same class have a smaller draw; 0 for all without labels."""
    if labels is None:
        return np.zeros(len(draws))
    classes = labels.cpu().numpy()
    order = np.lexsort((draws.cpu().numpy(), classes))
    starts = np.searchsorted(classes[order], classes[order])
    ranks = np.empty(len(order))
    ranks[order] = np.arange(len(order)) - starts
    return ranks
