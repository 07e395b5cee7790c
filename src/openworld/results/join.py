"""Means of rows: over seeds, data sets, ... with Student's t intervals, by the one rule for numbers that agree.

Numbers of one thing with several seeds are joined into their mean, and so are numbers at several places.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf, sqrt
from statistics import fmean

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.core.types import checked
from openworld.metrics import seed_spread
from openworld.metrics.estimate import LEVEL
from openworld.results.results import Place, Result
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


@checked
def join_seeds(
    units: Iterable[Iterable[Result]], over_images: Callable[[Result], Sequence[Interval] | None] | None = None
) -> tuple[Result, ...]:
    """Return the rows of a run: means over the seeds of its units, in order of appearance.

    The mean of several seeds has its interval over seeds. Intervals of the units are dropped there, since that of a
    mean does not follow from them; of one seed they are kept. A deviation that all units have, such as that of one draw
    of images, is averaged as a root mean square. A row without seeds is a fact that units share.

    Args:
        units: the rows of every unit, with one seed each, or none.
        over_images: gives the intervals of the mean of a row, made from tables of images; None for a row that it knows
            nothing of.

    Raises:
        OpenworldError: two units of one seed that measured the same, or units that do not agree on a fact.

    >>> from openworld.results import METRICS, Value
    >>> units = [[Result("CoOp", METRICS["auroc"], Value(x), {}, (seed,), (x,))] for seed, x in ((2, 0.75), (1, 0.25))]
    >>> (row,) = join_seeds(units)
    >>> row.value.value, row.seeds, row.per_seed
    (0.5, (1, 2), (0.25, 0.75))
    """
    by_key: dict[tuple, list[Result]] = {}
    for rows in units:
        for row in rows:
            by_key.setdefault(row.key, []).append(row)
    return tuple(_joined(rows, over_images) for rows in by_key.values())


def mean_ends(rows: Iterable[Result]) -> Callable[[Result], tuple[Interval, ...] | None]:
    """Return what gives `join_seeds` intervals over images of rows: their ends, averaged over the seeds."""
    # Errors of seeds on the same images go together at most fully, so that the interval of their mean is never wider.
    known: dict[tuple, list[Interval | None]] = {}
    for row in rows:
        known.setdefault(row.key, []).append(row.value.over("images"))

    def over_images(row: Result) -> tuple[Interval, ...] | None:
        intervals = known.get(row.key)
        if intervals is None:
            return None
        present = [interval for interval in intervals if interval is not None]
        if len(present) < len(intervals):
            return ()
        low, high = np.mean([(interval.low, interval.high) for interval in present], axis=0).tolist()
        return (Interval(low, high, "images", present[0].n),)

    return over_images


def mean_of(rows: Sequence[Result], where: Mapping[str, Place], intervals: Sequence[Interval] = ()) -> Result:
    """Return the mean of one entity's numbers at several places, each counting the same, and that of every seed."""
    first, value = rows[0], mean([row.value.value for row in rows])
    if value is None:
        reason = next((row.value.reason for row in rows if row.value.value is None), "there is no number")
        return Result(first.entity, first.metric, Value(None, reason=reason), where)
    same = all(row.seeds == first.seeds for row in rows)
    per_seed = tuple(map(mean, zip(*(row.per_seed for row in rows), strict=True))) if same else ()
    if not per_seed or None in per_seed:
        return Result(first.entity, first.metric, Value(value, tuple(intervals)), where)
    joined = replace(over_seeds(per_seed, first.metric, intervals=intervals), value=value)
    return Result(first.entity, first.metric, joined, where, first.seeds, per_seed)


def _joined(rows: list[Result], over_images: Callable[[Result], Sequence[Interval] | None] | None) -> Result:
    first = rows[0]
    if not first.seeds:
        if any(row != first for row in rows):
            raise OpenworldError(f"units do not agree on {_name(first)}; a number that depends on a seed needs it.")
        return first
    rows = sorted(rows, key=lambda row: row.seeds)
    seeds = tuple(seed for row in rows for seed in row.seeds)
    if len(set(seeds)) < len(seeds):
        raise OpenworldError(f"several units have {_name(first)} of one seed, among {seeds}; say in `where` of what.")
    values = tuple(value for row in rows for value in row.per_seed)
    intervals = None if over_images is None else over_images(first)
    if intervals is None:
        intervals = first.value.intervals if len(rows) == 1 else ()
    reason = next((row.value.reason for row in rows if row.value.reason), "")
    value = over_seeds(values, first.metric, intervals=intervals, reason=reason)
    deviations = [row.value.deviation for row in rows if row.value.deviation is not None]
    if value.value is not None and len(deviations) == len(rows):
        value = replace(value, deviation=sqrt(fmean(deviation**2 for deviation in deviations)))
    return Result(first.entity, first.metric, value, first.where, seeds, values)


def _name(row: Result) -> str:
    place = ", ".join(f"{key} {value}" for key, value in row.where.items())
    return f"{row.metric.title} of {row.entity or 'the data'}{f' at {place}' if place else ''}"
