"""What fits gather of training images in one streaming pass: sums in float64; features one by one are in `bank`.

A statistic is a frozen dataclass: detectors that ask for equal ones share them. `add(total, activations)` returns
the total with one more batch in it; it starts from None, or, where a statistic draws `by_place`, from the place of
the first image among all training images. `merge(first, second)` is the total of two shards of the images, gathered
apart; neither is changed. How images are cut into batches and shards changes sums by rounding alone, and banks not at
all as long as the images come in the same order.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor

from openworld.core.errors import OpenworldError, present
from openworld.detectors.engine.activations import Activations


class Statistic:
    """Statistics to which a batch is a shard."""

    def add(self, total: Any, activations: Activations) -> Any:
        batch = self.total_of(activations)
        return batch if total is None else self.merge(total, batch)

    def total_of(self, activations: Activations) -> Any:
        """The total of one batch alone."""
        raise NotImplementedError

    def merge(self, first: Any, second: Any) -> Any:
        """The total of two batches, or shards."""
        raise NotImplementedError


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
class ClassSums(Statistic):
    """Features summed by class; `correct`: only of images that the model names right.

    of: "features" by their labels; "probabilities", softmax by the class that the model names, at which no label is
    looked.
    """

    correct: bool = False
    of: Literal["features", "probabilities"] = "features"

    @property
    def needs(self) -> tuple[str, ...]:
        """What it looks at."""
        return ("features", "labels") if self.of == "features" else ("logits",)

    def total_of(self, activations: Activations) -> ClassTotals:
        if self.of == "features":
            values, labels = activations.tensor("features"), activations.tensor("labels")
            width = activations.head.classes if activations.head else int(labels.max()) + 1
        else:
            values, labels = activations.probabilities, activations.predictions
            width = values.shape[1]
        labels = labels.to(values.device)
        chosen = activations.predictions == labels if self.correct else slice(None)
        rows, classes = values[chosen].double(), labels[chosen]
        counts = torch.bincount(classes, minlength=width)
        sums = rows.new_zeros(width, rows.shape[1]).index_add_(0, classes, rows)
        return ClassTotals(counts, sums, values.dtype)

    def merge(self, first: ClassTotals, second: ClassTotals) -> ClassTotals:
        few, many = sorted((first, second), key=lambda total: len(total.counts))
        counts, sums = many.counts.clone(), many.sums.clone()
        counts[: len(few.counts)] += few.counts.to(counts.device)
        sums[: len(few.sums)] += few.sums.to(sums.device)
        return ClassTotals(counts, sums, first.dtype)


@dataclass(frozen=True, eq=False)
class Moments:
    """n images; sum float64[D]; products float64[D, D], the sum of outer products, or None; dtype of the features."""

    # What is learned in float64 is kept in that: a conversion at every call would cost more than most scores.

    n: int
    sum: Tensor
    dtype: torch.dtype
    products: Tensor | None = None

    @property
    def mean(self) -> Tensor:
        """float64[D]."""
        return self.sum / self.n

    @property
    def outer(self) -> Tensor:
        """The sum of outer products, which must be there."""
        return present(self.products, "the sum of outer products")

    def about(self, centre: Tensor) -> Tensor:
        """Mean outer product of (features - centre), float64[D, D]; of the mean, the covariance with 1/N."""
        crossed = torch.outer(self.mean, centre)
        return self.outer / self.n - crossed - crossed.mT + torch.outer(centre, centre)


@dataclass(frozen=True)
class Mean(Statistic):
    """Features summed over all images; `ranked`: those of each image in ascending order, so place by place."""

    ranked: bool = False

    needs: ClassVar[tuple[str, ...]] = ("features",)

    def total_of(self, activations: Activations) -> Moments:
        features = activations.tensor("features")
        features = features.sort(dim=1).values if self.ranked else features
        return Moments(len(features), features.sum(dim=0, dtype=torch.float64), features.dtype)

    def merge(self, first: Moments, second: Moments) -> Moments:
        return Moments(first.n + second.n, first.sum + second.sum.to(first.sum.device), first.dtype)


@dataclass(frozen=True)
class Products:
    """Features, or what `lift` makes of float64[B, D], and their outer products, summed over all images."""

    lift: Any = None

    needs: ClassVar[tuple[str, ...]] = ("features",)

    def add(self, total: Moments | None, activations: Activations) -> Moments:
        features = activations.tensor("features")
        rows = features.double() if self.lift is None else self.lift(features.double())
        if total is None:
            return Moments(len(rows), rows.sum(dim=0), features.dtype, rows.mT @ rows)
        total.outer.addmm_(rows.mT, rows)  # in place: 33 MB for 2,048 features, once per batch
        return Moments(total.n + len(rows), total.sum + rows.sum(dim=0), total.dtype, total.products)

    def merge(self, first: Moments, second: Moments) -> Moments:
        device = first.sum.device
        total, products = first.sum + second.sum.to(device), first.outer + second.outer.to(device)
        return Moments(first.n + second.n, total, first.dtype, products)


@dataclass(frozen=True, eq=False)
class Collected(Statistic):
    """One number per training image: what `of(activations)` gives, float[N]; `needs` what it looks at."""

    of: Any
    needs: tuple[str, ...]

    def total_of(self, activations: Activations) -> Tensor:
        return self.of(activations)

    def merge(self, first: Tensor, second: Tensor) -> Tensor:
        return torch.cat([first, second.to(first.device)])


@dataclass(frozen=True, eq=False)
class ByLayer:
    """names: of the layers. parts: one for each: totals, and what detectors learn of them."""

    names: tuple[str, ...]
    parts: tuple


@dataclass(frozen=True)
class PerLayer:
    """A statistic of what `of` makes of layers, "pooled", "influence" or a call, in place of features; () for all."""

    statistic: Any
    layers: tuple[str, ...] = ()
    of: Any = "pooled"
    logits: bool = False

    @property
    def needs(self) -> tuple[str, ...]:
        """Layers, with their gradient for the influence, and what the statistic needs beside features."""
        gradients = ("layer gradients",) if self.of == "influence" else ()
        return ("layers", *gradients, *(need for need in self.statistic.needs if need != "features"))

    @property
    def by_place(self) -> bool:
        return begins_by_place(self.statistic)

    def add(self, total: ByLayer | int | None, activations: Activations) -> ByLayer:
        seen = self._as_features(activations)
        before = total.parts if isinstance(total, ByLayer) else [total] * len(seen)
        if isinstance(total, ByLayer) and total.names != tuple(seen):
            raise OpenworldError(f"batches bring the layers {total.names} and {tuple(seen)}; give all the same.")
        return ByLayer(tuple(seen), tuple(map(self.statistic.add, before, seen.values())))

    def merge(self, first: ByLayer, second: ByLayer) -> ByLayer:
        if first.names != second.names:
            raise OpenworldError(f"the shards bring the layers {first.names} and {second.names}; gather both alike.")
        return ByLayer(first.names, tuple(map(self.statistic.merge, first.parts, second.parts)))

    def _as_features(self, activations: Activations) -> dict[str, Activations]:
        """Return every layer as if its part `of` were the features."""
        outputs = activations.logits if self.logits else None
        as_features = {}
        for name, layer in activations.layers_of(self.layers, type(self.statistic).__name__).items():
            features = getattr(layer, self.of) if isinstance(self.of, str) else self.of(layer)
            as_features[name] = Activations(features, outputs=outputs, labels=activations.labels)
        return as_features


def begins_by_place(statistic: Any) -> bool:
    """Whether the first total of a statistic, before any image, is the place of the first image, not None."""
    return getattr(statistic, "by_place", False)


def require_named_right(needs: str, instead: str, enough: Tensor) -> None:
    """Refuse classes without enough training images that the model names right; `enough`: bool[C]."""
    missing = (~enough).nonzero().flatten().tolist()
    if missing:
        listing = ", ".join(map(str, missing[:5])) + (", ..." if len(missing) > 5 else "")
        raise OpenworldError(
            f"{needs} that the model names right in every class, and finds {instead} in {len(missing)} of "
            f"{len(enough)}: {listing}; fit on more images, or take another detector."
        )


def percentile(values: Tensor, percent: float) -> Tensor:
    """The value below which `percent` of a tensor lie, linear between neighbours as NumPy has it; any size, 0-d."""
    # `torch.quantile` refuses more than 16 million values, a head of 21,000 classes has more.
    values = values.flatten()
    place = (len(values) - 1) * percent / 100
    low = int(place)
    below = values.kthvalue(low + 1).values
    if low == place:
        return below
    return below + (values.kthvalue(low + 2).values - below) * (place - low)
