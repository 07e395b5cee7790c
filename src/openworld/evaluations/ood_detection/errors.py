"""How far numbers of a shift report may be off: over pictures, over seeds, or over both.

Of one seed a number has its error over pictures, the model held fixed. Of several it is their mean, and other seeds and
other pictures are two reasons for it to move: the variance of that mean over the seeds and the squared error over
pictures add up. Seeds meet the same pictures, so that the latter hardly shrinks with their number; the mean of their
errors, what it would be if they erred as one, is never too small. Degrees of freedom are Welch-Satterthwaite's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from openworld.metrics.estimate import LEVEL, ROUNDING, Spread, student_quantile

ANY = (-np.inf, np.inf)
UNKNOWN = Spread(None, None)


@dataclass(frozen=True)
class Number:
    """A number, its 95 % interval or None, what that is over, and the p-value of its being 0.

    over: "pictures", "seeds", "seeds and pictures", or "levels", of the straight line through a curve.
    """

    value: float | None
    interval: tuple[float, float] | None = None
    over: str = ""
    p_value: float | None = None


def off_by(value: float, found: Spread, over: str, limits: tuple[float, float] = ANY) -> Number:
    """A number with Student's interval, cut to `limits`; bare where it has no error."""
    quantile = student_quantile(LEVEL, found.degrees_of_freedom)
    if quantile is None:
        return Number(value, None, over)
    from scipy.special import stdtr

    half = quantile * found.standard_error
    ends = max(limits[0], value - half), min(limits[1], value + half)
    return Number(value, ends, over, 2 * float(stdtr(found.degrees_of_freedom, -abs(value) / found.standard_error)))


def averaged(
    values: Sequence[float | None], limits: tuple[float, float] = ANY, pictures: Sequence[Spread] = ()
) -> Number:
    """The mean over seeds; None where a seed has no number.

    Args:
        values: of every seed. limits: of what they can be.
        pictures: their errors over pictures; where any is unknown, several seeds have an interval over seeds alone.
    """
    if not values or None in values or not np.isfinite(values).all():
        return Number(None)
    mean, known = float(np.mean(values)), bool(pictures) and all(one.standard_error for one in pictures)
    if len(values) == 1:
        return off_by(mean, pictures[0] if known else UNKNOWN, "pictures", limits)
    parts = [(float(np.var(values, ddof=1)) / len(values), len(values) - 1)]
    if known:
        error = float(np.mean([one.standard_error for one in pictures]))
        parts.append((error**2, min(one.degrees_of_freedom for one in pictures)))
    return off_by(mean, _joined(parts), "seeds and pictures" if known else "seeds", limits)


def _joined(parts: Sequence[tuple[float, float]]) -> Spread:
    """Of a sum of variances, each with its degrees of freedom."""
    total = sum(variance for variance, _ in parts)
    if sqrt(total) <= ROUNDING:
        return UNKNOWN
    return Spread(sqrt(total), total**2 / sum(variance**2 / degrees for variance, degrees in parts))


def joint_spread(joint: Mapping[str, Any] | None, contrast: Mapping[str, float]) -> Spread:
    """The error of a detector's number, or of a difference, by what a record tells of all its detectors together.

    Args:
        joint: "detectors", "covariance" and "degrees_of_freedom"; None where a record has no errors.
        contrast: what detectors count: {"MSP": 1} or {"MSP": 1, "KNN": -1}.

    >>> joint = {"detectors": ["a", "b"], "covariance": [[4.0, 3.5], [3.5, 4.0]], "degrees_of_freedom": [9, 8]}
    >>> joint_spread(joint, {"a": 1, "b": -1})
    Spread(standard_error=1.0, degrees_of_freedom=8, reason=None, groups=())
    """
    if joint is None:
        return UNKNOWN
    counted = {joint["detectors"].index(label): factor for label, factor in contrast.items()}
    degrees, cover = [joint["degrees_of_freedom"][place] for place in counted], joint["covariance"]
    variance = sum(one * other * cover[a][b] for a, one in counted.items() for b, other in counted.items())
    if None in degrees or variance <= ROUNDING**2:
        return UNKNOWN
    return Spread(sqrt(variance), min(degrees))
