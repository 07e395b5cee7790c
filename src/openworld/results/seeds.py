"""Means over seeds, data sets, ... with Student's t intervals, by the one rule for numbers that agree."""

from collections.abc import Sequence
from math import inf
from statistics import fmean

from openworld.core.types import checked
from openworld.metrics import seed_spread
from openworld.metrics.estimate import LEVEL
from openworld.results.value import Interval, Metric, Value


@checked
def mean(values: Sequence[float | None]) -> float | None:
    """The mean, or None where any value is missing or there is none.

    >>> mean([0.25, 0.75]), mean([0.5, None])
    (0.5, None)
    """
    present = [value for value in values if value is not None]
    return fmean(present) if present and len(present) == len(values) else None


@checked
def student(values: Sequence[float | None], metric: Metric, over: str = "seeds") -> tuple[Interval, ...]:
    """Student's t interval of the mean of values, cut at the bounds of what the metric can be.

    Args:
        values: one per seed (or whatever `over` names).
        metric: whose values they are.
        over: what else could have been drawn.

    Returns:
        One interval; none where a value is missing, there are fewer than two, or all are equal but for rounding.

    >>> from openworld.results import METRICS
    >>> (found,) = student([0.5, 0.6, 0.7], METRICS["accuracy"])  # .6 -+ 4.303 x .1 / sqrt(3)
    >>> round(found.low, 3), round(found.high, 3), found.over, found.n
    (0.352, 0.848, 'seeds', 3)
    >>> student([0.3, 0.1 + 0.2, 0.3], METRICS["accuracy"])
    ()
    """
    if len(values) < 2 or any(value is None for value in values):
        return ()
    low, high = metric.bounds
    limits = (-inf if low is None else low, inf if high is None else high)
    ends = seed_spread(values, limits).interval(LEVEL)
    return () if ends is None else (Interval(*ends, over, len(values)),)


@checked
def over_seeds(
    values: Sequence[float | None], metric: Metric, *, intervals: Sequence[Interval] = (), reason: str = ""
) -> Value:
    """The mean over seeds, with its interval over seeds behind those that are known otherwise.

    Args:
        values: one per seed.
        metric: whose values they are.
        intervals: over something else, such as images.
        reason: why there is no mean, where a value is missing.

    >>> from openworld.results import METRICS
    >>> over_seeds([0.25, 0.75], METRICS["accuracy"]).value
    0.5
    """
    value = mean(values)
    if value is None:
        return Value(None, reason=reason or "it is not defined for every seed")
    spread = seed_spread(values).std if len(values) > 1 else None
    return Value(value, (*intervals, *student(values, metric)), deviation=spread)
