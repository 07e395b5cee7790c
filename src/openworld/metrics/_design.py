"""How the base and the new sample were drawn: sizes, weights and groups, validated once for every metric."""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np

from openworld.core.arrays import as_groups, as_scores, require_length
from openworld.core.errors import OpenworldError

ALONE = 1e-12  # effective groups above 1 by less: one outweighs all others
DENSE = 2  # times as many whole numbers in their range as there are labels: they are counted
SAFE = 1e100  # weights up to this size, and down to its inverse, can be squared and added


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two samples."""

    name: str
    n: int
    weights: np.ndarray | None  # float64[n], any scale; None where all count 1
    groups: np.ndarray | None  # int64[n], codes below `n_codes` that both sides share; None: each its own
    n_codes: int

    @cached_property
    def total(self) -> float:
        return self.n if self.weights is None else float(self.weights.sum())

    @property
    def empty(self) -> str | None:
        """Return why nothing can be computed from this side, or None."""
        if self.n == 0:
            return f"there is no {self.name} sample"
        return f"all {self.name} weights are 0" if self.total == 0 else None

    def mean(self, values: np.ndarray) -> float:
        """Weighted mean of number[n] or bool[n]; exact counts where there are no weights."""
        return float(values.sum() / self.n if self.weights is None else (self.weights * values).sum() / self.total)

    def group_sums(self, values: np.ndarray) -> np.ndarray:
        """Sum of share x value within each group: float64[n_codes], or float64[n] without groups."""
        shared = values / self.n if self.weights is None else values * (self.weights / self.total)
        return shared if self.groups is None else np.bincount(self.groups, shared, self.n_codes)

    def scaled_sums(self, values: np.ndarray) -> np.ndarray:
        """`group_sums` times sqrt(G / (G - 1)), G the effective groups, so that their squares add up to a variance."""
        return self.group_sums(values) * sqrt(self.effective_groups / (self.effective_groups - 1))

    @cached_property
    def n_groups(self) -> int:
        """Return how many independent groups have any weight."""
        if self.weights is None and self.groups is None:
            return self.n
        return 0 if self.empty else int(np.count_nonzero(self.group_sums(np.ones(self.n))))

    @property
    def too_few(self) -> str | None:
        """Return why this side shows no variation between samples, or None."""
        few = self.n_groups < 2 or self.effective_groups - 1 <= ALONE
        return f"there are fewer than 2 independent {self.name} samples" if few else None

    @cached_property
    def effective_groups(self) -> float:
        """Kish's number of equally heavy groups, 1 / sum of squared group shares; n where all is plain."""
        if self.weights is None and self.groups is None:
            return float(self.n)
        sums = np.ones(self.n) if self.weights is None else self.weights
        sums = sums if self.groups is None else np.bincount(self.groups, sums, self.n_codes)
        return float(self.total**2 / np.square(sums).sum())  # of counts exactly n where all groups are alike


@dataclass(frozen=True, eq=False)
class Design:
    """Both sides; `n_groups` counts distinct groups over the two, or samples where there are no groups."""

    base: Side
    new: Side
    n_groups: int

    @property
    def empty(self) -> str | None:
        return self.base.empty or self.new.empty

    @property
    def grouped(self) -> bool:
        return self.base.groups is not None

    def same_as(self, other: "Design") -> bool:
        """Return whether both describe the same samples, as far as sizes, weights and groups can tell."""
        pairs = ((self.base, other.base), (self.new, other.new))
        return all(a.n == b.n and _equal(a.weights, b.weights) and _equal(a.groups, b.groups) for a, b in pairs)


def design(sizes, weights=(None, None), groups=(None, None), names=("base", "new")) -> Design:
    """Validate weights and groups (labels from one name space) of two samples, which `names` call in messages."""
    checked = [_weights(weight, n, name) for weight, n, name in zip(weights, sizes, names, strict=True)]
    codes, n_groups = _codes(groups, sizes, names)
    sides = [Side(*parts, n_groups) for parts in zip(names, sizes, checked, codes, strict=True)]
    return Design(*sides, n_groups)


def _weights(weights, n: int, name: str) -> np.ndarray | None:
    if weights is None:
        return None
    label = f"{name}_weights".lstrip("_")
    weights = as_scores(weights, label)
    require_length(weights, label, n)
    if weights.size and weights.min() < 0:
        raise OpenworldError(f"{label} holds {weights.min():g}; a weight is 0 or more.")
    largest = weights.max(initial=0.0)
    return weights if not largest or 1 / SAFE < largest < SAFE else weights / largest  # any scale means the same


def _codes(groups, sizes, names):
    if groups[0] is None and groups[1] is None:
        return (None, None), sum(sizes)
    if groups[0] is None or groups[1] is None:
        missing = names[0] if groups[0] is None else names[1]
        raise OpenworldError(f"{missing}_groups is missing: give groups for both sides, from one name space, or none.")
    labels = [
        as_groups(group, f"{name}_groups".lstrip("_"), n) for group, n, name in zip(groups, sizes, names, strict=True)
    ]
    if all(label.size for label in labels) and (labels[0].dtype.kind in "US") != (labels[1].dtype.kind in "US"):
        raise OpenworldError(f"{names[0]}_groups and {names[1]}_groups mix numbers and strings; use one kind for both.")
    every = np.concatenate([label for label in labels if label.size] or labels)
    codes, count = _numbered(every)
    return (codes[: sizes[0]], codes[sizes[0] :]), count


def _numbered(labels: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the place int64[N] of each label among the distinct ones in order, and how many there are."""
    # whole numbers that lie close are counted in place of sorted: a third of the time and of the memory
    least, most = (int(labels.min()), int(labels.max())) if labels.dtype.kind in "iu" and labels.size else (0, -1)
    if not 0 <= most - least < DENSE * labels.size:
        values, codes = np.unique(labels, return_inverse=True)
        return codes, values.size
    places = labels - labels.dtype.type(least)
    present = np.zeros(most - least + 1, bool)
    present[places] = True
    ranks = np.cumsum(present, dtype=np.int64)
    ranks -= 1
    return ranks[places], int(ranks[-1]) + 1


def _equal(first, second) -> bool:
    return first is second or (first is not None and second is not None and np.array_equal(first, second))
