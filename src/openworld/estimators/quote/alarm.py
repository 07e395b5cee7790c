"""Alarms over time: does the accuracy lie below a limit, at a stated rate of false alarms in a year of chunks?

The evidence is added up over chunks, by the CUSUM of Page (Continuous inspection schemes, Biometrika, 1954):

    S_t = max(0, S_{t-1} + z_t - k),    z_t = (alert - accuracy_t + bias) / s,    an alarm stands where S_t > h

with bias and standard deviation s of what is quoted of such chunks where nothing has shifted. S is kept in units of h,
so that chunks of all sizes share one S, and an alarm stands where it is above 1. Tables of h take chunks for
independent; here one source, whose few images put the same error into every chunk of the year, has read them all. So k
and h come from simulated years whose true accuracy is the alert itself. Each year has one error of its source, drawn as
the resampled sources of a `Null` differ, and noise of its chunks, drawn from what differs within them, or within the
source of the year where each was asked about many targets; both spreads are known from few draws, and vary from year to
year by as much as that leaves open.

    k    half a standard deviation of a chunk, so that falls by one are found soonest, and as much as the error of the
         source exceeds in half of the allowed years: with less, S would climb for ever under too many sources
    h    what the largest S of a simulated year exceeds at the allowed rate

Single chunks jump now and then, where a rule of what is quoted ends and another begins: too rarely for some hundred
draws to tell how often. So a chunk counts for at most `MOST` standard deviations beyond k, and h is no less: it takes
two to raise an alarm, or one that lies `ALONE` of them below the alert. What has no such jumps (`jumps=False`: energy
distances) is added up whole. S never rises above 2 h, so that an alarm ends soon after the accuracy has recovered.
False alarms come from unlucky sources, in rows: most sources give none for years, a few give many.

A set that is not cut is a year of one chunk (`over=1`), with nothing to forget: k is 0, and this is the one-sided test
against its null.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Annotated

import numpy as np
from scipy.special import ndtr

from openworld.core.errors import OpenworldError
from openworld.core.types import Positive, Range, checked
from openworld.estimators.quote.null import Null

YEARS = 4_000  # simulated; the rate is then held to a third of a point
LONGEST = 10_000  # chunks of a simulated year
Rate = Annotated[float, Range(0.001, 0.5)]  # the rates that so many years can tell
HALF = 0.5  # of a chunk's standard deviation in k
MANY = 100  # targets of a source that show how they differ with it
SMOOTH = 0.4  # bandwidth of a normal kernel for four hundred draws of a null: what is beyond them; Silverman's rule
MOST, ALONE = 3.0, 12.0  # standard deviations; on source-like chunks what is quoted jumps by up to ten
HIGHEST = 2.0  # S as a multiple of h


@dataclass(frozen=True)
class AlarmLimit:
    """k and h of chunks of about one size, known before there is a chunk; accuracies are fractions in [0, 1].

    null_n: images of a set of the null; bias, within: mean error and standard deviation of what is quoted of such sets.
    error: what the error of the source exceeds in half of the allowed years. limit: h. jumps: whether a chunk counts
    for `MOST` standard deviations at most.
    """

    null_n: int
    bias: float
    within: float
    error: float
    limit: float
    jumps: bool = True

    def step(self, accuracy: float, n: int, alert: float) -> float:
        """Return what a chunk of n images of this accuracy adds to S, in limits."""
        z = (alert - (accuracy - self.bias)) / self._deviation(n)
        return float(_steps(z, self._allowance(n), jumps=self.jumps)) / self.limit

    def alone(self, n: int, alert: float) -> float:
        """Return the accuracy, less its bias, below which a chunk of n images raises an alarm alone."""
        most = self._allowance(n) + self.limit
        return alert - self._deviation(n) * (max(most, ALONE) if self.jumps else most)

    def lasting(self, n: int, alert: float) -> float:
        """Return the accuracy, less its bias, below which chunks of n images raise one in the long run."""
        return alert - self._deviation(n) * self._allowance(n)

    def _deviation(self, n: int) -> float:
        return _deviation(self.within, self.null_n, n)

    def _allowance(self, n: int) -> float:
        return HALF + self.error / self._deviation(n)


@checked
def alarm_limit(
    null: Null,
    n: Positive,
    *,
    rate: Rate = 0.05,
    over: Annotated[int, Range(1, LONGEST)] = 365,
    jumps: bool = True,
    seed: int = 0,
) -> AlarmLimit:
    """Find k and h of chunks of n images, of which none need be known yet.

    Args:
        null: what is quoted of source-like sets of about so many images. n: images of a chunk. rate: share of years in
            which an alarm may be raised although the accuracy is at the alert all the time, 0.001 to 0.5; where it is
            higher, fewer are raised. over: chunks of such a year, 1 to 10,000. jumps: whether what is quoted may jump
            between two rules. seed: of the simulated years.
    Raises:
        OpenworldError: a null of fewer than two sources or targets of each; a number outside its range.

    >>> estimates = 0.9 + 0.02 * np.random.default_rng(0).normal(size=(50, 4))  # fifty sources, four targets each
    >>> limit, statistic = alarm_limit(Null(100, estimates, np.full((50, 4), 0.9)), 100), 0.0
    >>> for accuracy in (0.88, 0.75, 0.75, 0.95):
    ...     statistic = add_step(statistic, limit.step(accuracy, 100, 0.9))
    ...     print(statistic > 1, end=" ")
    False False True False
    """
    if min(np.shape(null.estimates)) < 2:
        raise OpenworldError(
            f"the null has estimates of shape {np.shape(null.estimates)}, expected two sources or more with two "
            "targets or more each; use measure_null."
        )
    generator, jumps, (sources, targets) = np.random.default_rng(seed), jumps and over > 1, null.estimates.shape

    def relative_variance(degrees: int) -> np.ndarray:
        """Return what a variance may be, relative to the one that so few degrees of freedom show: float64[years]."""
        return degrees / generator.chisquare(degrees, YEARS)

    means = null.estimates.mean(axis=1)
    within, of_means = sqrt(null.estimates.var(axis=1, ddof=1).mean()), float(means.var(ddof=1))
    means = means - means.mean()
    # means are taken for errors only as far as they differ by more than their own noise
    share = max(0.0, 1 - within**2 / targets / of_means) if of_means else 0.0
    variance, drawn = relative_variance(sources - 1), generator.standard_normal((3, YEARS))
    # Which resampled source each year has: the lower its mean the larger `drawn[0]`.
    rows = np.argsort(means)[(ndtr(-drawn[0]) * sources).astype(int)]
    # With the share f of a mean m that is no noise, f m + sqrt(f (1 - f)) of m's deviation has the variance of true
    # errors, and the shape of the means as far as that is known; `variance` multiplies that of means, and few sources
    # tell the bias.
    noise = sqrt(share * (1 - share)) * drawn[1] + drawn[2] / sqrt(sources)
    errors = np.sqrt(variance) * (-share * means[rows] + sqrt(of_means) * noise)

    deviation, unlucky = _deviation(within, null.n, n), float(np.quantile(errors, 1 - rate / 2))
    allowance = HALF + unlucky / deviation if over > 1 else 0.0  # one chunk has nothing to forget
    scale = np.sqrt(relative_variance(sources * (targets - 1)))
    # Whole means would swallow part of a target's rare jump.
    left = null.estimates - null.estimates.mean() - share * means[:, None]
    left = left / left.std() if within else np.zeros_like(left)
    smooth = SMOOTH * min(1.0, (null.estimates.size / 400) ** -0.2)
    now, largest = np.zeros(YEARS), np.zeros(YEARS)
    for _ in range(over):
        of_chunk = rows if targets >= MANY else generator.integers(0, sources, YEARS)
        noise = -left[of_chunk, generator.integers(0, targets, YEARS)] + smooth * generator.standard_normal(YEARS)
        now = np.maximum(0, now + _steps(errors / deviation + scale * noise, allowance, jumps=jumps))
        np.maximum(largest, now, out=largest)
    highest = float(np.quantile(largest, 1 - rate))
    error = float((allowance - HALF) * deviation)
    return AlarmLimit(null.n, null.bias, within, error, max(highest, MOST) if jumps else highest, jumps)


def add_step(statistic: float, step: float, highest: float = HIGHEST) -> float:
    """Return S after another chunk, in limits where `highest` is; one of which nothing can be told adds 0."""
    return min(highest, max(0.0, statistic + step))


def _deviation(within: float, null_n: int, n: int) -> float:
    """Return the standard deviation of estimates of chunks of n images; half an image where the null shows none."""
    return max(within * sqrt(null_n / n), 0.5 / n)


def _steps(z: np.ndarray | float, allowance: float, *, jumps: bool) -> np.ndarray:
    """Return what chunks add to S."""
    beyond = np.subtract(z, allowance)
    return np.where(z > ALONE, beyond, np.minimum(beyond, MOST)) if jumps else beyond
