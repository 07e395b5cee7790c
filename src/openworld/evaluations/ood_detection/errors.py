"""How far off numbers of a run may be: over images, over seeds, or over both.

Of one seed a number has its error over images, the model held fixed. Of several it is their mean, and other seeds and
other images are two reasons for it to move: the variance of that mean over the seeds and the squared error over images
add up. Seeds meet the same images, so that the latter hardly shrinks with their number; the mean of their errors, what
it would be if they erred as one, is never too small. Degrees of freedom are Welch-Satterthwaite's.
"""

from collections.abc import Mapping, Sequence
from math import inf, sqrt

import numpy as np

from openworld.evaluations.ood_detection.record import JointErrors
from openworld.metrics.estimate import LEVEL, ROUNDING, Spread, student_quantile
from openworld.results import Interval, Metric, Value

UNKNOWN = Spread(None, None)


def with_error(
    number: float, error: Spread, metric: Metric, over: str, *, n: int | None = None, deviation: float | None = None
) -> tuple[Value, float | None]:
    """A number with Student's interval, cut at the bounds of the metric, and the p-value of its being 0, two-sided.

    Args:
        error: standard error and degrees of freedom; where they are not known there is no interval and no p-value.
        over: "images", "seeds", "seeds and images", or "levels", of the straight line through a curve.
        n: how many of these, where that is one number.
        deviation: over the seeds.
    """
    quantile = student_quantile(LEVEL, error.degrees_of_freedom)
    if quantile is None:
        return Value(number, deviation=deviation), None
    from scipy.special import stdtr

    half, (least, most) = quantile * error.standard_error, metric.bounds
    low = max(-inf if least is None else least, number - half)
    high = min(inf if most is None else most, number + half)
    p = 2 * float(stdtr(error.degrees_of_freedom, -abs(number) / error.standard_error))
    return Value(number, (Interval(low, high, over, n),), deviation=deviation), p


def seed_mean(
    values: Sequence[float | None], metric: Metric, over_images: Sequence[Spread] = (), reason: str = ""
) -> tuple[Value, float | None]:
    """The mean over seeds with its interval, and the p-value of its being 0.

    Args:
        values: one per seed.
        over_images: their errors; where any is unknown, several seeds have an error over seeds alone.
        reason: why there is no mean, where a seed has no value.
    """
    if not values or None in values or not np.isfinite(values).all():
        return Value(None, reason=reason or "it is not defined for every seed"), None
    mean, count = float(np.mean(values)), len(values)
    known = bool(over_images) and all(error.standard_error for error in over_images)
    if count == 1:
        return with_error(mean, over_images[0] if known else UNKNOWN, metric, "images")
    variance = float(np.var(values, ddof=1))
    variances, deviation = [(variance / count, count - 1)], sqrt(variance)
    if not known:
        return with_error(mean, _sum_of(variances), metric, "seeds", n=count, deviation=deviation)
    error = float(np.mean([error.standard_error for error in over_images]))
    variances.append((error**2, min(error.degrees_of_freedom for error in over_images)))
    return with_error(mean, _sum_of(variances), metric, "seeds and images", deviation=deviation)


def _sum_of(variances: Sequence[tuple[float, float]]) -> Spread:
    """The error whose square is a sum of variances, each with its degrees of freedom."""
    total = sum(variance for variance, _ in variances)
    if sqrt(total) <= ROUNDING:
        return UNKNOWN
    return Spread(sqrt(total), total**2 / sum(variance**2 / degrees for variance, degrees in variances))


def joint_error(joint: JointErrors | None, contrast: Mapping[str, float]) -> Spread:
    """The error of a detector's number, or of a difference, by the errors of all detectors of its model.

    Args:
        joint: None where a record has no errors.
        contrast: what detectors count: {"MSP": 1} or {"MSP": 1, "KNN": -1}.

    >>> joint = JointErrors(("a", "b"), ((4.0, 3.5), (3.5, 4.0)), (9, 8))
    >>> joint_error(joint, {"a": 1, "b": -1})
    Spread(standard_error=1.0, degrees_of_freedom=8, reason=None, groups=())
    """
    if joint is None:
        return UNKNOWN
    counted = [(joint.detectors.index(label), factor) for label, factor in contrast.items()]
    degrees = [joint.degrees_of_freedom[place] for place, _ in counted]
    variance = sum(first * two * joint.covariance[a][b] for a, first in counted for b, two in counted)
    if None in degrees or variance <= ROUNDING**2:
        return UNKNOWN
    return Spread(sqrt(variance), min(degrees))


def line_error(curve: np.ndarray) -> Spread:
    """The error of the slope of the straight line through a curve; none for fewer than three levels.

    Args:
        curve: float[L], NaN at a level that is left out.

    >>> error = line_error(np.array([0.0, 2.0, 1.0]))  # slope .5, residual sum 1.5, one degree of freedom
    >>> round(error.standard_error, 3), error.degrees_of_freedom
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
