"""The metrics of a unit: every detector in every cell, its curves and trends, its AUROC against subsets of the pool."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from openworld.evaluations.ood_detection.record import (
    Area,
    CellRecord,
    CurveErrors,
    DetectorRecord,
    LabellingRecord,
)
from openworld.metrics import CellDetection, CellRules, auroc, detection_by_cell
from openworld.metrics.by_cell import NOWHERE
from openworld.shifts import ShiftGrid

PREVALENCE = 0.5
"""Share of in-distribution images at which AUPRs of cells of unequal size can be compared."""


@dataclass(frozen=True, eq=False)
class DetectorScores:
    """Scores of the n in-distribution test images and the N of the pool, and which of them are not independent."""

    test: np.ndarray
    pool: np.ndarray
    test_groups: np.ndarray
    pool_groups: np.ndarray

    @property
    def groups(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Groups of both sides; None where every image stands alone, for then intervals take less time."""
        sides = self.test_groups, self.pool_groups
        return sides if any(len(np.unique(groups)) < len(groups) for groups in sides) else None

    def auroc(self, chosen: np.ndarray) -> Area:
        """Against some images of the pool, with its interval."""
        area = auroc(self.test, self.pool[chosen], in_groups=self.test_groups, out_groups=self.pool_groups[chosen])
        return Area(area.value, area.interval())


def detector_record(
    sides: DetectorScores,
    grid: ShiftGrid,
    kept: np.ndarray,
    errors: Mapping[str, Mapping[str, CurveErrors]] | None = None,
) -> DetectorRecord:
    """One detector over all cells.

    Args:
        sides: its scores.
        grid: of the pool's `kept` images, int64[n] places in the pool.
        errors: of its curves, of `uncertainty.over_images`.
    """
    rows, columns = grid.shape
    place = places_of(grid, kept, len(sides.pool))
    rules = CellRules(prevalence=PREVALENCE, least=grid.least)
    detected = detection_by_cell(sides.test, sides.pool, place, rows * columns, groups=sides.groups, rules=rules)
    cells = [_cell_record(cell) if cell else None for cell in detected]
    return DetectorRecord(
        tuple(tuple(cells[start : start + columns]) for start in range(0, rows * columns, columns)),
        errors or {},
    )


def places_of(grid: ShiftGrid, kept: np.ndarray, size: int) -> np.ndarray:
    """int64[size], the cell of every image of the pool, row by row; `NOWHERE` for those that are not kept."""
    place = np.full(size, NOWHERE)
    place[kept] = grid.covariate * grid.shape[1] + grid.semantic
    return place


def subsets_of(known: np.ndarray, semantic: np.ndarray, levels: int) -> dict[str, np.ndarray]:
    """Images of the pool, bool[N], with those whose label, or whose meaning, is in distribution, and without them.

    IS-OOD (Long et al., 2024, Table 8) holds the whole pool against "subsets with larger semantic shift" and does not
    say which; here they are the upper half of the levels.

    Args:
        known: bool[N], pool images of an in-distribution class.
        semantic: int64[N], semantic levels. levels: how many there are.
    """
    far = semantic >= levels // 2
    return {"all": np.ones_like(known), "unknown": ~known, "far": far, "far and unknown": far & ~known}


def labelling(
    sides: Mapping[str, DetectorScores], subsets: Mapping[str, np.ndarray], joint: Mapping
) -> LabellingRecord:
    """AUROC of every detector against the `subsets_of` the pool, how many images these hold, and its `joint` errors."""
    return LabellingRecord(
        {name: int(chosen.sum()) for name, chosen in subsets.items()},
        {
            label: {name: scores.auroc(np.flatnonzero(chosen)) for name, chosen in subsets.items()}
            for label, scores in sides.items()
        },
        dict(joint),
    )


def _cell_record(cell: CellDetection) -> CellRecord:
    return CellRecord(
        n=cell.n,
        auroc=Area(cell.auroc, cell.interval),
        fpr=cell.fpr_in_positive,
        fpr_openood=cell.fpr_out_positive,
        aupr_in=cell.aupr_in,
        aupr_out=cell.aupr_out,
        aupr_at_prevalence=cell.aupr_in_fixed,
    )
