"""Detection metrics of one in-distribution sample against many out-of-distribution ones, such as cells of a shift grid.

In-distribution scores are sorted once, those of each cell once, and a merge of two sorted runs gives everything else:
no threshold is dropped, ties count one half. How AUROCs of cells err, `rank_sides` says. IS-OOD (Long et al., 2024)
judges every cell against the same 45,000 images of ImageNet.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from openworld.core.arrays import MANY, ArrayLike, as_array, as_scores, require_length
from openworld.core.errors import OpenworldError
from openworld.core.types import Positive, Range, checked
from openworld.metrics._sweep import Sweep
from openworld.metrics.detection import false_positives, inwards, outwards, trapezoid

NOWHERE = -1
RECALL, PREVALENCE = 0.95, 0.5
HALVES = ("semantic", "covariate")
"""The axes of a shift: what is shown, and what it looks like."""


@dataclass(frozen=True)
class CellDetection:
    """Detection metrics of one cell, fractions in [0, 1].

    n: out-of-distribution images in it. The two false-positive rates and AUPRs are those of `detection_metrics`;
    `aupr_in_fixed` is `aupr_in` at a prevalence of one half in all cells, so that their sizes do not count.
    """

    n: int
    auroc: float
    fpr_in_positive: float
    fpr_out_positive: float
    aupr_in: float
    aupr_out: float
    aupr_in_fixed: float


@checked
def detection_by_cell(
    in_scores: ArrayLike,
    out_scores: ArrayLike,
    cells: ArrayLike,
    count: Annotated[int, Range(1, MANY)],
    *,
    least: Positive = 1,
) -> tuple[CellDetection | None, ...]:
    """All detection metrics of every cell against the same in-distribution images.

    Args:
        in_scores: float[n_in], larger = more in-distribution; at least one.
        out_scores: float[n_out].
        cells: int[n_out], cell of each in [0, count), or `NOWHERE` (-1) for images that stand in none.
        count: number of cells, at least 1.
        least: cells with fewer images are N/A; at least 1.
    Returns:
        CellDetection for each cell, None for one with too few images.
    Raises:
        OpenworldError: NaN or infinite scores, no in-distribution score, cells outside the range, other lengths.
    Source: IS-OOD (Long et al., 2024; qqwsad5/IS-OOD @ e771abb); the fixed prevalence is not its.

    >>> near, far, empty = detection_by_cell([3, 2, 1], [2, 0, 0], [0, 0, 1], 3)
    >>> near.n, near.auroc, far.auroc, empty
    (2, 0.75, 1.0, None)
    """
    inside, outside = as_scores(in_scores, "in_scores"), as_scores(out_scores, "out_scores")
    if not inside.size:
        raise OpenworldError("there is no in-distribution score, so no cell can be measured; give some.")
    ranked = np.sort(inside)

    def detection_in(members: np.ndarray) -> CellDetection:
        sweep = Sweep.merged(ranked, np.sort(outside[members]))
        into, out = inwards(sweep), outwards(sweep)
        return CellDetection(
            sweep.n_out,
            sweep.double_wins() / (2 * sweep.n_in * sweep.n_out),
            false_positives(*into, RECALL),
            false_positives(*out, RECALL),
            trapezoid(*into),
            trapezoid(*out),
            trapezoid(*into, PREVALENCE),
        )

    split = split_cells(cells, outside.size, count)
    return tuple(detection_in(members) if members.size >= least else None for members in split)


def split_cells(cells: ArrayLike, size: int, count: int) -> Iterator[np.ndarray]:
    """Return which images are in each cell, ascending; `cells` are int[size] in [-1, count)."""
    cells = as_array(cells, "cells")
    if cells.ndim != 1:
        raise OpenworldError(f"cells has shape {cells.shape}, expected one dimension: one cell per image.")
    require_length(cells, "cells", size)
    if cells.size and (cells.dtype.kind not in "iu" or cells.min() < NOWHERE or cells.max() >= count):
        raise OpenworldError(
            f"cells are {cells.dtype} from {cells.min()} to {cells.max()}, expected whole numbers from 0 to "
            f"{count - 1}, or {NOWHERE} for images that stand in none."
        )
    order = np.argsort(cells, kind="stable")
    ends = np.searchsorted(cells[order], np.arange(count + 1))
    return (order[start:end] for start, end in zip(ends[:-1], ends[1:], strict=True))
