"""Numbers estimated from a base and a new sample, their standard errors and intervals.

All of them are smooth functions of two-sample U-statistics, so to first order a sample changes the number by its
influence, and the variance of the number is the sum of squared influences (DeLong et al., 1988, for AUROC). Samples
that belong together (variations of one drawing, frames of one video) are summed first (Obuchowski, 1997); a group may
hold base and new samples. Weights re-mix the samples: they change the number, and never count as more observations.

Where a side has no mistake, or hardly one, its influences say nothing of the mistakes that it did not happen to show.
No interval is therefore surer than Wilson's would be if no sample had been mistaken: see `unseen`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import exp, log, sqrt
from statistics import NormalDist
from typing import overload

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.core.types import Fraction, checked
from openworld.metrics._design import Design

ROUNDING = 1e-12  # a standard error below this is rounding: the samples agree exactly
KEPT = 2**20  # samples whose influences are kept: a dozen numbers of ten million would keep a gigabyte
LEVEL = 0.95  # of every confidence interval that nobody asks for otherwise
SIGNIFICANCE = 0.05  # a p-value below this, after correction, shows a difference
NO_VARIANCE = "no two samples (or groups) differ, and a zero variance is no evidence"
NO_CLOSED_FORM = "no closed form is given for this number"


@dataclass(frozen=True, eq=False)
class Influence:
    """First-order effect of each sample on a number, times n; None for a side that the number does not depend on."""

    design: Design
    base: np.ndarray | None
    new: np.ndarray | None


@dataclass(frozen=True)
class Spread:
    """Standard error and its degrees of freedom, or None and the reason."""

    standard_error: float | None
    degrees_of_freedom: float | None
    reason: str | None = None
    groups: tuple[float, ...] = ()  # effective independent groups of each side that it depends on


@dataclass(frozen=True)
class MetricEstimate:
    """A number in [0, 1] with, on demand, its standard error.

    value: the number, or None with `reason`. standard_error: computed when first asked for; None with `error_reason`
    where it cannot be known, which includes every error of zero.

    >>> undefined = MetricEstimate(None, "there is no new sample")
    >>> undefined.value, undefined.standard_error, undefined.error_reason
    (None, None, 'there is no new sample')
    """

    value: float | None
    reason: str | None = None
    _make: Callable[[], Influence] | None = field(default=None, repr=False, compare=False)
    _ceiling: Callable[[float], float] | None = field(default=None, repr=False, compare=False)

    @property
    def influence(self) -> Influence | None:
        """What each sample contributes, or None where no closed form is given; of many samples it is made anew."""
        if self._make is None or self.value is None:
            return None
        if "_influence" in self.__dict__:
            return self.__dict__["_influence"]
        made = self._make()
        if made.design.base.n + made.design.new.n <= KEPT:
            self.__dict__["_influence"] = made
        return made

    @cached_property
    def spread(self) -> Spread:
        """Standard error, degrees of freedom and effective groups, or the reason why there are none."""
        influence = self.influence
        if influence is None:
            return Spread(None, None, self.reason or NO_CLOSED_FORM)
        return spread(influence)

    @property
    def standard_error(self) -> float | None:
        """Clustered by the groups; see `spread`."""
        return self.spread.standard_error

    @property
    def degrees_of_freedom(self) -> float | None:
        """Effective number of groups - 1, of the two sides together (Welch-Satterthwaite)."""
        return self.spread.degrees_of_freedom

    @property
    def error_reason(self) -> str | None:
        """Why there is no standard error, or None."""
        return self.spread.reason

    @checked
    def interval(self, level: Fraction = 0.95) -> tuple[float, float] | None:
        """Confidence interval: Student's t on the logit scale, never surer than `unseen` allows.

        Args:
            level: confidence, in (0, 1).
        Returns:
            (low, high) within [0, 1]; None where there is no standard error, unless the value is 0 or 1: a sample
            without a mistake has an interval, though no standard error.

        >>> from openworld.metrics import auroc
        >>> perfect = auroc([3, 4, 5, 6], [0, 1, 2, 2.5])
        >>> [round(end, 3) for end in perfect.interval()]  # 1 - sqrt(2) x 3.84 / (4 + 3.84)
        [0.307, 1.0]
        """
        return share_interval(self.value, self.spread, level, 1.0 if self._ceiling is None else self._ceiling(level))

    def __float__(self) -> float:
        if self.value is None:
            raise OpenworldError(f"this number is undefined: {self.reason}.")
        return self.value


class Estimated:
    """Base of results of several quantities: each is an estimate that `_make` makes when it is first asked for."""

    @property
    def standard_error(self) -> float | None:
        """Closed form, over images (or groups); None with `error_reason`."""
        return self.estimate().standard_error

    @property
    def error_reason(self) -> str | None:
        """Why there is no standard error, or None."""
        return self.estimate().error_reason

    @checked
    def interval(self, level: Fraction = 0.95) -> tuple[float, float] | None:
        """Confidence interval over images (or groups), as `MetricEstimate.interval`."""
        return self.estimate().interval(level)

    @cached_property
    def _estimates(self) -> dict[str, MetricEstimate]:
        return {}

    def _make(self, of: str) -> MetricEstimate:
        raise NotImplementedError

    @checked
    def estimate(self, of: str = "openworld_auc") -> MetricEstimate:
        """One of QUANTITIES with its standard error (delta method) and interval, over images."""
        if of not in self._estimates:
            self._estimates[of] = self._make(of)
        return self._estimates[of]


def proportion(plan: Design, correct, side: str = "base") -> MetricEstimate:
    """Return the share of True in bool[n] of one side, with a lazy standard error."""
    chosen = getattr(plan, side)
    if chosen.empty:
        return MetricEstimate(None, chosen.empty)
    value = chosen.mean(correct)
    return MetricEstimate(value, None, lambda: Influence(plan, **{"base": None, "new": None, side: correct - value}))


def spread(influence: Influence) -> Spread:
    """Return the clustered standard error of the number that has this influence."""
    # Each side's sums are scaled by sqrt(G / (G - 1)), G its effective number of groups, before the two sums of a group
    # are added: without groups that is S10 / n_base + S01 / n_new with sample variances (DeLong et al., 1988).
    plan, sums, degrees = influence.design, [], []
    for side, values in ((plan.base, influence.base), (plan.new, influence.new)):
        if values is None:
            continue
        if side.too_few:
            return Spread(None, None, side.too_few)
        sums.append(side.scaled_sums(values))
        degrees.append(side.effective_groups - 1)
    parts = np.array([float(np.square(row).sum()) for row in sums])
    if plan.grouped:
        together = sums.pop(0)
        for row in sums:  # in place: of ten million groups a row takes 80 MB
            together += row
        error = sqrt(np.square(together, out=together).sum())
    else:
        error = sqrt(parts.sum())
    groups = tuple(count + 1 for count in degrees)
    if error <= ROUNDING:
        return Spread(None, None, NO_VARIANCE, groups)
    welch = float(parts.sum() ** 2 / (parts**2 / degrees).sum())
    return Spread(error, min(welch, plan.n_groups - 1), None, groups)


def correlation(estimates: Sequence[MetricEstimate]) -> np.ndarray | None:
    """Return how numbers of the same samples move together, float64[k, k]; None of too many samples."""
    designs = [estimate.influence.design for estimate in estimates if estimate.influence is not None]
    if any(len(estimates) * (design.base.n + design.new.n) > 32 * KEPT for design in designs):
        return None
    rows: list[np.ndarray | None] = []
    for estimate in estimates:
        sums, influence = [], estimate.influence if estimate.standard_error else None
        for side in ("base", "new"):
            if influence is not None and (values := getattr(influence, side)) is not None:
                sums.append(getattr(influence.design, side).scaled_sums(values))
        grouped = influence is not None and influence.design.grouped
        joined = sum(sums) if sums and grouped else np.concatenate(sums) if sums else None
        rows.append(None if joined is None else joined / np.linalg.norm(joined))
    matrix, places = np.eye(len(rows)), [place for place, row in enumerate(rows) if row is not None]
    if places:
        stacked = np.stack([row for row in rows if row is not None])
        matrix[np.ix_(places, places)] = stacked @ stacked.T
    return matrix


def share_interval(
    value: float | None, error: Spread, level: float = 0.95, ceiling: float = 1.0
) -> tuple[float, float] | None:
    """Return Student's t interval of a share on the logit scale, widened to what `unseen` mistakes allow."""
    quantile = student_quantile(level, error.degrees_of_freedom)
    if value is None:
        return None
    # None without an error, unless the share is 0 or 1 on a known number of groups. Above `ceiling`, which the share is
    # surely below, no unseen mistakes are allowed for.
    margin = unseen(error.groups, level)
    room = min(margin, max(ceiling, value))
    if error.groups and not ROUNDING < value < 1 - ROUNDING:
        return (0.0, room) if value < 0.5 else (1 - margin, 1.0)
    if quantile is None or error.standard_error is None or not 0 < value < 1:
        return None
    centre, half = log(value / (1 - value)), quantile * error.standard_error / (value * (1 - value))
    return min(_logistic(centre - half), 1 - margin), max(_logistic(centre + half), room)


def unseen(groups: Sequence[float], level: float = 0.95) -> float:
    """Return how large a share of mistakes the sides may hold at a confidence, although they showed none."""
    # One side of G independent groups without a mistake may have z^2 / (G + z^2) of them (Wilson, 1927); the shares of
    # two sides add up as independent errors do. It matters where there are fewer than a handful of mistakes: there a
    # linearised error is far too small (at accuracies of .99 and .98 and 60 samples a side its 95 % interval holds the
    # truth 88 times in 100).
    square = NormalDist().inv_cdf((1 + level) / 2) ** 2
    return min(1.0, sqrt(sum((square / (count + square)) ** 2 for count in groups)))


@overload
def student_quantile(level: float, degrees: float) -> float: ...
@overload
def student_quantile(level: float, degrees: float | None) -> float | None: ...
def student_quantile(level: float, degrees: float | None) -> float | None:
    """Two-sided quantile of Student's t (1.96 for level .95 and many degrees); None without degrees."""
    if degrees is None:
        return None
    from scipy.special import stdtrit

    middle = (1 + level) / 2
    return float(stdtrit(degrees, middle)) if middle > 0.5 else 0.0  # SciPy before 1.17 says 1e-16 at the median


def student_p(number: float, standard_error: float, degrees: float) -> float:
    """Return the two-sided p-value of a number being 0, against Student's t."""
    from scipy.special import stdtr

    return 2 * float(stdtr(degrees, -abs(number) / standard_error))


def combine(influences, factors) -> Influence:
    """Return the influence of sum(factor x number), all numbers from the same samples."""
    influences = list(influences)
    sides = [
        _sum([(factor, getattr(influence, side)) for factor, influence in zip(factors, influences, strict=True)])
        for side in ("base", "new")
    ]
    return Influence(influences[0].design, *sides)


def _sum(terms) -> np.ndarray | None:
    total = None
    for factor, values in terms:
        if values is None or not factor:
            continue
        if total is None:
            total = factor * values
        else:
            total += factor * values
    return total


def _logistic(x: float) -> float:
    return 1 / (1 + exp(-x)) if x > -700 else 0.0
