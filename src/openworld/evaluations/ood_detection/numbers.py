"""What the tables of a shift report hold: numbers over seeds, curves over levels, slopes, who is best and who is blind.

A number of several seeds is their mean, with an interval over seeds and pictures; of one seed it has the interval over
pictures (`errors`). A curve is the plain mean over the present cells of the other axis (IS-OOD, Tables 1 and 2), or
over the levels that all of its levels share ("common"). Where records tell no error over pictures, as of metrics other
than AUROC, slopes have that over the seeds or, of one seed, of the straight line through the levels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from openworld.evaluations.ood_detection.errors import UNKNOWN, Number, averaged, joint_spread, off_by
from openworld.evaluations.ood_detection.run import Cells, Judged, ShiftRun
from openworld.metrics import ShiftTrend, holm, shift_trend
from openworld.metrics.estimate import ROUNDING, Spread
from openworld.report.remembering import remembered
from openworld.results import significant

CHANCE = 0.5


@dataclass(frozen=True)
class Slope:
    """How a metric moves along an axis.

    Args:
        slope: signed change per level (sensitivity with its sign), a fraction. correlation: Pearson's with the level,
            mean over the seeds; None where undefined. levels: how many have a cell.
        reason: why there is none.
    """

    slope: Number
    correlation: float | None
    levels: int
    reason: str | None = None


def overall(run: ShiftRun, judged: Judged, subset: str = "") -> Number:
    """AUROC against the whole pool as the run counts it, or against another of `SUBSETS`."""
    subset = subset or run.whole
    areas = run.areas(judged, subset)
    if len(areas) == 1:  # whose interval keeps inside (0, 1) by itself
        interval = areas[0]["interval"]
        return Number(areas[0]["value"], tuple(interval) if interval else None, "pictures")
    pictures = [joint_spread(one, {judged.detector: 1}) for one in run.joint(judged, subset)]
    return averaged([one["value"] for one in areas], (0.0, 1.0), pictures)


def curves(cells: Cells, judged: Judged, axis: str, metric: str = "auroc", *, common: bool = False) -> np.ndarray:
    """float[S, L], the metric at every level of an axis, a curve per seed; NaN at a level without a cell."""
    told = [getattr(one, f"{axis}_curve") for one in _trends(cells, judged, metric, common)]
    return np.array(told, dtype=np.float64)


def slope(cells: Cells, judged: Judged, axis: str, metric: str = "auroc", *, common: bool = False) -> Slope:
    """The trend of a metric along an axis, mean over the seeds."""
    told = [getattr(one, axis) for one in _trends(cells, judged, metric, common)]
    values = [one.slope for one in told]
    correlations = [one.correlation for one in told]
    correlation = None if None in correlations else float(np.mean(correlations))
    joint = cells.joint(judged, axis, common=common) if metric == "auroc" else [None]
    if len(told) == 1 and values[0] is not None and joint == [None]:
        found = line_spread(curves(cells, judged, axis, metric, common=common)[0])
        return Slope(off_by(values[0], found, "levels"), correlation, told[0].n, told[0].reason)
    pictures = [joint_spread(one, {judged.detector: 1}) for one in joint]
    return Slope(averaged(values, pictures=pictures), correlation, told[0].n, told[0].reason)


def shown(slopes: Sequence[Slope]) -> list[int]:
    """1 or -1 for slopes that are shown to rise or fall, Holm's correction over all of them counted; else 0."""
    corrected = holm([one.slope.p_value for one in slopes])
    return [int(np.sign(one.slope.value)) if significant(p) else 0 for one, p in zip(slopes, corrected, strict=True)]


def bands(cells: Cells, judged: Judged, axis: str, *, common: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """What lies behind a curve of the AUROC, two float[L]; the curve itself where nothing is known.

    Of one seed it is the interval of every level over pictures, of several the lowest and the highest seed.
    """
    found = curves(cells, judged, axis, common=common)
    low, high = found.min(axis=0), found.max(axis=0)
    (told, *more), kind = cells.told[judged.model], "common" if common else "all"
    if more or "joint" not in told:
        return low, high
    ends = told["detectors"][judged.detector]["over_pictures"][axis][kind]["curve"]
    both = np.array([one or (None, None) for one in ends], float).T
    return tuple(np.where(np.isfinite(end), end, own) for end, own in zip(both, (low, high), strict=True))


@remembered  # a page asks for the same trends in several tables
def _trends(cells: Cells, judged: Judged, metric: str, common: bool) -> tuple[ShiftTrend, ...]:
    """Along both axes, of every seed."""
    return tuple(shift_trend(table, cells.present, common=common) for table in cells.values[metric][judged])


def line_spread(curve: np.ndarray) -> Spread:
    """The error of the slope of the straight line through a curve; none for fewer than three levels.

    Args:
        curve: float[L], NaN at a level that is left out.

    >>> found = line_spread(np.array([0.0, 2.0, 1.0]))  # slope .5, residual sum 1.5, one degree of freedom
    >>> round(found.standard_error, 3), found.degrees_of_freedom
    (0.866, 1)
    """
    x = np.flatnonzero(np.isfinite(curve)).astype(np.float64)
    y = curve[np.isfinite(curve)]
    if x.size < 3:
        return UNKNOWN
    x -= x.mean()
    rise = float(x @ y / (x @ x))
    rest = y - y.mean() - rise * x
    error = sqrt(float(rest @ rest) / (x.size - 2) / float(x @ x))
    return Spread(error, x.size - 2) if error > ROUNDING else UNKNOWN


def ends(curve: np.ndarray) -> tuple[float | None, float | None]:
    """The nearest and the farthest level that has a value, of float[S, L] averaged over the seeds."""
    mean = curve.mean(axis=0)
    known = mean[np.isfinite(mean)]
    return (float(known[0]), float(known[-1])) if known.size else (None, None)


def means(cells: Cells, judged: Judged, metric: str = "auroc") -> np.ndarray:
    """float[R, C], mean over the seeds, NaN where a cell is N/A."""
    return cells.values[metric][judged].mean(axis=0)


def spans(cells: Cells, judged: Judged) -> tuple[np.ndarray, np.ndarray]:
    """Ends of every cell's interval over pictures, given the seeds: float[R, C], NaN where there is none.

    The ends are averaged over the seeds. Errors of seeds on the same pictures go together at most fully, so the
    interval of their mean is never wider than that.
    """
    return cells.low[judged].mean(axis=0), cells.high[judged].mean(axis=0)


def blind(cells: Cells, judged: Judged) -> np.ndarray:
    """bool[R, C], present cells that a detector is not shown to tell from in-distribution pictures.

    That is: the interval over pictures reaches down to chance, or there is none and the AUROC is not above it.
    """
    low, mean = spans(cells, judged)[0], means(cells, judged)
    return cells.present & ~(np.where(np.isfinite(low), low, mean) > CHANCE)


def turned(cells: Cells, judged: Judged) -> np.ndarray:
    """bool[R, C], cells whose pictures a detector takes for more in-distribution than those that are."""
    high, mean = spans(cells, judged)[1], means(cells, judged)
    return cells.present & (np.where(np.isfinite(high), high, mean) < CHANCE)


def firsts(cells: Cells, judged: Sequence[Judged]) -> dict[Judged, np.ndarray]:
    """bool[R, C], the cells in which each has the largest mean AUROC; a tie counts for all of them."""
    stacked = np.array([means(cells, one) for one in judged]).round(12)
    largest = np.where(cells.present, stacked.max(axis=0), np.inf)
    return {one: table == largest for one, table in zip(judged, stacked, strict=True)}


def leader(run: ShiftRun) -> Judged | None:
    """The largest AUROC against the whole pool; None where nobody has one."""
    return next(iter(ranked(run)), None)


def ranked(run: ShiftRun) -> list[Judged]:
    """Those that have an AUROC against the whole pool, the largest first."""
    found = {one: overall(run, one).value for one in run.judged}
    return sorted((one for one, value in found.items() if value is not None), key=lambda one: -found[one])


def mixed(over_all: Slope, over_common: Slope) -> bool:
    """Whether the mix of cells makes a trend: it turns, or changes by a point per level, on the common levels."""
    both = over_all.slope.value, over_common.slope.value
    if None in both:
        return False
    apart = abs(both[0] - both[1])
    return apart >= POINT or (both[0] * both[1] < 0 and apart >= POINT / 2)


POINT = 0.01
