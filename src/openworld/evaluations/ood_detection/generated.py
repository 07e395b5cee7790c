"""Are generated images themselves detectable? Real against generated ones of one pool, at equal degree.

"Rethinking the Evaluation of Out-of-Distribution Detection: A Sorites Paradox" (Long et al., 2024, section 3.2) assumes
so, because detectors do better on Syn-IS than on ImageNet-21K at the same level. Here both kinds lie in one pool whose
degrees are measured alike: in every cell that has enough of both, real images stand for the known side and generated
ones for the other. An AUROC of 50 says that a detector scores both alike; above 50 generated images pass less often.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from openworld.evaluations.ood_detection.errors import Errors, JointErrors, errors_key
from openworld.evaluations.ood_detection.metrics import AGAINST, AUROC, KEPT, KINDS, REMOVED, SHARED
from openworld.evaluations.ood_detection.pool import ScoredPool
from openworld.metrics import MetricEstimate, auroc
from openworld.metrics.estimate import Influence
from openworld.results import Result, Value, interval_of


@dataclass(frozen=True, eq=False)
class PoolSides:
    """Images that count, in cells with enough of both kinds: cell, kind and group, and places in the pool int64[n]."""

    cell: np.ndarray
    columns: int
    generated: np.ndarray
    group: np.ndarray
    places: np.ndarray

    @classmethod
    def of(cls, pool: ScoredPool, *, id_kept: bool, least: int) -> "PoolSides":
        """The sides of a pool, whose images of in-distribution classes count or not; cells have `least` of each."""
        levels, made = pool.levels, pool.generated
        columns = levels.counts["semantic"]
        cell = levels.levels["covariate"] * columns + levels.levels["semantic"]
        counted = np.ones(len(made), bool) if id_kept else ~pool.known
        size = levels.counts["covariate"] * columns
        both = np.minimum(*(np.bincount(cell[counted & side], minlength=size) for side in (~made, made))) >= least
        places = np.flatnonzero(counted & both[cell])
        return cls(cell[places], columns, made[places], pool.pool_groups[places], places)

    @property
    def cells(self) -> np.ndarray:
        """The cells with both."""
        return np.unique(self.cell)

    def area(self, scores: np.ndarray, cells: np.ndarray) -> MetricEstimate:
        """The mean over cells of the AUROC of real against generated images, float64 scores of the whole pool."""
        own, real = scores[self.places], np.flatnonzero(~self.generated)
        made = np.flatnonzero(self.generated)
        pairs = [(real[self.cell[real] == cell], made[self.cell[made] == cell]) for cell in cells]
        each = [self._estimate(own, *pair) for pair in pairs]

        def influence() -> Influence:
            whole = self._estimate(own, real, made).influence
            sides = [np.zeros(len(real)), np.zeros(len(made))]
            for pair, estimate in zip(pairs, each, strict=True):
                effects = (estimate.influence.base, estimate.influence.new)
                for side, every, chosen, effect in zip(sides, (real, made), pair, effects, strict=True):
                    # An influence counts in units of its own sample: a cell's is scaled up to the whole.
                    side[np.searchsorted(every, chosen)] = effect * self._scale(every, chosen) / len(cells)
            return Influence(whole.design, *sides)

        return MetricEstimate(float(np.mean([estimate.value for estimate in each])), None, influence)

    def _estimate(self, scores: np.ndarray, real: np.ndarray, made: np.ndarray) -> MetricEstimate:
        return auroc(scores[real], scores[made], in_groups=self.group[real], out_groups=self.group[made])

    @staticmethod
    def _scale(every: np.ndarray, chosen: np.ndarray) -> float:
        return len(every) / len(chosen)


def generated_rows(pool: ScoredPool, errors: Errors, *, id_kept: bool, least: int) -> Iterator[Result]:
    """Yield what each detector says of real and of generated images at equal degree; nothing where no cell has both."""
    sides = None if pool.generated is None else PoolSides.of(pool, id_kept=id_kept, least=least)
    if sides is None or not sides.cells.size:
        return
    where = {"id_classes": KEPT if id_kept else REMOVED}
    levels = sides.cells % sides.columns
    places = {(): sides.cells} | {(level,): sides.cells[levels == level] for level in np.unique(levels).tolist()}
    for level, cells in places.items():
        place = {**where, "cells": SHARED} | ({"axis": "semantic", "level": level[0]} if level else {})
        areas = {label: sides.area(scores, cells) for label, scores in pool.pool.items()}
        errors[errors_key(AGAINST, place)] = JointErrors.of({label: area.spread for label, area in areas.items()})
        for label, area in areas.items():
            interval = interval_of(area.interval(), "images", len(sides.places))
            yield Result(label, AGAINST, Value(area.value, interval), place)
    for label, scores in pool.pool.items():
        own, test = scores[sides.places], pool.test[label]
        for made, images in enumerate(KINDS.values()):
            areas = [auroc(test, own[(sides.cell == cell) & (sides.generated == made)]).value for cell in sides.cells]
            yield Result(label, AUROC, Value(float(np.mean(areas))), {**where, "images": images})
