"""The shift grid: images in cells of covariate (rows) and semantic (columns) level; cells with few images are no cells.

IS-OOD (Long et al., 2024; qqwsad5/IS-OOD @ e771abb) leaves out subsets of fewer than 10 images and writes 0 for their
results, which its analysis then drops; here a mask says which cells are there.

Shift levels are degrees cut into intervals [start, end), the first and the last of them open. IS-OOD does not publish
where it cuts each axis into 8. The counts it publishes have the shape of intervals of equal width between two cuts with
few images beyond them, so that is offered: two quantiles are the outer cuts, the others at equal distances between.

Subsets of equal size are as Syn-IS takes prompts of its images, whose sparse cells repeat prompts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import numpy as np

from openworld.core.arrays import MANY, ArrayLike, as_labels, as_scores, require_length, require_size
from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.core.types import Positive, Range, checked

LEVELS = 8

PUBLISHED_QUANTILES: dict[str, tuple[float, float]] = {"semantic": (0.0835, 0.9259), "covariate": (0.0915, 0.9963)}
"""Shares of ImageNet-21K-P's validation images in the first level, and in all but the last, in IS-OOD's division."""


@checked
@dataclass(frozen=True)
class Levels:
    """Level 0 below the first cut, level i from cut i - 1 up to, and without, cut i, the last from the last cut up.

    cuts: the starts of levels 1, 2, ..., ascending; one fewer than levels.

    >>> Levels((0.15, 0.3)).of([0.1499, 0.15, 0.3, 1.7]).tolist()
    [0, 1, 2, 2]
    """

    cuts: tuple[float, ...]

    def __post_init__(self):
        object.__setattr__(self, "cuts", tuple(float(cut) for cut in self.cuts))
        if not self.cuts or not (np.isfinite(self.cuts).all() and all(low < high for low, high in pairwise(self.cuts))):
            raise OpenworldError(f"cuts are {list(self.cuts)}, expected one or more numbers that strictly increase.")

    def __len__(self) -> int:
        return len(self.cuts) + 1

    def of(self, degrees: ArrayLike) -> np.ndarray:
        """The level of each degree: int64[N] from 0.

        Raises:
            OpenworldError: NaN or infinite degrees.
        """
        return np.searchsorted(self.cuts, as_scores(degrees, "degrees"), side="right").astype(np.int64)

    def intervals(self) -> tuple[tuple[float | None, float | None], ...]:
        """(start, end) of each level; None where it is open."""
        edges = (None, *self.cuts, None)
        return tuple(zip(edges[:-1], edges[1:], strict=True))


@checked
def equal_width_levels(
    degrees: ArrayLike, quantiles: tuple[float, float], count: Annotated[int, Range(3, MANY)] = LEVELS
) -> Levels:
    """Levels of equal width between two quantiles of the degrees; the first and the last take the tails.

    Args:
        degrees: float[N], those of the images that are to be divided.
        quantiles: shares of the images below the first and below the last cut, 0 < low < high < 1; see
            `PUBLISHED_QUANTILES`.
        count: of levels, at least 3.
    Raises:
        OpenworldError: quantiles out of order, no image, NaN, degrees that are equal at both quantiles.

    >>> equal_width_levels(np.arange(101), (0.1, 0.9), count=4).cuts
    (10.0, 50.0, 90.0)
    """
    values, (low, high) = require_size(as_scores(degrees, "degrees"), "degrees"), quantiles
    if not 0 < low < high < 1:
        raise OpenworldError(f"quantiles are {low} and {high}, expected 0 < low < high < 1.")
    if not values.size:
        raise OpenworldError("there is no degree to take quantiles of; give the images that are to be divided.")
    first, last = np.quantile(values, (low, high))
    if not first < last:
        raise OpenworldError(
            f"the degrees are {first:g} at both quantiles, {low} and {high}, so there is nothing to cut; give the cuts "
            "yourself."
        )
    return Levels(tuple(np.linspace(first, last, count - 1).tolist()))


def axis_levels(
    degrees: Mapping[str, np.ndarray],
    count: int = LEVELS,
    *,
    quantiles: Mapping[str, tuple[float, float]] = PUBLISHED_QUANTILES,
    cuts: Mapping[str, Sequence[float]] | None = None,
    things: str = "images",
) -> dict[str, Levels]:
    """Return the levels of both axes, by "semantic" and "covariate": as `cuts` say, or cut from degrees.

    Raises:
        OpenworldError: degrees that cannot be cut; says which axis, and of what `things`.
    """
    levels = {}
    for axis, share in quantiles.items():
        try:
            edges = (cuts or {}).get(axis)
            levels[axis] = equal_width_levels(degrees[axis], share, count) if edges is None else Levels(tuple(edges))
        except OpenworldError as error:
            raise OpenworldError(
                f"the {things} cannot be divided into {axis} levels: {error} Or give more, or such as differ."
            ) from error
    return levels


LEAST = 10


@checked
@dataclass(frozen=True, eq=False)
class ShiftGrid:
    """N images in R x C cells.

    Args:
        semantic: int64[N], column of each image, from 0. covariate: int64[N], its row.
        shape: (R, C), numbers of covariate and of semantic levels.
        least: cells with fewer images are N/A; at least 1.

    Raises:
        OpenworldError: levels outside the shape, lengths that differ.

    >>> grid = ShiftGrid([0, 1, 1], [0, 0, 0], shape=(2, 2), least=2)
    >>> grid.counts.tolist(), grid.present.tolist(), grid.cell(0, 1).tolist()
    ([[1, 2], [0, 0]], [[False, True], [False, False]], [1, 2])
    """

    semantic: np.ndarray
    covariate: np.ndarray
    shape: tuple[Positive, Positive]
    least: Positive = LEAST

    __repr__ = short_repr

    def __post_init__(self):
        for name, count in (("covariate", self.shape[0]), ("semantic", self.shape[1])):
            levels = as_labels(getattr(self, name), f"{name} levels")
            if levels.size and levels.max() >= count:
                raise OpenworldError(f"{name} levels go up to {levels.max()}, but there are {count}, counted from 0.")
            object.__setattr__(self, name, levels)
        require_length(self.covariate, "covariate levels", len(self.semantic))

    def __len__(self) -> int:
        return len(self.semantic)

    @property
    def counts(self) -> np.ndarray:
        """Images per cell: int64[R, C]."""
        cells = self.covariate * self.shape[1] + self.semantic
        return np.bincount(cells, minlength=self.shape[0] * self.shape[1]).reshape(self.shape)

    @property
    def present(self) -> np.ndarray:
        """bool[R, C], False where a cell is N/A."""
        return self.counts >= self.least

    @checked
    def cell(self, covariate: int, semantic: int) -> np.ndarray:
        """Which images are in a cell: int64[n], ascending."""
        for name, level, count in (("covariate", covariate, self.shape[0]), ("semantic", semantic, self.shape[1])):
            if not 0 <= level < count:
                raise OpenworldError(f"there is no {name} level {level}; levels go from 0 to {count - 1}.")
        return np.flatnonzero((self.covariate == covariate) & (self.semantic == semantic))


@checked
def equal_subsets(
    grid: ShiftGrid, count: Annotated[int, Range(1, MANY)], *, seed: int = 0
) -> dict[tuple[int, int], np.ndarray]:
    """Draw `count` of every present cell, without replacement while there are enough, else all about equally often.

    Args:
        grid: of images or prompts. count: size of each subset, at least 1. seed: of the draws, one per cell.
    Returns:
        (covariate level, semantic level) -> int64[count], which of them, ascending; repeats stand beside each other.

    >>> cell = ShiftGrid([0, 0, 0], [0, 0, 0], shape=(1, 1), least=1)
    >>> np.bincount(equal_subsets(cell, 7)[0, 0]).tolist()
    [2, 2, 3]
    """
    members = {}
    for row, column in np.argwhere(grid.present).tolist():
        there = grid.cell(row, column)
        times, more = divmod(count, len(there))
        generator = np.random.default_rng((seed, row, column))  # so that no cell's draw depends on the other cells
        extra = generator.choice(there, more, replace=False)
        members[row, column] = np.sort(np.concatenate([np.repeat(there, times), extra]))
    return members
