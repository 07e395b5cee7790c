"""The Dynamic Robustness Curve, accuracy against the level of change t, and the metrics drawn from it.

"OpenPL: Realistic Evaluation of Prompt Learning for VLM in Open Environments", section 4, Table 1. The curve
is averaged over the seeds first, then runs in straight lines from level to level, so that every integral is
exact, the crossings with the zero-shot curve included. It does not build the levels: a protocol does.
"""

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from openworld.core.arrays import ArrayLike, as_fractions, as_scores, require_size
from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.representation import short_repr
from openworld.core.types import Fraction, Limit, checked
from openworld.metrics.estimate import ROUNDING, student_quantile

NARROWEST = 1e-12  # a step between levels of less is rounding, and the slope over it has no meaning
CURVE_METRICS = (
    "auc", "worst_accuracy", "variation", "slope_variance",
    "positive_area", "negative_area", "delta_auc", "delta_pn",
)  # fmt: skip


@dataclass(frozen=True)
class SeedSpread:
    """Mean and sample standard deviation (n - 1) of one metric over the seeds; None with `reason`.

    `limits` are the smallest and the largest value that the metric may take.
    """

    mean: float | None
    std: float | None
    n: int
    reason: str | None = None
    limits: tuple[float, float] = (0.0, 1.0)

    @checked
    def interval(self, level: Fraction = 0.95) -> tuple[float, float] | None:
        """Student's t interval of the mean over other seeds, cut at the limits; None with `interval_reason`.

        >>> low, high = SeedSpread(0.5, 0.02, 4).interval()  # 3.18 x .02 / sqrt(4) on either side
        >>> round(low, 3), round(high, 3)
        (0.468, 0.532)
        """
        if self.interval_reason is not None or self.mean is None or self.std is None:
            return None
        half = student_quantile(level, self.n - 1) * self.std / sqrt(self.n)
        return max(self.limits[0], self.mean - half), min(self.limits[1], self.mean + half)

    @property
    def interval_reason(self) -> str | None:
        """Why there is no interval: one seed, no number, or seeds that agree (but for rounding): no evidence."""
        if self.std is None or self.mean is None:
            return self.reason
        agree = self.std <= ROUNDING * max(1.0, abs(self.mean))
        return "the seeds do not differ, and a zero variance is no evidence" if agree else None


@dataclass(frozen=True)
class Robustness:
    """Metrics of one Dynamic Robustness Curve; the symbol of the paper stands behind each.

    The last four compare with zero-shot and are None, with `reason`, where no zero-shot curve was given.
    """

    levels: tuple[float, ...]
    accuracy: tuple[float, ...]
    zero_shot: tuple[float, ...] | None
    auc: float  # AUC, area under the curve
    worst_accuracy: float  # WA, worst-case accuracy
    variation: float  # EVM, expected variation magnitude: the total variation
    slope_variance: float  # VS, variation stability: the variance of the slope
    positive_area: float | None  # PA, area where the curve lies above zero-shot
    negative_area: float | None  # NA, area where it lies below
    delta_auc: float | None  # AUC - AUC(zero-shot), performance-gain robustness
    delta_pn: float | None  # PA - NA, decay-gain-ratio robustness
    reason: str | None = None
    per_seed: tuple["Robustness", ...] = ()

    __repr__ = short_repr

    @checked
    def spread(self, metric: str) -> SeedSpread:
        """Mean and standard deviation of `metric`, or of `initial_accuracy`, over the curves of the seeds.

        This mean is not the metric of the mean curve, but for the linear `auc`, `delta_auc` and `delta_pn`.

        >>> round(robustness([0, 1], [[0.9, 0.5], [0.7, 0.5]]).spread("auc").mean, 3)  # of .7 and .6
        0.65
        """
        if metric not in LIMITS:
            raise unknown_name("robustness metric", metric, LIMITS)
        values = [getattr(seed, metric) for seed in self.per_seed]
        if None in values:
            return SeedSpread(None, None, len(values), self.reason)
        return seed_spread(values, LIMITS[metric])

    @property
    def initial_accuracy(self) -> float:
        """Acc(0), accuracy before anything has changed."""
        return self.accuracy[0]


LIMITS = dict.fromkeys(("initial_accuracy", *CURVE_METRICS), (0.0, 1.0))
LIMITS |= {"variation": (0.0, inf), "slope_variance": (0.0, inf), "delta_auc": (-1.0, 1.0), "delta_pn": (-1.0, 1.0)}


@checked
def seed_spread(values: ArrayLike, limits: tuple[Limit, Limit] = (0.0, 1.0)) -> SeedSpread:
    """Mean and sample standard deviation of a number over the seeds.

    Args:
        values: float[S], one per seed; fewer than two give None with a reason.
        limits: the smallest and the largest value that the number may take.

    >>> seed_spread([0.4, 0.6]).mean
    0.5
    """
    values = require_size(as_scores(values, "values"), "values")
    if len(values) < 2:
        return SeedSpread(None, None, len(values), "a spread needs two or more seeds", limits)
    return SeedSpread(float(np.mean(values)), float(np.std(values, ddof=1)), len(values), None, limits)


@checked
def robustness(levels: ArrayLike, accuracy: ArrayLike, zero_shot: ArrayLike | None = None) -> Robustness:
    """Metrics of the Dynamic Robustness Curve Acc(t), straight lines between the levels.

    On knots t_i with widths h_i and slopes g_i: AUC is the trapezoid sum, WA = min Acc, EVM = sum |g_i| h_i,
    VS = sum h_i (g_i - mean slope)^2, PA and NA split every segment where the two lines cross.
    As PA - NA is the integral of Acc - Acc_zs, `delta_pn` equals `delta_auc` identically. OpenPL's tables
    break this by up to .015 in 28 of 220 rows, where curves cross zero-shot; no crossing is clipped here.

    Args:
        levels: float[T], T >= 2, strictly increasing within [0, 1]. Areas run from the first level to the
            last and are not divided by the distance, so they compare only between curves of the same grid.
        accuracy: float[T], or float[S, T] with one row per seed, fractions in [0, 1]. Rows are averaged
            first; of two or more rows, each one's own metrics are in `per_seed`.
        zero_shot: like `accuracy`, on the very same views (one row serves all seeds); None leaves the
            comparison out.
    Returns:
        Robustness; areas and accuracies in [0, 1], the two deltas in [-1, 1], EVM and VS from 0 up.
    Raises:
        OpenworldError: NaN, values outside [0, 1], levels not increasing, shapes that do not agree.
    Source: OpenPL, section 4, Table 1 (there "EVM" is the integral of |Acc'|; "VS" uses the mean slope).

    >>> curve = robustness([0, 1], accuracy=[0.9, 0.5], zero_shot=[0.7, 0.7])  # a cross in the middle
    >>> round(curve.auc, 3), round(curve.positive_area, 3), round(curve.negative_area, 3)
    (0.7, 0.05, 0.05)
    >>> round(robustness([0, 0.5, 1], [0.8, 0.6, 0.7]).variation, 3)  # .2 down, .1 up
    0.3
    """
    levels = as_levels(levels)
    accuracy = _curves(accuracy, "accuracy", levels.size)
    zero_shot = None if zero_shot is None else _curves(zero_shot, "zero_shot", levels.size)
    seeds = len(accuracy)
    if zero_shot is not None and len(zero_shot) not in (1, seeds):
        raise OpenworldError(f"zero_shot has {len(zero_shot)} rows, accuracy {seeds}; pass one row a seed, or one.")
    references = [None] * seeds if zero_shot is None else np.broadcast_to(zero_shot, accuracy.shape)
    singles = tuple(_one_curve(levels, *pair) for pair in zip(accuracy, references, strict=True))
    mean_reference = None if zero_shot is None else zero_shot.mean(axis=0)
    return _one_curve(levels, accuracy.mean(axis=0), mean_reference, singles if seeds > 1 else ())


def _one_curve(levels: np.ndarray, accuracy: np.ndarray, zero_shot, per_seed=()) -> Robustness:
    widths, changes, weights = np.diff(levels), np.diff(accuracy), area_weights(levels)
    mean_slope = (accuracy[-1] - accuracy[0]) / (levels[-1] - levels[0])
    above = below = gain = balance = None
    if zero_shot is not None:
        above, below = (area_above(levels, sign * (accuracy - zero_shot))[0] for sign in (1, -1))
        gain, balance = float(weights @ accuracy) - float(weights @ zero_shot), above - below
    return Robustness(
        levels=tuple(levels.tolist()),
        accuracy=tuple(accuracy.tolist()),
        zero_shot=None if zero_shot is None else tuple(zero_shot.tolist()),
        auc=float(weights @ accuracy),
        worst_accuracy=float(accuracy.min()),
        variation=float(np.abs(changes).sum()),
        slope_variance=float(widths @ (changes / widths - mean_slope) ** 2),
        positive_area=above,
        negative_area=below,
        delta_auc=gain,
        delta_pn=balance,
        reason="no zero-shot curve to compare with" if zero_shot is None else None,
        per_seed=per_seed,
    )


def area_weights(levels) -> np.ndarray:
    """Return what the accuracy at each level weighs in the area under the curve, by trapezoids, float64[T]."""
    widths = np.diff(levels)
    return (np.append(widths, 0) + np.append(0, widths)) / 2


def area_above(levels: np.ndarray, gaps: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the area of the piecewise-linear curve above 0, and its slopes in the values at the levels."""
    widths, first, last = np.diff(levels), gaps[:-1], gaps[1:]
    cross = np.divide(first, first - last, out=np.zeros_like(first), where=first != last)
    start = np.where(first > 0, 0.0, np.where(last > 0, cross, 0.0))
    stop = np.where(last > 0, 1.0, np.where(first > 0, cross, 0.0))
    rising = widths * (stop**2 - start**2) / 2  # integral of the segment's second hat function where it is above
    slopes = np.append(widths * (stop - start) - rising, 0) + np.append(0, rising)
    return float(slopes @ gaps), slopes


def as_levels(levels: ArrayLike) -> np.ndarray:
    """Return two or more fractions that strictly increase: float64[T]."""
    levels = as_fractions(levels, "levels")
    if levels.size < 2:
        raise OpenworldError(f"levels has {levels.size} entries; a curve needs at least two levels.")
    if not (np.diff(levels) > NARROWEST).all():
        raise OpenworldError(f"levels must strictly increase, by more than {NARROWEST:g} each; got {levels.tolist()}.")
    return levels


def _curves(values, name: str, length: int) -> np.ndarray:
    curves = np.atleast_2d(as_fractions(values, name, (1, 2)))
    if curves.shape[1] != length or not len(curves):
        raise OpenworldError(f"{name} has shape {curves.shape}, expected ({length},) or (seeds, {length}).")
    return curves
