"""Ranks of methods over data sets and levels, the Friedman test and the Nemenyi critical difference.

OpenPL, section 4 (Friedman ranks and final ranks); Friedman (1937); Nemenyi (1963) as in Demsar (2006),
"Statistical Comparisons of Classifiers over Multiple Data Sets". The first axis of every array is the method;
larger is better. The tests take one number per method and data set: levels are nested views of the same
images, not further blocks.
"""

from dataclasses import dataclass

import numpy as np

from openworld.core.arrays import ArrayLike, as_table, require_size
from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.core.types import checked

MINIMUM_METHODS = 3  # for two methods Friedman's test is a sign test: use a paired test
MINIMUM_BLOCKS = 5  # below, the chi-square approximation says nothing (own rule; Demsar advises more than 10)


@dataclass(frozen=True)
class FriedmanTest:
    """Friedman's chi-square (`value`) over `blocks` data sets; None with `reason` if undefined."""

    value: float | None
    p_value: float | None
    methods: int
    blocks: int
    reason: str | None = None


@dataclass(frozen=True)
class CriticalDifference:
    """Mean ranks that lie at least `value` apart differ at `significance`; `p_values[i][j]` is of each pair."""

    value: float | None
    mean_ranks: tuple[float, ...]
    p_values: tuple[tuple[float, ...], ...] | None
    significance: float
    blocks: int
    reason: str | None = None

    __repr__ = short_repr


@checked
def level_ranks(accuracy: ArrayLike) -> np.ndarray:
    """Rank of every method at every (data set, level): 1 = best, ties share the average rank.

    Args:
        accuracy: float[M, ...], first axis the methods; larger is better. Ties are exact: round means over
            seeds where they may differ in the last bit only.
    Returns:
        float64[M, ...], ranks in [1, M], multiples of 1/2; each column sums to M (M + 1) / 2.
    Raises:
        OpenworldError: NaN, no method, or a scalar.
    Source: OpenPL, section 4.

    >>> level_ranks([[0.9, 0.5], [0.9, 0.7], [0.1, 0.6]]).tolist()
    [[1.5, 3.0], [1.5, 1.0], [3.0, 2.0]]
    """
    values = as_table(accuracy, "accuracy", (1, 2, 3))
    if not values.size:
        raise OpenworldError(f"accuracy has shape {values.shape}: nothing to rank.")
    columns = values.reshape(len(values), -1)
    better = np.stack([(columns > row).sum(axis=0) for row in columns])
    equal = np.stack([(columns == row).sum(axis=0) for row in columns])
    return (better + (equal + 1) / 2).reshape(values.shape)


@checked
def friedman_ranks(accuracy: ArrayLike) -> np.ndarray:
    """Mean rank of every method over all its (data set, level) pairs, or the levels of one data set.

    Args:
        accuracy: float[M, T] (one data set) or float[M, D, T]; larger is better.
    Returns:
        float64[M], in [1, M], summing to M (M + 1) / 2.
    Raises:
        OpenworldError: as `level_ranks`.
    Source: OpenPL, section 4 (its tables 6 to 9 and 36 to 57).

    >>> friedman_ranks([[0.9, 0.8, 0.3], [0.7, 0.7, 0.7]]).round(3).tolist()  # 1, 1, 2 against 2, 2, 1
    [1.333, 1.667]
    """
    ranks = level_ranks(accuracy)
    return ranks.reshape(len(ranks), -1).mean(axis=1)


@checked
def final_ranks(mean_ranks: ArrayLike) -> np.ndarray:
    """Rank of the Friedman ranks: 1 = smallest; ties share the average (OpenPL breaks them silently).

    Args:
        mean_ranks: float[M], as `friedman_ranks` returns them, zero-shot included as a method.
    Returns:
        float64[M], in [1, M].
    Raises:
        OpenworldError: NaN, or no method.

    >>> final_ranks([2.5, 1.0, 2.5]).tolist()
    [2.5, 1.0, 2.5]
    """
    means = require_size(as_table(mean_ranks, "mean_ranks", (1,)), "mean_ranks").round(
        12
    )  # equal means may differ in the last bit
    return level_ranks(-means)


@checked
def friedman_test(scores: ArrayLike) -> FriedmanTest:
    """Do the methods differ at all? Friedman's chi-square with one block per data set, corrected for ties.

    Args:
        scores: float[M, D], one number per method and data set (for instance the area under its robustness
            curve); larger is better.
    Returns:
        FriedmanTest; `value` None with a reason for fewer than 3 methods or 5 data sets, or if all is tied.
    Raises:
        OpenworldError: NaN, or an array that is not two-dimensional.
    Source: Friedman (1937), through scipy.stats.friedmanchisquare.

    >>> friedman_test([[0.9] * 5, [0.8] * 5, [0.7] * 5]).value  # the same order 5 times: D (M - 1)
    10.0
    """
    scores = _blocks(scores)
    reason = _too_few(scores)
    if reason is None and (scores == scores[0]).all():
        reason = "all methods are equal on every data set, so there are no ranks to compare"
    if reason is not None:
        return FriedmanTest(None, None, *scores.shape, reason)
    from scipy.stats import friedmanchisquare

    outcome = friedmanchisquare(*scores)
    return FriedmanTest(float(outcome.statistic), float(outcome.pvalue), *scores.shape)


@checked
def nemenyi(scores: ArrayLike, *, significance: float = 0.05) -> CriticalDifference:
    """Which methods differ? Nemenyi's critical difference of mean ranks, one block per data set.

    With M methods and D data sets: CD = q / sqrt(2) * sqrt(M (M + 1) / (6 D)), q the upper `significance`
    point of the studentized range of M means with infinite degrees of freedom. Look at it after
    `friedman_test` rejects.

    Args:
        scores: float[M, D]; larger is better.
        significance: in (0, 1).
    Returns:
        CriticalDifference; `value` None with a reason for fewer than 3 methods or 5 data sets.
    Raises:
        OpenworldError: NaN, an array that is not two-dimensional, significance outside (0, 1).
    Source: Demsar (2006), section 3.2.2 and Table 5.

    >>> test = nemenyi([[0.9] * 6, [0.8] * 6, [0.7] * 6])
    >>> round(test.value, 3), test.mean_ranks  # 2.343 * sqrt(12 / 36)
    (1.353, (1.0, 2.0, 3.0))
    """
    scores = _blocks(scores)
    if not 0 < significance < 1:
        raise OpenworldError(f"significance is {significance}, expected a number inside (0, 1) such as 0.05.")
    means, reason = friedman_ranks(scores), _too_few(scores)
    mean_ranks = tuple(means.tolist())
    if reason is not None:
        return CriticalDifference(None, mean_ranks, None, significance, scores.shape[1], reason)
    from scipy.stats import studentized_range

    methods, blocks = scores.shape
    unit = np.sqrt(methods * (methods + 1) / (12 * blocks))
    first, second = np.triu_indices(methods, k=1)
    p_values = np.ones((methods, methods))
    distances = np.abs(means[first] - means[second]) / unit
    p_values[first, second] = studentized_range.sf(distances, methods, np.inf)
    p_values[second, first] = p_values[first, second]
    value = float(studentized_range.isf(significance, methods, np.inf) * unit)
    return CriticalDifference(value, mean_ranks, tuple(map(tuple, p_values.tolist())), significance, blocks)


def _blocks(scores: ArrayLike) -> np.ndarray:
    scores = as_table(scores, "scores", (2,))
    if not scores.size:
        raise OpenworldError(f"scores has shape {scores.shape}, expected (methods, data sets).")
    return scores


def _too_few(scores: np.ndarray) -> str | None:
    methods, blocks = scores.shape
    if methods < MINIMUM_METHODS:
        noun = "method" if methods == 1 else "methods"
        return f"{methods} {noun}; the test compares at least {MINIMUM_METHODS}"
    if blocks < MINIMUM_BLOCKS:
        noun = "data set" if blocks == 1 else "data sets"
        return f"{blocks} {noun}; the test needs at least {MINIMUM_BLOCKS}, one block each"
    return None
