"""How far off numbers of a run may be: over images, over seeds, or over both.

Of one seed a number has its error over images, the model held fixed. Of several it is their mean, and other seeds and
other images are two reasons for it to move: the variance of that mean over the seeds and the squared error over images
add up. Seeds meet the same images, so that the latter hardly shrinks with their number; the mean of their errors, what
it would be if they erred as one, is never too small. Degrees of freedom are Welch-Satterthwaite's.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from openworld.metrics import CellSums
from openworld.metrics.estimate import LEVEL, ROUNDING, Spread, student_p, student_quantile
from openworld.results import Interval, Metric, Value

UNKNOWN = Spread(None, None)
TABLE = "errors"
"""The table of a record with the errors of its numbers over images."""


@dataclass(frozen=True, eq=False)
class JointErrors:
    """How a number of all D detectors of a model errs over images; degrees of freedom are NaN where it has no error."""

    detectors: tuple[str, ...]
    covariance: np.ndarray
    degrees_of_freedom: np.ndarray

    @classmethod
    def of(cls, spreads: Mapping[str, Spread], covariance: np.ndarray | None = None) -> "JointErrors":
        """The errors of detectors by label, as if they were independent unless their covariance is given."""
        errors = [(each.standard_error or 0.0, each.degrees_of_freedom or np.nan) for each in spreads.values()]
        deviations, degrees = np.array(errors, np.float64).T
        return cls(tuple(spreads), np.diag(deviations**2) if covariance is None else covariance, degrees)

    @classmethod
    def of_sum(cls, sums: CellSums, number: int, labels: Sequence[str]) -> "JointErrors | None":
        """The errors of a weighted sum of cells; None where they are not known."""
        if sums.reasons[number]:
            return None
        spreads = (sums.spread(number, one) for one in np.eye(len(labels)))
        return cls.of(dict(zip(labels, spreads, strict=True)), sums.covariance[number])

    def error(self, contrast: Mapping[str, float]) -> Spread:
        """The error of what detectors count: {"MSP": 1}, or of a difference, {"MSP": 1, "KNN": -1}."""
        places = [self.detectors.index(label) for label in contrast]
        factors, degrees = np.array([*contrast.values()]), self.degrees_of_freedom[places]
        variance = float(factors @ self.covariance[np.ix_(places, places)] @ factors)
        if np.isnan(degrees).any() or variance <= ROUNDING**2:
            return UNKNOWN
        return Spread(sqrt(variance), float(degrees.min()))


Errors = dict[str, JointErrors]
"""By `errors_key`."""


def errors_key(metric: Metric, where: Mapping[str, str | float]) -> str:
    """Return how a number is called in tables of errors, whose it is aside."""
    return json.dumps({"metric": metric.key, **dict(sorted(where.items()))})


def errors_table(errors: Errors) -> dict[str, np.ndarray]:
    """Return the columns of a table with a row per number and detector, whose covariance with all is a row."""
    joint = [*errors.values()]
    detectors = joint[0].detectors if joint else ()  # of a unit, and so of every number
    return {
        "number": np.repeat(np.array([*errors], object), len(detectors)),
        "detector": np.tile(np.array(detectors, object), len(joint)),
        "covariance": np.concatenate([each.covariance for each in joint] or [np.zeros((0, 1))]),
        "degrees_of_freedom": np.concatenate([each.degrees_of_freedom for each in joint] or [np.zeros(0)]),
    }


def read_errors(table: Mapping[str, np.ndarray]) -> Errors:
    errors, size = {}, np.asarray(table["covariance"]).shape[-1]
    for start in range(0, len(table["number"]), size):
        columns = ("detector", "covariance", "degrees_of_freedom")
        detectors, covariance, degrees = (np.asarray(table[name])[start : start + size] for name in columns)
        errors[str(table["number"][start])] = JointErrors(tuple(detectors.tolist()), covariance, degrees)
    return errors


def with_error(
    number: float, error: Spread, metric: Metric, over: str, *, n: int | None = None, deviation: float | None = None
) -> tuple[Value, float | None]:
    """Return a number with Student's interval, cut at the metric's bounds, and the p-value of its being 0."""
    quantile = student_quantile(LEVEL, error.degrees_of_freedom)
    if quantile is None or error.standard_error is None or error.degrees_of_freedom is None:
        return Value(number, deviation=deviation), None
    half, (least, most) = quantile * error.standard_error, metric.bounds
    low = max(-inf if least is None else least, number - half)
    high = min(inf if most is None else most, number + half)
    p = student_p(number, error.standard_error, error.degrees_of_freedom)
    return Value(number, (Interval(low, high, over, n),), deviation=deviation), p


def seed_mean(
    values: Sequence[float | None], metric: Metric, over_images: Sequence[Spread] = (), reason: str = ""
) -> tuple[Value, float | None]:
    """Return the mean over seeds with its interval, and the p-value of its being 0."""
    # Where the error of any seed over images is unknown, several seeds have an error over seeds alone.
    numbers = [value for value in values if value is not None]
    if not values or len(numbers) < len(values) or not np.isfinite(numbers).all():
        return Value(None, reason=reason or "it is not defined for every seed"), None
    mean, count = float(np.mean(numbers)), len(numbers)
    errors = [(each.standard_error, each.degrees_of_freedom) for each in over_images if each.standard_error]
    have_errors = bool(over_images) and len(errors) == len(over_images)
    if count == 1:
        return with_error(mean, over_images[0] if have_errors else UNKNOWN, metric, "images")
    variance = float(np.var(numbers, ddof=1))
    variances, over, n = [(variance / count, count - 1.0)], "seeds", count
    if have_errors:
        error = float(np.mean([error for error, _ in errors]))
        variances.append((error**2, min(degrees for _, degrees in errors if degrees is not None)))
        over, n = "seeds and images", None
    total, spread = sum(each for each, _ in variances), UNKNOWN
    if sqrt(total) > ROUNDING:  # Welch and Satterthwaite's degrees of freedom
        spread = Spread(sqrt(total), total**2 / sum(each**2 / degrees for each, degrees in variances))
    return with_error(mean, spread, metric, over, n=n, deviation=sqrt(variance))


def line_error(curve: np.ndarray) -> Spread:
    """The error of the slope of the straight line through a curve, NaN where left out; none below three levels."""
    x = np.flatnonzero(np.isfinite(curve)).astype(np.float64)
    y = curve[np.isfinite(curve)]
    if x.size < 3:
        return UNKNOWN
    x -= x.mean()
    rise = float(x @ y / (x @ x))
    rest = y - y.mean() - rise * x
    error = sqrt(float(rest @ rest) / (x.size - 2) / float(x @ x))
    return Spread(error, x.size - 2) if error > ROUNDING else UNKNOWN
