"""Is the difference between two models real? Paired tests on the same images, and Holm's correction for a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from openworld.core.arrays import (
    ArrayLike,
    as_array,
    as_fractions,
    as_scores,
    require_at_least,
    require_length,
    require_size,
)
from openworld.core.errors import OpenworldError
from openworld.core.types import Fraction, NotNegative, checked
from openworld.metrics.estimate import (
    NO_CLOSED_FORM,
    ROUNDING,
    MetricEstimate,
    Spread,
    combine,
    spread,
    student_p,
    student_quantile,
)

SAME_SEEDS = "no two seeds differ, and a zero variance is no evidence"


@dataclass(frozen=True)
class PairedTest:
    """The difference first - second, its standard error and two-sided p-value.

    standard_error, degrees_of_freedom and p_value are None, with `reason`, where the error cannot be known; an error
    of zero (identical models) is no error and gives no p-value.
    """

    difference: float | None
    standard_error: float | None
    degrees_of_freedom: float | None
    p_value: float | None
    reason: str | None = None

    @checked
    def interval(self, level: Fraction = 0.95) -> tuple[float, float] | None:
        """Confidence interval of the difference, difference -+ t x standard error; None without an error."""
        quantile = student_quantile(level, self.degrees_of_freedom)
        if quantile is None or self.standard_error is None or self.difference is None:
            return None
        return (self.difference - quantile * self.standard_error, self.difference + quantile * self.standard_error)

    @checked
    def equivalence(self, margin: NotNegative) -> float | None:
        """p-value of the two being no further apart than a margin: the larger of two one-sided tests; None as p_value.

        Args:
            margin: float above 0, in the unit of the difference.
        Source: Schuirmann (1987), two one-sided tests.

        >>> PairedTest(0.0, 0.01, 1000.0, 1.0).equivalence(0.02) < 0.03  # the margin is two errors away, on both sides
        True
        """
        if self.difference is None or self.standard_error is None:
            return None
        from scipy.special import stdtr

        return float(stdtr(self.degrees_of_freedom, (abs(self.difference) - margin) / self.standard_error))


@checked
def paired_test(first: Any, second: Any, of: str = "openworld_auc") -> PairedTest:
    """Test whether two models differ on the same samples, from the differences of what each sample contributes.

    The statistic is difference / standard error against Student's t with (effective groups - 1) degrees of freedom,
    two-sided. For averages over seeds the test speaks of other images, with these seeds.

    Args:
        first, second: two OpenworldAUC results, two averages over seeds, or two Estimates (such as `auroc` returns)
            of the same samples in the same order with the same weights and groups.
        of: which of QUANTITIES to compare; ignored for Estimates, which are one quantity.
    Returns:
        PairedTest; difference in [-1, 1], p_value in [0, 1].
    Raises:
        OpenworldError: the two differ in sizes, weights or groups; unknown quantity.
    Source: DeLong et al. (1988), equation 5, with groups as in Obuchowski (1997).

    >>> from openworld.metrics._auroc import auroc
    >>> test = paired_test(auroc([2, 4, 3], [1, 0]), auroc([2, 4, 0], [1, 3]))
    >>> round(test.difference, 3)  # 1 - 3/6
    0.5
    """
    first, second = estimate_of(first, of), estimate_of(second, of)
    if first.value is None or second.value is None:
        return PairedTest(None, None, None, None, first.reason or second.reason)
    difference = first.value - second.value
    if first.influence is None or second.influence is None:
        return PairedTest(difference, None, None, None, NO_CLOSED_FORM)
    if not first.influence.design.same_as(second.influence.design):
        raise OpenworldError(
            "a paired test needs the same samples, in the same order, with the same weights and groups on both sides; "
            "these two results differ in one of them."
        )
    error = spread(combine([first.influence, second.influence], (1.0, -1.0)))
    return against_zero(difference, error)


def against_zero(difference: float, error: Spread) -> PairedTest:
    """Return the test of a difference with this error."""
    if error.standard_error is None or error.degrees_of_freedom is None:
        return PairedTest(difference, None, None, None, error.reason)
    p_value = student_p(difference, error.standard_error, error.degrees_of_freedom)
    return PairedTest(difference, error.standard_error, error.degrees_of_freedom, p_value)


@checked
def seeds_test(first: ArrayLike, second: ArrayLike) -> PairedTest:
    """Test whether two methods differ in the mean over other seeds: the paired t-test, one pair per seed.

    It speaks of new class orders, shots and trainings on these images; three seeds leave two degrees of freedom.

    Args:
        first, second: float[S], the same number for the same seeds in the same order.
    Returns:
        PairedTest; without p-value for fewer than two seeds, or differences that are all equal.
    Raises:
        OpenworldError: lengths that differ, NaN.
    Source: Student (1908).

    >>> test = seeds_test([0.5, 0.7, 0.9], [0.4, 0.5, 0.6])  # differences .1, .2, .3: t = 2 sqrt(3)
    >>> round(test.difference, 3), round(test.p_value, 3)
    (0.2, 0.074)
    """
    first, second = (require_size(as_scores(side, name), name) for side, name in ((first, "first"), (second, "second")))
    require_length(second, "second", first.size)
    if not first.size:
        return PairedTest(None, None, None, None, "there is no seed")
    differences = first - second
    mean = float(differences.mean())
    if first.size < 2:
        return PairedTest(mean, None, None, None, "one seed says nothing about other seeds")
    error = float(differences.std(ddof=1) / np.sqrt(first.size))
    if error <= ROUNDING:
        return PairedTest(mean, None, None, None, SAME_SEEDS)
    return against_zero(mean, Spread(error, first.size - 1.0))


@checked
def seeds_test_against_summary(
    values: ArrayLike, mean: float, deviation: NotNegative = 0.0, count: int = 1
) -> PairedTest:
    """Test whether the mean over our seeds differs from one that others printed: Welch's t-test from a summary.

    Args:
        values: float[S], our number for every seed.
        mean: the printed mean.
        deviation: the printed sample standard deviation over seeds, at least 0; 0 takes the printed mean as exact,
            which is Student's one-sample test.
        count: number of seeds behind the printed mean, at least 1; at least 2 with a deviation.
    Returns:
        PairedTest of ours minus printed; without p-value for fewer than two seeds of ours, or no spread on either side.
    Raises:
        OpenworldError: NaN, a negative deviation, a deviation of fewer than two seeds.
    Source: Welch (1947); degrees of freedom after Satterthwaite (1946).

    >>> test = seeds_test_against_summary([0.1, 0.2, 0.3], 0.1, 0.1, 3)  # t = .1 / sqrt(2 x .01 / 3), 4 degrees
    >>> round(test.p_value, 3), round(test.degrees_of_freedom, 3)
    (0.288, 4.0)
    """
    ours = as_scores(values, "values")
    require_at_least(2 if deviation else 1, count=count)
    if not ours.size:
        return PairedTest(None, None, None, None, "there is no seed")
    difference = float(ours.mean() - mean)
    if ours.size < 2:
        return PairedTest(difference, None, None, None, "one seed says nothing about other seeds")
    size = float(np.abs(ours - ours.mean()).max()) or 1.0  # no square of a large number overflows
    errors = np.array([size * (ours / size).std(ddof=1) / np.sqrt(ours.size), deviation / np.sqrt(count)])
    error = float(np.hypot(*errors))
    if error <= ROUNDING:
        return PairedTest(difference, None, None, None, SAME_SEEDS)
    freedom = float(1 / ((errors / error) ** 4 / np.maximum([ours.size - 1, count - 1], 1)).sum())
    return against_zero(difference, Spread(error, freedom))


@checked
def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """p-values corrected for being many (Holm, 1979): any one may be called significant at the level it shows.

    Args:
        p_values: float in [0, 1]; None for a comparison that could not be tested, which stays None.
    Returns:
        Corrected p-values in the same order, in [0, 1].
    Raises:
        OpenworldError: a p-value outside [0, 1].

    >>> holm([0.01, None, 0.04, 0.03])  # 3 x .01, then 2 x .03, and .04 is not let below
    [0.03, None, 0.06, 0.06]
    """
    table = as_array(p_values, "p_values")
    if table.ndim != 1:
        raise OpenworldError(f"p_values has shape {table.shape}, expected one dimension: one p-value per comparison.")
    places = [index for index, value in enumerate(p_values) if value is not None]
    tested = sorted(zip(as_fractions(table[places], "p_values").tolist(), places, strict=True))
    corrected: list[float | None] = [None] * len(table)
    largest = 0.0
    for rank, (p_value, index) in enumerate(tested):
        largest = max(largest, min(1.0, (len(tested) - rank) * p_value))
        corrected[index] = largest
    return corrected


def estimate_of(result, of: str) -> MetricEstimate:
    """Return a MetricEstimate itself; a quantity of a result, or of an average over seeds."""
    if isinstance(result, MetricEstimate):
        return result
    if isinstance(result, type) or not hasattr(result, "estimate"):
        raise OpenworldError(
            f"{type(result).__name__} came, expected a MetricEstimate, a result of openworld_auc, or an average over "
            "seeds."
        )
    return result.estimate(of)
