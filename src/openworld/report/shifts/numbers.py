"""What the tables of a shift report hold: numbers over seeds, curves over levels, slopes, who is best and who is blind.

A number of several seeds is their mean, with Student's interval over the seeds; of one seed it has the record's
interval over pictures where there is one. A curve is the plain mean over the present cells of the other axis (IS-OOD,
Tables 1 and 2), or over the levels that all of its levels share ("common"). The slope of one seed has the interval of
the straight line through its levels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt

import numpy as np

from openworld.metrics import ShiftTrend, seed_spread, shift_trend
from openworld.metrics.estimate import student_quantile
from openworld.report.shifts.run import Cells, Judged, ShiftRun, Told

LEVEL = 0.95
CHANCE = 0.5
ANY = (-np.inf, np.inf)


@dataclass(frozen=True)
class Number:
    """A fraction, its 95 % interval or None, and what that is over: "seeds", "pictures" or "levels"."""

    value: float | None
    interval: tuple[float, float] | None = None
    over: str = ""


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

    @property
    def direction(self) -> int:
        """1 or -1 where the interval leaves no doubt, 0 where it does or is missing."""
        if self.slope.interval is None:
            return 0
        low, high = self.slope.interval
        return int(low > 0) - int(high < 0)


def overall(run: ShiftRun, judged: Judged, subset: str = "") -> Number:
    """AUROC against the whole pool as the run counts it, or against another of `SUBSETS`."""
    return of_seeds(run.areas(judged, subset or ("all" if run.cells.id_kept else "unknown")))


def of_seeds(areas: Sequence[Told]) -> Number:
    """The mean of areas {"value", "interval"}, one per seed."""
    if len(areas) == 1:
        interval = areas[0]["interval"]
        return Number(areas[0]["value"], tuple(interval) if interval else None, "pictures")
    return averaged([one["value"] for one in areas], (0.0, 1.0))


def averaged(values: Sequence[float | None], limits: tuple[float, float] = ANY) -> Number:
    """The mean over seeds with Student's interval; None where a seed has no number."""
    if not values or None in values or not np.isfinite(values).all():
        return Number(None)
    return Number(float(np.mean(values)), seed_spread(values, limits).interval(), "seeds")


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
    if len(told) == 1 and values[0] is not None:
        curve = curves(cells, judged, axis, metric, common=common)[0]
        return Slope(Number(values[0], line_interval(curve), "levels"), correlation, told[0].n, told[0].reason)
    return Slope(averaged(values), correlation, told[0].n, told[0].reason)


@lru_cache(maxsize=4096)  # a page asks for the same trends in several tables
def _trends(cells: Cells, judged: Judged, metric: str, common: bool) -> tuple[ShiftTrend, ...]:
    """Along both axes, of every seed."""
    return tuple(shift_trend(table, cells.present, common=common) for table in cells.values[metric][judged])


def line_interval(curve: np.ndarray) -> tuple[float, float] | None:
    """The 95 % interval of the slope of the straight line through a curve; None for fewer than three levels.

    Args:
        curve: float[L], NaN at a level that is left out.

    >>> low, high = line_interval(np.array([0.0, 2.0, 1.0]))  # slope .5, residual sum 1.5, one degree of freedom
    >>> round(low, 2), round(high, 2)
    (-10.5, 11.5)
    """
    x = np.flatnonzero(np.isfinite(curve)).astype(np.float64)
    y = curve[np.isfinite(curve)]
    if x.size < 3:
        return None
    x -= x.mean()
    rise = float(x @ y / (x @ x))
    rest = y - y.mean() - rise * x
    half = student_quantile(LEVEL, x.size - 2) * sqrt(float(rest @ rest) / (x.size - 2) / float(x @ x))
    return rise - half, rise + half


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
    found = {one: overall(run, one).value for one in run.judged}
    known = {one: value for one, value in found.items() if value is not None}
    return max(known, key=known.__getitem__, default=None)


def mixed(over_all: Slope, over_common: Slope) -> bool:
    """Whether the mix of cells makes a trend: it turns, or changes by a point per level, on the common levels."""
    both = over_all.slope.value, over_common.slope.value
    if None in both:
        return False
    apart = abs(both[0] - both[1])
    return apart >= POINT or (both[0] * both[1] < 0 and apart >= POINT / 2)


POINT = 0.01
