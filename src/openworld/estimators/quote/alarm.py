"""Alarms over time: does the accuracy lie below a limit, at a stated rate of false alarms in a year of chunks?

The evidence is added up over chunks, by the CUSUM of Page (Continuous inspection schemes, Biometrika, 1954):

    S_t = max(0, S_{t-1} + z_t - k_t),    z_t = (alert - accuracy_t + bias_t) / s_t,    an alarm stands where S_t > h

with bias and standard deviation s_t of what is quoted of such chunks where nothing has shifted. Tables of h take chunks
for independent; here one source, whose few images put the same error into every chunk of the year, has read them all.
So k and h come from simulated years whose true accuracy is the alert itself. Each year has one error of its source,
drawn as the resampled sources of a `Null` differ, and noise of its chunks, drawn from what differs within them, or
within the source of the year where each was asked about many targets; both spreads are known from few draws, and vary
from year to year by as much as that leaves open.

    k_t  half a standard deviation of a chunk, so that falls by one are found soonest, and as much as the error of the
         source exceeds in half of the allowed years: with less, S would climb for ever under too many sources
    h    what the largest S of a simulated year exceeds at the allowed rate

Single chunks jump now and then, where a rule of what is quoted ends and another begins: too rarely for some hundred
draws to tell how often. So a chunk counts for at most `MOST` standard deviations beyond k, and h is no less: it takes
two to raise an alarm, or one that lies `ALONE` of them below the alert. What has no such jumps (`jumps=False`: energy
distances) is added up whole. S never rises above 2 h, so that an alarm ends soon after the accuracy has recovered.
False alarms come from unlucky sources, in rows: most sources give none for years, a few give many.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from math import sqrt
from typing import Annotated

import numpy as np
from scipy.special import ndtr

from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.core.types import Positive, Range, Share, checked
from openworld.estimators.quote.null import Null

YEARS = 4_000  # simulated; the rate is then held to a third of a point
LONGEST = 10_000  # chunks of a simulated year
Rate = Annotated[float, Range(0.001, 0.5)]  # the rates that so many years can tell
HALF = 0.5  # of a chunk's standard deviation in k
MANY = 100  # targets of a source that show how they differ with it
SMOOTH = 0.4  # bandwidth of a normal kernel for four hundred draws of a null: what is beyond them; Silverman's rule
MOST, ALONE = 3.0, 12.0  # standard deviations; on source-like chunks what is quoted jumps by up to ten
HIGHEST = 2.0  # S as a multiple of h


@checked
@dataclass(frozen=True, eq=False)
class Chunk:
    """Images that follow each other, as they were judged.

    Args:
        accuracy: what is quoted, in [0, 1]; None where nothing can be told. n: how many images it was estimated from.
            null: what is quoted of source-like sets of about so many images, in the same way; its bias is taken out.
    Raises:
        OpenworldError: an accuracy outside [0, 1], no image, a null of fewer than two sources or targets of each.
    """

    accuracy: Share | None
    n: Positive
    null: Null = field(repr=False)

    def __post_init__(self):
        if min(np.shape(self.null.estimates)) < 2:
            raise OpenworldError(
                f"the null has estimates of shape {np.shape(self.null.estimates)}, expected two sources or more with "
                "two targets or more each; use measure_null."
            )


@dataclass(frozen=True, eq=False)
class Alarms:
    """What was found of the chunks, in order.

    statistics: float64[chunks], S. limit: h. standing: bool[chunks], whether an alarm stands. alone: float64[chunks],
    the accuracy, less its bias, below which such a chunk raises an alarm alone; lasting: float64[chunks], that below
    which such chunks raise one in the long run. Both may be below 0.
    """

    statistics: np.ndarray
    limit: float
    standing: np.ndarray
    alone: np.ndarray
    lasting: np.ndarray

    __repr__ = short_repr


@checked
def find_alarms(
    chunks: Sequence[Chunk],
    alert: Share,
    *,
    rate: Rate = 0.05,
    over: Annotated[int, Range(1, LONGEST)] = 365,
    seed: int = 0,
) -> Alarms:
    """Test chunks, one after the other, for an accuracy below `alert`.

    A chunk of which nothing can be told leaves S as it is. A set that is not cut is one chunk with `over=1`: then this
    is the one-sided test against its null.

    Args:
        chunks: in order of time. alert: accuracy below which somebody wants to know, in [0, 1]. rate: share of years
            in which an alarm may be raised although the accuracy is `alert` all the time, 0.001 to 0.5; where it is
            higher, fewer are raised. over: chunks of such a year, 1 to 10,000. seed: of the simulated years.
    Raises:
        OpenworldError: no chunk; a number outside its range.

    >>> estimates = 0.9 + 0.02 * np.random.default_rng(0).normal(size=(50, 4))  # fifty sources, four targets each
    >>> null = Null(100, estimates, np.full((50, 4), 0.9))
    >>> find_alarms([Chunk(accuracy, 100, null) for accuracy in (0.88, 0.75, 0.75, 0.95)], 0.9).standing.tolist()
    [False, False, True, False]
    """
    if not len(chunks):
        raise OpenworldError("no chunk came, expected one or more.")
    years = _Years(chunks, rate, over, np.random.default_rng(seed))
    limit = years.limit()
    unbiased = [np.nan if chunk.accuracy is None else chunk.accuracy - chunk.null.bias for chunk in chunks]
    steps = _steps((alert - np.array(unbiased)) / years.deviations, years.allowances, jumps=years.jumps)
    steps = np.nan_to_num(steps)  # of None a step of 0
    statistics = np.array([*accumulate(steps, partial(add_step, highest=HIGHEST * limit), initial=0.0)][1:])
    return Alarms(
        statistics,
        limit,
        statistics > limit,
        alert - years.deviations * _alone(years.allowances, limit, jumps=years.jumps),
        alert - years.deviations * years.allowances,
    )


@dataclass(frozen=True)
class AlarmLimit:
    """k and h of chunks of one size, known before there is a chunk: for alarms that go on from day to day.

    Every chunk adds its step to S in units of the h of its own size, so that chunks of all sizes share one S, and an
    alarm stands where S is above 1. Where all chunks are of one size, this is `find_alarms`.
    """

    null_n: int  # images of a set of the null; bias and within are its
    bias: float
    within: float
    error: float  # what the source's error exceeds in half of the allowed years
    limit: float  # h
    jumps: bool = True  # single chunks jump now and then, and count for `MOST` at most

    def step(self, accuracy: float, n: int, alert: float) -> float:
        """Return what a chunk of n images of this accuracy adds to S, in limits."""
        z = (alert - (accuracy - self.bias)) / self._deviation(n)
        return float(_steps(z, self._allowance(n), jumps=self.jumps)) / self.limit

    def alone(self, n: int, alert: float) -> float:
        """Return the accuracy, less its bias, below which a chunk of n images raises an alarm alone."""
        return alert - self._deviation(n) * float(_alone(self._allowance(n), self.limit, jumps=self.jumps))

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
    over: Annotated[int, Range(2, LONGEST)] = 365,
    jumps: bool = True,
    seed: int = 0,
) -> AlarmLimit:
    """Find k and h of chunks of n images, of which none is known yet; arguments as for `find_alarms`."""
    years = _Years([Chunk(None, n, null)], rate, over, np.random.default_rng(seed), jumps)
    error = (years.allowances[0] - HALF) * years.deviations[0]
    return AlarmLimit(null.n, null.bias, years.spreads[0].within, float(error), years.limit(), jumps)


def add_step(statistic: float, step: float, highest: float = HIGHEST) -> float:
    """Return S after another chunk, in limits where `highest` is; one of which nothing can be told adds 0."""
    return min(highest, max(0.0, statistic + step))


def _deviation(within: float, null_n: int, n: int) -> float:
    """Return the standard deviation of estimates of chunks of n images; half an image where the null shows none."""
    return max(within * sqrt(null_n / n), 0.5 / n)


def _steps(z: np.ndarray | float, allowances: np.ndarray | float, *, jumps: bool) -> np.ndarray:
    """Return what chunks add to S."""
    beyond = np.subtract(z, allowances)
    return np.where(z > ALONE, beyond, np.minimum(beyond, MOST)) if jumps else beyond


def _alone(allowances: np.ndarray | float, limit: float, *, jumps: bool) -> np.ndarray:
    """Return the z beyond which chunks raise an alarm alone."""
    return np.maximum(allowances + limit, ALONE if jumps else 0)


class _Spread:
    """A null in parts: what a source puts into all chunks, and what is left to each of them."""

    def __init__(self, null: Null):
        means = null.estimates.mean(axis=1)
        self.sources, self.targets, self.n = *null.estimates.shape, null.n
        self.within = sqrt(null.estimates.var(axis=1, ddof=1).mean())
        self.of_means = float(means.var(ddof=1))
        self.means = means - means.mean()
        # means are taken for errors only as far as they differ by more than their own noise
        self.share = max(0.0, 1 - self.within**2 / self.targets / self.of_means) if self.of_means else 0.0
        # Whole means would swallow part of a target's rare jump.
        left = null.estimates - null.estimates.mean() - self.share * self.means[:, None]
        self.left = left / left.std() if self.within else np.zeros_like(left)
        self.smooth = SMOOTH * min(1.0, (null.estimates.size / 400) ** -0.2)

    def draw_sources(self, variance: np.ndarray, drawn: np.ndarray) -> None:
        """Draw all years' sources: their errors, between sources and of the bias, which few sources tell."""
        # Which resampled source each year has: the lower its mean the larger `drawn[0]`.
        self.rows = np.argsort(self.means)[(ndtr(-drawn[0]) * self.sources).astype(int)]
        # With the share f of a mean m that is no noise, f m + sqrt(f (1 - f)) of m's deviation has the variance of true
        # errors, and the shape of the means as far as that is known; `variance` multiplies that of means.
        of_means = sqrt(self.of_means)
        shaped = -self.share * self.means[self.rows]
        noise = sqrt(self.share * (1 - self.share)) * drawn[1] + drawn[2] / sqrt(self.sources)
        self.errors = np.sqrt(variance) * (shaped + of_means * noise)

    def noise(self, generator: np.random.Generator) -> np.ndarray:
        """Return what a chunk adds to the errors of all years, in standard deviations."""
        rows = self.rows if self.targets >= MANY else generator.integers(0, self.sources, YEARS)
        drawn = -self.left[rows, generator.integers(0, self.targets, len(rows))]
        return drawn + self.smooth * generator.standard_normal(len(rows))


class _Years:
    """Simulated years of such chunks, again and again, at the limit; s and k of each as float64[chunks]."""

    def __init__(
        self, chunks: Sequence[Chunk], rate: float, over: int, generator: np.random.Generator, jumps: bool = True
    ):
        self.jumps = jumps and over > 1
        spreads = {id(chunk.null): _Spread(chunk.null) for chunk in chunks}
        self.spreads = [spreads[id(chunk.null)] for chunk in chunks]
        self.rate, self.over, self.generator = rate, over, generator
        pairs = zip(self.spreads, chunks, strict=True)
        self.deviations = np.array([_deviation(spread.within, spread.n, chunk.n) for spread, chunk in pairs])
        variance, drawn = self._variance(lambda spread: spread.sources - 1), generator.standard_normal((3, YEARS))
        for spread in spreads.values():
            spread.draw_sources(variance, drawn)
        self.scale = np.sqrt(self._variance(lambda spread: spread.sources * (spread.targets - 1)))
        unlucky = {key: float(np.quantile(spread.errors, 1 - rate / 2)) for key, spread in spreads.items()}
        of_sources = np.array([unlucky[id(chunk.null)] for chunk in chunks]) / self.deviations
        self.allowances = HALF + of_sources if over > 1 else np.zeros(len(chunks))  # one chunk has nothing to forget

    def _variance(self, freedom) -> np.ndarray:
        """float64[years]: what a variance may be, relative to the one that so few degrees of freedom show."""
        degrees = min(freedom(spread) for spread in self.spreads)
        return degrees / self.generator.chisquare(degrees, YEARS)

    def limit(self) -> float:
        """What the largest S of a year exceeds at the rate."""
        now, largest = np.zeros(YEARS), np.zeros(YEARS)
        for place in np.arange(self.over) % len(self.spreads):
            spread = self.spreads[place]
            z = spread.errors / self.deviations[place] + self.scale * spread.noise(self.generator)
            now = np.maximum(0, now + _steps(z, self.allowances[place], jumps=self.jumps))
            np.maximum(largest, now, out=largest)
        highest = float(np.quantile(largest, 1 - self.rate))
        return max(highest, MOST) if self.jumps else highest
