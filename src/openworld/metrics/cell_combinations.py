"""Weighted sums of AUROCs of cells that share their in-distribution images, such as curves and slopes: joint errors.

The AUROC of a cell is a two-sample U-statistic (DeLong et al., 1988), and to first order an image moves a weighted sum
of cells by its influence: one in distribution by the weighted sum over cells of its win shares, one of cell c by the
weight of c times its own share. Images of one group are summed first, over all cells and both sides (Obuchowski,
1997). Detectors that score the same images err together; their differences are differences of influences. All comes
from one sort of each detector's in-distribution scores and the places that the other scores have among them.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from openworld.core.arrays import ArrayLike, as_table, require_length, require_size
from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.core.types import checked
from openworld.metrics._design import Design, design
from openworld.metrics._sweep import place
from openworld.metrics.by_cell import split_cells
from openworld.metrics.estimate import NO_VARIANCE, ROUNDING, Spread

CANCELLED = 1e-13  # of a variance, against what its terms add up to without their signs: they cancel
ALONE = 1 + 1e-9  # effective groups: no more than one


@dataclass(frozen=True, eq=False)
class CellSums:
    """W weighted sums of cells, of each of D detectors, and how they err together over images.

    values: float64[D, W]. covariance: float64[W, D, D], over detectors, clustered by groups. reasons: W of them, why a
    sum has no error, or None. The rest gives degrees of freedom: inside: float64[W, D, D] and outside: float64[C, D, D]
    are the variances of the two sides, of cells at weight 1; freedom: float64[1 + C], of the in-distribution side and
    of every cell; groups: int64[W], distinct ones that a sum rests on.
    """

    values: np.ndarray
    covariance: np.ndarray
    reasons: tuple[str | None, ...]
    weights: np.ndarray
    inside: np.ndarray
    outside: np.ndarray
    freedom: np.ndarray
    groups: np.ndarray

    __repr__ = short_repr

    @checked
    def spread(self, number: int, detectors: ArrayLike) -> Spread:
        """Standard error of a sum, of one detector or of a difference, with its degrees of freedom.

        Args:
            number: which of the W.
            detectors: float[D], what each detector's sum counts: 1 and 0s for one of them, 1 and -1 for a difference.
        Returns:
            Spread; degrees of freedom by Welch-Satterthwaite over the in-distribution side and the cells.
        """
        if not 0 <= number < len(self.reasons):
            raise OpenworldError(f"number is {number}, expected one of the {len(self.reasons)} sums, counted from 0.")
        chosen, joint = require_size(as_table(detectors, "detectors", (1,)), "detectors"), self.covariance[number]
        require_length(chosen, "detectors", len(joint))
        if self.reasons[number]:
            return Spread(None, None, self.reasons[number])
        variance = float(chosen @ joint @ chosen)
        terms = float(np.abs(chosen) @ np.abs(joint) @ np.abs(chosen))
        # groups in distribution, and how many equally heavy ones the cells of a mean have between them (Kish)
        weights, groups = self.weights[number], self.freedom + 1
        counted = weights != 0
        kish = 1 / (np.square(weights[counted]) / groups[1:][counted]).sum()
        effective = float(groups[0]), float(kish)
        if variance <= max(CANCELLED * terms, ROUNDING**2):
            return Spread(None, None, NO_VARIANCE, effective)
        cells = np.square(weights) * (self.outside @ chosen @ chosen)
        parts = np.append(chosen @ self.inside[number] @ chosen, cells)
        there = parts > 0
        welch = parts.sum() ** 2 / (parts[there] ** 2 / self.freedom[there]).sum()
        return Spread(float(np.sqrt(variance)), min(float(welch), float(self.groups[number] - 1)), None, effective)


@dataclass(frozen=True, eq=False)
class RankedSides:
    """Scores of D detectors on n in-distribution and N other images, sorted once for any number of weighted sums.

    plan: sizes and groups. order: int64[D, n], which sorts the in-distribution scores. below, upto: int32[D, N], how
    many of these are below each other score, and not above it.
    """

    plan: Design
    order: np.ndarray
    below: np.ndarray
    upto: np.ndarray

    __repr__ = short_repr

    @checked
    def of(self, detector: int) -> "RankedSides":
        """One detector alone."""
        if not 0 <= detector < len(self.order):
            raise OpenworldError(f"detector is {detector}, expected one of {len(self.order)}, counted from 0.")
        row = slice(detector, detector + 1)
        return RankedSides(self.plan, self.order[row], self.below[row], self.upto[row])

    @checked
    def sums(self, cells: ArrayLike, weights: ArrayLike) -> CellSums:
        """Weighted sums of the AUROCs of cells.

        Args:
            cells: int[N], cell of each image that is not in distribution, from 0, or -1 where it stands in none.
            weights: float[W, C], what each cell counts in each sum.
        Returns:
            CellSums. One detector and one cell of weight 1 is `auroc`, with its error.
        Raises:
            OpenworldError: cells outside the range, lengths that differ, a weight for a cell without an image.
        Source: DeLong et al. (1988), clustered Obuchowski (1997); a sum over cells is linear in their influences.

        >>> ranked = rank_sides([[3, 2, 1]], [[2, 0, 0]])
        >>> ranked.sums([0, 0, 1], [[1, 0], [-1, 1]]).values.tolist()  # AUROCs are .75 and 1
        [[0.75, 0.25]]
        """
        weights = require_size(as_table(weights, "weights", (2,)), "weights")
        laid = _Laid.of(self.plan, cells, weights.shape[1])
        bare = np.flatnonzero((weights != 0).any(axis=0) & (laid.sizes == 0))
        if bare.size:
            raise OpenworldError(f"cell {bare[0]} has a weight and no image; give it weight 0.")
        each = [self._detector(number, laid, weights) for number in range(len(self.order))]
        areas, inside, outside = (np.stack(parts) for parts in zip(*each, strict=True))
        return laid.joined(areas @ weights.T, weights, inside, outside)

    def _detector(self, number: int, laid: "_Laid", weights: np.ndarray) -> tuple[np.ndarray, ...]:
        """AUROCs float64[C]; influences of the in-distribution images on the sums [W, n], of the others [pairs]."""
        below, upto = (places[number][laid.members] for places in (self.below, self.upto))
        n, count = self.plan.base.n, len(laid.sizes)
        twice, pairs = below + upto, 2 * n * np.maximum(laid.sizes, 1)
        areas = (pairs - np.bincount(laid.cell, twice, count)) / pairs
        beaten = (1 - twice / (2 * n) - areas[laid.cell]) / laid.sizes[laid.cell]
        # An image outscores those that no more images than its own rank are not above, and ties where below is so.
        codes = laid.cell * (n + 1)
        steps = np.bincount(np.concatenate([codes + below, codes + upto]), minlength=count * (n + 1))
        steps = steps.reshape(count, n + 1)[:, :n]
        inside = np.empty((len(weights), n))
        for influence, row in zip(inside, weights / np.maximum(laid.sizes, 1), strict=True):
            there = np.flatnonzero(row)
            # einsum adds in one order, however many threads BLAS has.
            influence[self.order[number]] = np.cumsum(np.einsum("c,cn->n", row[there], steps[there].astype(float))) / 2
        return areas, (inside - (weights @ areas)[:, None]) / n, laid.pair_sums(beaten)


@checked
def rank_sides(in_scores: ArrayLike, out_scores: ArrayLike, *, groups: tuple | None = None) -> RankedSides:
    """Sort both sides once.

    Args:
        in_scores: float[D, n], a row per detector, larger = more in-distribution; at least one image.
        out_scores: float[D, N].
        groups: (int[n], int[N]), images of either side that are not independent, from one name space; None where all
            are.
    Raises:
        OpenworldError: NaN or infinite scores, other numbers of detectors, no in-distribution score.
    """
    inside, outside = as_table(in_scores, "in_scores", (2,)), as_table(out_scores, "out_scores", (2,))
    require_length(outside, "out_scores", len(inside))
    if not inside.size:
        raise OpenworldError("there is no in-distribution score, so no cell can be measured; give some.")
    plan = design((inside.shape[1], outside.shape[1]), groups=groups or (None, None), names=("in", "out"))
    order, below = np.argsort(inside, axis=1), np.empty(outside.shape, np.int32)
    upto = np.empty_like(below)
    for number, (first, second) in enumerate(zip(inside, outside, strict=True)):
        places = np.argsort(second)
        below[number, places], upto[number, places] = place(first[order[number]], second[places])
    return RankedSides(plan, order, below, upto)


@dataclass(frozen=True, eq=False)
class _Laid:
    """Images laid out by cell, and by (cell, group) where they are grouped."""

    plan: Design
    members: np.ndarray  # int64[M], those in a cell, cell by cell
    cell: np.ndarray  # int64[M], of each
    sizes: np.ndarray  # int64[C]
    pair: np.ndarray | None  # int64[M], number of its (cell, group); None where every image is its own group
    pair_cell: np.ndarray  # int64[P]
    pair_group: np.ndarray | None

    @classmethod
    def of(cls, plan: Design, cells: ArrayLike, count: int) -> "_Laid":
        parts = list(split_cells(cells, plan.new.n, count))
        members, sizes = np.concatenate(parts), np.array([len(part) for part in parts])
        cell = np.repeat(np.arange(count), sizes)
        if plan.new.groups is None:
            return cls(plan, members, cell, sizes, None, cell, None)
        pairs, pair = np.unique(cell * plan.new.n_codes + plan.new.groups[members], return_inverse=True)
        return cls(plan, members, cell, sizes, pair, *np.divmod(pairs, plan.new.n_codes))

    def pair_sums(self, values: np.ndarray) -> np.ndarray:
        return values if self.pair is None else np.bincount(self.pair, values, len(self.pair_cell))

    def effective(self) -> np.ndarray:
        """Kish's number of groups, of the in-distribution side and of every cell: float64[1 + C]; 0 where empty."""
        shares = np.square(self.pair_sums(1 / self.sizes[self.cell]))
        squares = np.bincount(self.pair_cell, shares, len(self.sizes))
        cells = np.divide(1, squares, out=np.zeros(len(squares)), where=squares > 0)
        return np.append(self.plan.base.effective_groups, cells)

    def joined(self, values: np.ndarray, weights: np.ndarray, inside: np.ndarray, outside: np.ndarray) -> CellSums:
        """Return the sums of influences float64[D, W, n] and [D, P]."""
        effective = self.effective()
        alone = effective <= ALONE
        scale = np.sqrt(effective / np.where(alone, 1, effective - 1))
        outside = outside * scale[1:][self.pair_cell]
        starts = np.searchsorted(self.pair_cell, np.arange(len(self.sizes) + 1))
        blocks = (outside[:, start:end] for start, end in zip(starts[:-1], starts[1:], strict=True))
        cells = _grams(blocks, len(values))
        side, rows = self.plan.base, [influence * scale[0] for influence in inside.swapaxes(0, 1)]
        if side.groups is not None:  # sums over the groups of the in-distribution side: float64[D, G]
            rows = [np.stack([np.bincount(side.groups, one, side.n_codes) for one in row]) for row in rows]
        cells_inside = _grams(rows, len(values))
        if self.pair_group is not None:
            joint = []
            for row, weight in zip(rows, weights, strict=True):  # sums over groups of both sides, all cells together
                counted = weight[self.pair_cell] * outside
                others = [np.bincount(self.pair_group, part, self.plan.new.n_codes) for part in counted]
                joint.append(row + np.stack(others))
            joint = _grams(joint, len(values))
        else:
            joint = cells_inside + np.einsum("wc,cde->wde", np.square(weights), cells)
        reasons = tuple(self._reason(weight, alone) for weight in weights)
        groups = np.array([self._groups(weight) for weight in weights])
        return CellSums(values, joint, reasons, weights, cells_inside, cells, effective - 1, groups)

    def _reason(self, weight: np.ndarray, alone: np.ndarray) -> str | None:
        if alone[0]:
            return "there are fewer than 2 independent in-distribution images"
        if (alone[1:] & (weight != 0)).any():
            return "a cell has fewer than 2 independent images"
        return None if weight.any() else NO_VARIANCE

    def _groups(self, weight: np.ndarray) -> int:
        """Distinct groups in distribution and in the cells that count."""
        if self.pair_group is None:
            return self.plan.base.n + int(self.sizes[weight != 0].sum())
        counted = np.zeros(self.plan.new.n_codes, bool)
        counted[self.plan.base.groups] = True
        counted[self.pair_group[weight[self.pair_cell] != 0]] = True
        return int(counted.sum())


def _grams(sums: Iterable[np.ndarray], count: int) -> np.ndarray:
    """Sums of products over the last axis of each float64[D, P], in one order however many threads BLAS has."""
    return np.array([np.einsum("dp,ep->de", row, row) for row in sums]).reshape(-1, count, count)
