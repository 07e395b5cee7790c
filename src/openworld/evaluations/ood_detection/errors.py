"""How far off numbers of a run may be: over images, over seeds, or over both.

Of one seed a number has its error over images, the model held fixed. Of several it is their mean, and other seeds and
other images are two reasons for it to move: the variance of that mean over the seeds and the squared error over images
add up. Seeds meet the same images, so that the latter hardly shrinks with their number; the mean of their errors, what
it would be if they erred as one, is never too small. Degrees of freedom are Welch-Satterthwaite's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from openworld.evaluations.ood_detection.record import JointErrors
from openworld.metrics.estimate import LEVEL, ROUNDING, Spread, student_quantile
from openworld.results import Interval, Metric, Value

UNKNOWN = Spread(None, None)
UNDEFINED = "it is not defined for every seed"


@dataclass(frozen=True)
class SeedMean:
    """The mean over seeds, or the number of a single one, and its error.

    Args:
        value: None where a seed has none.
        error: standard error and degrees of freedom; without them where they are not known.
        over: "images", "seeds", "seeds and images", or "levels", of the straight line through a curve.
        n: how many of these, where that is one number.
    """

    value: float | None
    error: Spread = UNKNOWN
    over: str = "seeds"
    n: int | None = None

    def interval(self, metric: Metric) -> Interval | None:
        """Student's interval, cut at the bounds of the metric; None without an error."""
        quantile = student_quantile(LEVEL, self.error.degrees_of_freedom)
        if quantile is None or self.value is None:
            return None
        half, (least, most) = quantile * self.error.standard_error, metric.bounds
        low = max(-inf if least is None else least, self.value - half)
        high = min(inf if most is None else most, self.value + half)
        return Interval(low, high, self.over, self.n)

    @property
    def p(self) -> float | None:
        """Two-sided, of the number's being 0; None without an error."""
        if self.value is None or self.error.degrees_of_freedom is None:
            return None
        from scipy.special import stdtr

        return 2 * float(stdtr(self.error.degrees_of_freedom, -abs(self.value) / self.error.standard_error))

    def as_value(self, metric: Metric, reason: str = "", deviation: float | None = None) -> Value:
        """The number as a result."""
        if self.value is None:
            return Value(None, reason=reason or UNDEFINED)
        interval = self.interval(metric)
        return Value(self.value, (interval,) if interval else (), deviation=deviation)


def seed_mean(values: Sequence[float | None], over_images: Sequence[Spread] = ()) -> SeedMean:
    """The mean over seeds.

    Args:
        values: one per seed.
        over_images: their errors; where any is unknown, several seeds have an error over seeds alone.
    """
    if not values or None in values or not np.isfinite(values).all():
        return SeedMean(None)
    mean, known = float(np.mean(values)), bool(over_images) and all(error.standard_error for error in over_images)
    if len(values) == 1:
        return SeedMean(mean, over_images[0] if known else UNKNOWN, "images")
    parts = [(float(np.var(values, ddof=1)) / len(values), len(values) - 1)]
    if not known:
        return SeedMean(mean, _sum_of(parts), "seeds", len(values))
    error = float(np.mean([one.standard_error for one in over_images]))
    parts.append((error**2, min(one.degrees_of_freedom for one in over_images)))
    return SeedMean(mean, _sum_of(parts), "seeds and images")


def _sum_of(parts: Sequence[tuple[float, float]]) -> Spread:
    """The error whose square is a sum of variances, each with its degrees of freedom."""
    total = sum(variance for variance, _ in parts)
    if sqrt(total) <= ROUNDING:
        return UNKNOWN
    return Spread(sqrt(total), total**2 / sum(variance**2 / degrees for variance, degrees in parts))


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
    counted = {joint.detectors.index(label): factor for label, factor in contrast.items()}
    degrees, cover = [joint.degrees_of_freedom[place] for place in counted], joint.covariance
    variance = sum(one * other * cover[a][b] for a, one in counted.items() for b, other in counted.items())
    if None in degrees or variance <= ROUNDING**2:
        return UNKNOWN
    return Spread(sqrt(variance), min(degrees))


def line_error(curve: np.ndarray) -> Spread:
    """The error of the slope of the straight line through a curve; none for fewer than three levels.

    Args:
        curve: float[L], NaN at a level that is left out.

    >>> found = line_error(np.array([0.0, 2.0, 1.0]))  # slope .5, residual sum 1.5, one degree of freedom
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
