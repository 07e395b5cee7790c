"""Accuracy with an honest interval, and the harmonic mean of two accuracies.

The interval is Wilson's (1927). Samples that belong together (drawings, videos) enter through `groups`: the
standard error is then clustered and the interval takes the effective number of samples, as Korn and Graubard
(1998) do for surveys; Wilson's formula with that number: Dean and Pagano (2015).
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from openworld.core.arrays import ArrayLike, as_correct, as_scores
from openworld.core.errors import OpenworldError
from openworld.core.types import Fraction, checked
from openworld.metrics._design import Side, design
from openworld.metrics.estimate import Influence, spread, student_quantile


@dataclass(frozen=True)
class Accuracy:
    """Share of correct samples (`value`), its standard error and Wilson interval; None with `reason`.

    `effective_n` is the number of independent samples that would be as informative as the n that were given.
    """

    value: float | None
    standard_error: float | None
    interval: tuple[float, float] | None
    n: int
    effective_n: float | None
    level: float
    reason: str | None = None


@checked
def accuracy(
    correct: ArrayLike, weights: ArrayLike | None = None, groups: ArrayLike | None = None, *, level: Fraction = 0.95
) -> Accuracy:
    """Share of correct samples, weighted if asked, with a Wilson interval.

    Args:
        correct: bool[N].
        weights: float[N], not negative, any scale; None = all equal. A sample of weight 0 is left out.
        groups: integer or string[N], which samples belong together; None or all different = independent
            samples.
        level: confidence of the interval, in (0, 1).
    Returns:
        Accuracy; value and interval in [0, 1]. The standard error is None where it cannot be known (one
        sample, one group, no spread between them); the interval is None without samples or with one group of
        several.
    Raises:
        OpenworldError: NaN, negative weights, lengths that differ, level outside (0, 1).
    Source: Wilson (1927); Korn and Graubard (1998) for the effective number of samples.

    >>> result = accuracy([1, 1, 1, 0])
    >>> result.value, [round(end, 3) for end in result.interval]  # (p + z2/2n +- ...) / (1 + z2/n), z2 = 3.84
    (0.75, [0.301, 0.954])
    >>> accuracy([1, 1, 0, 0], groups=["a", "a", "b", "b"]).standard_error  # as two samples, 1 and 0
    0.5
    """
    correct = as_correct(correct, "correct")
    none = None if groups is None else np.zeros(0, int)
    plan = design((correct.size, 0), (weights, None), (groups, none), names=("", "other"))
    side = plan.base
    count = side.n if side.weights is None else int(np.count_nonzero(side.weights))
    if not count:
        return Accuracy(None, None, None, 0, None, level, "no samples (of positive weight)")
    value = side.mean(correct)
    error = spread(Influence(plan, correct - value, None)).standard_error
    effective = _effective_n(side, count, value, error, level)
    interval = None if effective is None else wilson_interval(value, effective, level)
    reason = "a standard error needs two or more samples or groups that differ" if error is None else None
    return Accuracy(value, error, interval, count, effective, level, reason)


def wilson_interval(share: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's (1927) interval of a share seen on n independent samples; n may be fractional."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    centre = (n * share + z * z / 2) / (n + z * z)
    half = z * np.sqrt(n * share * (1 - share) + z * z / 4) / (n + z * z)
    low = 0.0 if share == 0 else float(max(centre - half, 0.0))  # exact ends, where rounding leaves 1e-17
    return low, 1.0 if share == 1 else float(min(centre + half, 1.0))


@checked
def harmonic_mean(first: float, second: float) -> float:
    """HM = 2ab / (a + b) of two accuracies, 0 where both are 0.

    Args:
        first, second: not negative, the same unit (BaseAcc and NewAcc).
    Returns:
        float between the smaller of the two and their mean.
    Raises:
        OpenworldError: NaN, infinite or negative values.

    >>> harmonic_mean(0.5, 1.0), harmonic_mean(0.0, 0.0)
    (0.6666666666666666, 0.0)
    """
    pair = as_scores([first, second], "harmonic_mean's pair")
    if (pair < 0).any():
        raise OpenworldError(f"harmonic_mean takes two accuracies from 0 up; it got {first} and {second}.")
    largest = pair.max()  # scaled by it, so that tiny values do not underflow in the product
    return float(2 * pair.min() / (1 + pair.min() / largest)) if largest > 0 else 0.0


def _effective_n(side: Side, count: int, value: float, error: float | None, level: float) -> float | None:
    if side.n_groups == count:  # independent
        return side.effective_groups
    if side.too_few:
        return None
    if error is None:  # all right, all wrong, or groups that agree: no more is known than one sample a group
        return side.effective_groups
    quantile = student_quantile(level, side.effective_groups - 1)
    shrink = NormalDist().inv_cdf((1 + level) / 2) / quantile if quantile else 1.0  # few groups: an uncertain error
    weights = np.ones(side.n) if side.weights is None else side.weights
    most = float(side.total**2 / np.square(weights).sum())  # as if every sample were independent
    return min(most, value * (1 - value) * (shrink / error) ** 2)
