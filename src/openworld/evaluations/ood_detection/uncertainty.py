"""How curves, slopes and totals of a model would move with other images: intervals, and joint errors."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from openworld.evaluations.ood_detection.metrics import DetectorScores, places_of
from openworld.evaluations.ood_detection.record import CurveErrors, JointErrors
from openworld.metrics import CellSums, RankedSides, rank_sides, shift_weights
from openworld.metrics.by_cell import NOWHERE
from openworld.metrics.estimate import LEVEL, Spread, share_interval, student_quantile
from openworld.shift import HALVES, ShiftGrid

KINDS = {"all": False, "common": True}
"""Whether a curve is over all cells that are there, or over common levels alone."""


@dataclass(frozen=True, eq=False)
class Ranked:
    """Scores of all detectors of a model, sorted once."""

    labels: tuple[str, ...]
    sides: RankedSides

    @classmethod
    def of(cls, sides: Mapping[str, DetectorScores]) -> "Ranked":
        """Of detectors that scored the same images."""
        ones = tuple(sides.values())
        test, pool = np.stack([one.test for one in ones]), np.stack([one.pool for one in ones])
        return cls(tuple(sides), rank_sides(test, pool, groups=ones[0].groups))

    def each(self, cells: np.ndarray, weights: np.ndarray) -> Iterator[CellSums]:
        """Sums of one detector after the other, for there are many."""
        return (self.sides.of(number).sums(cells, weights) for number in range(len(self.labels)))


def over_images(ranked: Ranked, grid: ShiftGrid, kept: np.ndarray) -> tuple[list[dict], dict]:
    """The errors of all detectors over all cells.

    Args:
        grid: of the pool's `kept` images, int64[n] places in the pool.

    Returns:
        Per detector the errors of its curves by axis and kind; and by axis and kind the joint errors of the slopes.
    """
    cells = places_of(grid, kept, ranked.sides.plan.new.n)
    chosen = {kind: shift_weights(grid.present, common=common) for kind, common in KINDS.items()}
    places = [(axis, kind) for axis in HALVES for kind in KINDS]
    curves = {one: chosen[one[1]][one[0]].curve.reshape(-1, grid.present.size) for one in places}
    slopes = {one: chosen[one[1]][one[0]].slope for one in places}
    slopes = {one: weights.reshape(1, -1) for one, weights in slopes.items() if weights is not None}
    joint = dict(zip(slopes, _rows(ranked.sides.sums(cells, _stacked(slopes, grid.present.size))), strict=True))
    errors = [{axis: {} for axis in HALVES} for _ in ranked.labels]
    for number, found in enumerate(ranked.each(cells, _stacked(curves, grid.present.size))):
        rows = _rows(found)
        for axis, kind in places:
            own, slope = [next(rows) for _ in curves[axis, kind]], joint.get((axis, kind))
            intervals = tuple(one.interval(0) for one in own)
            errors[number][axis][kind] = CurveErrors(intervals, slope and slope.interval(number, share=False))
    return errors, {
        axis: {kind: joint_errors(joint.get((axis, kind)), ranked.labels) for kind in KINDS} for axis in HALVES
    }


def joint_totals(ranked: Ranked, subsets: Mapping[str, np.ndarray]) -> dict[str, JointErrors | None]:
    """The joint errors of the AUROCs against some images of the pool, bool[N] each."""
    whole = {name: ranked.sides.sums(np.where(chosen, 0, NOWHERE), [[1.0 * chosen.any()]]) for name, chosen in
             subsets.items()}  # fmt: skip
    return {name: joint_errors(Row(sums, 0), ranked.labels) for name, sums in whole.items()}


@dataclass(frozen=True, eq=False)
class Row:
    """One of the weighted sums."""

    sums: CellSums
    number: int

    def spread(self, detector: int) -> Spread:
        return self.sums.spread(self.number, np.eye(len(self.sums.values))[detector])

    def interval(self, detector: int, *, share: bool = True) -> tuple[float, float] | None:
        """Of a share on the logit scale; of a slope by Student's t."""
        value, found = float(self.sums.values[detector, self.number]), self.spread(detector)
        if share:
            return share_interval(value, found, LEVEL)
        quantile = student_quantile(LEVEL, found.degrees_of_freedom)
        if quantile is None:
            return None
        return value - quantile * found.standard_error, value + quantile * found.standard_error


def joint_errors(row: Row | None, labels: tuple[str, ...]) -> JointErrors | None:
    """Covariance over detectors, and degrees of freedom of each; None where unknown."""
    if row is None or row.sums.reasons[row.number]:
        return None
    degrees = tuple(row.spread(number).degrees_of_freedom for number in range(len(labels)))
    return JointErrors(labels, tuple(map(tuple, row.sums.covariance[row.number].tolist())), degrees)


def _rows(sums: CellSums) -> Iterator[Row]:
    return (Row(sums, number) for number in range(sums.values.shape[1]))


def _stacked(weights: Mapping[tuple[str, str], np.ndarray], cells: int) -> np.ndarray:
    return np.concatenate([np.zeros((0, cells)), *weights.values()])
