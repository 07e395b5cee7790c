"""What the record of a judged model holds: metrics of every detector in every cell, their curves and trends."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from openworld.metrics import aupr_in, auroc, detection_report, shift_trend
from openworld.shift import ShiftGrid

PREVALENCE = 0.5
"""Share of in-distribution pictures at which AUPRs of cells of unequal size can be compared."""


@dataclass(frozen=True, eq=False)
class Sides:
    """Scores of the n in-distribution test pictures and the N of the pool, and which of them are not independent."""

    test: np.ndarray
    pool: np.ndarray
    test_groups: np.ndarray
    pool_groups: np.ndarray

    def auroc(self, chosen: np.ndarray) -> dict:
        """Against some pictures of the pool, with its interval."""
        found = auroc(self.test, self.pool[chosen], in_groups=self.test_groups, out_groups=self.pool_groups[chosen])
        return {"value": found.value, "interval": found.interval()}


def detector_told(sides: Sides, grid: ShiftGrid, kept: np.ndarray) -> dict:
    """One detector over all cells.

    Args:
        sides: its scores. grid: of the pool's `kept` pictures, int64[n] places in the pool.
    Returns:
        "cells", covariate level by semantic level, None for a cell that is N/A; curves of the AUROC over the levels of
        each axis, over all present cells and over those of common levels alone; their trends.
    """
    cells = [
        [_cell(sides, kept[grid.cell(row, column)]) if grid.present[row, column] else None
         for column in range(grid.shape[1])]
        for row in range(grid.shape[0])
    ]  # fmt: skip
    values = np.array([[one["auroc"]["value"] if one else 0.0 for one in row] for row in cells])
    everything = shift_trend(values, grid.present)
    semantic, covariate = common_curve(values, grid.present), common_curve(values.T, grid.present.T)
    return {
        "cells": cells,
        "semantic_curve": {"all": everything.semantic_curve, "common": semantic},
        "covariate_curve": {"all": everything.covariate_curve, "common": covariate},
        "trend": {"semantic": asdict(everything.semantic), "covariate": asdict(everything.covariate)},
    }


def common_curve(table: np.ndarray, present: np.ndarray) -> tuple[float | None, ...]:
    """The mean of each column over those rows that are present in all columns that have a present cell at all.

    A mean over whatever is there mixes levels: a column without its hard cells looks easier than it is.

    Args:
        table: float[R, C]. present: bool[R, C].
    Returns:
        C numbers; None for a column without any present cell, and for all where no row is common.

    >>> common_curve(np.array([[0.6, 0.8], [0.1, 0.9]]), np.array([[True, True], [False, True]]))
    (0.6, 0.8)
    """
    columns = present.any(axis=0)
    rows = present[:, columns].all(axis=1)
    if not (rows.any() and columns.any()):
        return (None,) * table.shape[1]
    return tuple(float(table[rows, place].mean()) if there else None for place, there in enumerate(columns))


def labelling(sides: Mapping[str, Sides], known: np.ndarray, semantic: np.ndarray, levels: int) -> dict:
    """AUROC with pictures whose label, or whose meaning, is in distribution, and without them.

    IS-OOD (Long et al., 2024, Table 8) holds the whole pool against "subsets with larger semantic shift" and does not
    say which; here they are the upper half of the levels.

    Args:
        sides: by detector. known: bool[N], pool pictures of an in-distribution class.
        semantic: int64[N], semantic levels. levels: how many there are.
    """
    far = semantic >= levels // 2
    subsets = {"all": np.ones_like(known), "unknown": ~known, "far": far, "far and unknown": far & ~known}
    return {
        "subsets": {name: int(chosen.sum()) for name, chosen in subsets.items()},
        "detectors": {
            label: {name: one.auroc(np.flatnonzero(chosen)) for name, chosen in subsets.items()}
            for label, one in sides.items()
        },
    }


def _cell(sides: Sides, members: np.ndarray) -> dict:
    out = sides.pool[members]
    report = detection_report(sides.test, out)
    return {
        "n": len(members),
        "auroc": sides.auroc(members),
        "fpr": report.fpr_in_positive,
        "fpr_openood": report.fpr_out_positive,
        "aupr_in": report.aupr_in,
        "aupr_out": report.aupr_out,
        "aupr_at_prevalence": aupr_in(sides.test, out, prevalence=PREVALENCE).value,
    }
