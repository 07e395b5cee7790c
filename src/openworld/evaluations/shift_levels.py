"""Levels of the images of a pool by their shift degrees, and the grid of these; no torch is needed for it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from openworld.metrics.by_cell import HALVES
from openworld.shifts.grid import PUBLISHED_QUANTILES, ShiftGrid, axis_levels

_LARGEST = 2.0  # of a cosine distance


@dataclass(frozen=True, eq=False)
class PoolLevels:
    levels: dict[str, np.ndarray]  # int64[n] from 0 by half
    counts: dict[str, int]  # how many levels there are
    cuts: dict[str, tuple[float, ...]] | None = None  # where levels begin; None where levels are given

    def grid(self, kept: np.ndarray, least: int) -> ShiftGrid:
        semantic, covariate = (self.levels[half][kept] for half in HALVES)
        return ShiftGrid(semantic, covariate, (self.counts["covariate"], self.counts["semantic"]), least)

    def facts(self, kept: np.ndarray) -> dict:
        """Return where the levels of each axis lie (None where they were given), and their numbers of images."""
        return {
            half: {
                "edges": None if self.cuts is None else [0.0, *self.cuts[half], _LARGEST],
                "counts": np.bincount(self.levels[half][kept], minlength=self.counts[half]).tolist(),
            }
            for half in HALVES
        }


def levels_of(
    degrees: Mapping[str, np.ndarray],
    count: int,
    quantiles: Mapping[str, tuple[float, float]] = PUBLISHED_QUANTILES,
    cuts: Mapping[str, tuple[float, ...]] | None = None,
) -> PoolLevels:
    """Return the levels of degrees float64[n] by half, cut where `cuts` says, or as IS-OOD cuts them."""
    levels = axis_levels(degrees, count, quantiles=quantiles, cuts=cuts or {}, things="pool")
    return PoolLevels(
        {half: levels[half].of(degrees[half]) for half in HALVES},
        {half: len(levels[half]) for half in HALVES},
        {half: levels[half].cuts for half in HALVES},
    )
