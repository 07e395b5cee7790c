"""How curves, slopes and totals of a model would move with other images: intervals, and joint errors."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from openworld.evaluations.ood_detection.metrics import DetectorScores, places_of
from openworld.evaluations.ood_detection.record import CurveErrors, JointErrors
from openworld.metrics import CellSums, RankedSides, rank_sides, shift_weights
from openworld.metrics.by_cell import NOWHERE
from openworld.metrics.estimate import LEVEL, Spread, share_interval, student_quantile
from openworld.shifts import HALVES, ShiftGrid

KINDS = {"all": False, "common": True}
"""Whether a curve is over all cells that are there, or over common levels alone."""


@dataclass(frozen=True, eq=False)
class Ranked:
    """Scores of all detectors of a model, sorted once."""

    labels: tuple[str, ...]
    sides: RankedSides

    @classmethod
    def of(cls, sides: Mapping[str, DetectorScores]) -> "Ranked":
        """Sort the scores of detectors on the same images."""
        test, pool = (np.stack([getattr(scores, side) for scores in sides.values()]) for side in ("test", "pool"))
        return cls(tuple(sides), rank_sides(test, pool, groups=next(iter(sides.values())).groups))


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
    weights = {(axis, kind): chosen[kind][axis] for axis, kind in places}
    curves = {place: weight.curve.reshape(-1, grid.present.size) for place, weight in weights.items()}
    slopes = {place: weight.slope.reshape(1, -1) for place, weight in weights.items() if weight.slope is not None}
    joint = dict(zip(slopes, _rows(ranked.sides.sums(cells, _stack(slopes, grid.present.size))), strict=True))
    errors = [{axis: {} for axis in HALVES} for _ in ranked.labels]
    stacked = _stack(curves, grid.present.size)
    for number in range(len(ranked.labels)):  # one detector after the other, for there are many
        rows = _rows(ranked.sides.of(number).sums(cells, stacked))
        for axis, kind in places:
            errors_of_curve, slope = [next(rows) for _ in curves[axis, kind]], joint.get((axis, kind))
            intervals = tuple(row.interval(0) for row in errors_of_curve)
            errors[number][axis][kind] = CurveErrors(intervals, slope and slope.interval(number, share=False))
    return errors, {
        axis: {kind: joint_errors(joint.get((axis, kind)), ranked.labels) for kind in KINDS} for axis in HALVES
    }


def joint_totals(ranked: Ranked, subsets: Mapping[str, np.ndarray]) -> dict[str, JointErrors | None]:
    """The joint errors of the AUROCs against some images of the pool, bool[N] each."""
    joint = {}
    for name, chosen in subsets.items():
        sums = ranked.sides.sums(np.where(chosen, 0, NOWHERE), [[1.0 * chosen.any()]])
        joint[name] = joint_errors(WeightedSum(sums, 0), ranked.labels)
    return joint


@dataclass(frozen=True, eq=False)
class WeightedSum:
    """One of the weighted sums."""

    sums: CellSums
    number: int

    def spread(self, detector: int) -> Spread:
        return self.sums.spread(self.number, np.eye(len(self.sums.values))[detector])

    def interval(self, detector: int, *, share: bool = True) -> tuple[float, float] | None:
        """Return the interval of a share on the logit scale; of a slope by Student's t."""
        value, error = float(self.sums.values[detector, self.number]), self.spread(detector)
        if share:
            return share_interval(value, error, LEVEL)
        quantile = student_quantile(LEVEL, error.degrees_of_freedom)
        return (
            None
            if quantile is None
            else (value - quantile * error.standard_error, value + quantile * error.standard_error)
        )


def joint_errors(row: WeightedSum | None, labels: tuple[str, ...]) -> JointErrors | None:
    """Covariance over detectors, and degrees of freedom of each; None where unknown."""
    if row is None or row.sums.reasons[row.number]:
        return None
    degrees = tuple(row.spread(number).degrees_of_freedom for number in range(len(labels)))
    return JointErrors(labels, tuple(map(tuple, row.sums.covariance[row.number].tolist())), degrees)


def _rows(sums: CellSums) -> Iterator[WeightedSum]:
    return (WeightedSum(sums, number) for number in range(sums.values.shape[1]))


def _stack(weights: Mapping[tuple[str, str], np.ndarray], cells: int) -> np.ndarray:
    return np.concatenate([np.zeros((0, cells)), *weights.values()])
