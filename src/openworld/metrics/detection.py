"""Threshold metrics of an out-of-distribution detector, every one from the same sorted sweep.

"in" is in-distribution and scores larger. Two things are called FPR@95 and two are called AUPR; each has its own name
here. `fpr_in_positive` is that of MCM and most papers, `fpr_out_positive` that of OpenOOD v1.5. `aupr_*` joins the
points of the precision-recall curve by straight lines, as the field does (optimistic under ties);
`average_precision_*` sums steps. Every distinct score is a threshold: none is dropped as collinear, which moves the
FPR of code that calls scikit-learn's `roc_curve` with its defaults.
"""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from openworld.core.arrays import ArrayLike, as_scores
from openworld.core.types import Range, checked
from openworld.metrics._sweep import BLOCK, Sweep
from openworld.metrics.estimate import MetricEstimate

RARE = 1e-9  # a smaller share of positives leaves precision to rounding
Prevalence = Annotated[float, Range(RARE, 1 - RARE)]
Recall = Annotated[float, Range(0, 1, "(]")]


@dataclass(frozen=True)
class DetectionMetrics:
    """All detection metrics of two sets of scores; None with `reason` where a side is empty."""

    auroc: float | None
    aupr_in: float | None
    aupr_out: float | None
    average_precision_in: float | None
    average_precision_out: float | None
    fpr_in_positive: float | None
    fpr_out_positive: float | None
    recall: float
    n_in: int
    n_out: int
    reason: str | None = None


@checked
def detection_metrics(in_scores: ArrayLike, out_scores: ArrayLike, *, recall: Recall = 0.95) -> DetectionMetrics:
    """AUROC, both AUPRs, both average precisions and both false-positive rates, from one sort.

    Args:
        in_scores: float[n_in], larger = more in-distribution.
        out_scores: float[n_out].
        recall: share of positives that the two false-positive rates must keep, in (0, 1].
    Returns:
        DetectionMetrics, fractions in [0, 1].
    Raises:
        OpenworldError: NaN or infinite scores (with their indices), recall outside (0, 1].

    >>> found = detection_metrics([3, 2, 1], [2, 0])
    >>> found.fpr_in_positive, found.fpr_out_positive  # keeping in >= 1 lets one of two out; out <= 2 flags 2 of 3
    (0.5, 0.6666666666666666)
    """
    sweep, reason = _sweep(in_scores, out_scores)
    if reason:
        return DetectionMetrics(*[None] * 7, recall, sweep.n_in, sweep.n_out, reason)
    rules = trapezoid, _steps, lambda *counts: false_positives(*counts, recall)
    # One direction after the other: of ten million scores the counts of each take 160 MB.
    inside, outside = ([rule(*counts) for rule in rules] for counts in (way(sweep) for way in (inwards, outwards)))
    return DetectionMetrics(
        sweep.double_wins() / (2 * sweep.n_in * sweep.n_out),
        *(area for pair in zip(inside, outside, strict=True) for area in pair),
        recall=recall,
        n_in=sweep.n_in,
        n_out=sweep.n_out,
    )


@checked
def aupr_in(in_scores: ArrayLike, out_scores: ArrayLike, *, prevalence: Prevalence | None = None) -> MetricEstimate:
    """Area under the precision-recall curve, in-distribution positive, by trapezoids as the field computes it.

    Args:
        in_scores: float[n_in], larger = more in-distribution.
        out_scores: float[n_out].
        prevalence: share of positives to assume, in (0, 1); None = as in the data. AUPRs compare only at one
            prevalence.
    Returns:
        MetricEstimate, value in [0, 1] or None if a side is empty; no standard error.
    Raises:
        OpenworldError: NaN or infinite scores (with their indices), prevalence outside (0, 1).
    Source: OpenOOD v1.5 (Zhang et al., 2023), `compute_all_metrics` at 3c35632.

    >>> aupr_in([1, 1, 1], [1, 1]).value  # all tied: the line from precision 1 to .6
    0.8
    """
    return _area(trapezoid, inwards, (in_scores, out_scores), prevalence)


@checked
def aupr_out(in_scores: ArrayLike, out_scores: ArrayLike, *, prevalence: Prevalence | None = None) -> MetricEstimate:
    """Compute `aupr_in` with out-of-distribution positive (and `prevalence` that of out).

    >>> aupr_out([1, 1, 1], [1, 1]).value
    0.7
    """
    return _area(trapezoid, outwards, (in_scores, out_scores), prevalence)


@checked
def average_precision_in(
    in_scores: ArrayLike, out_scores: ArrayLike, *, prevalence: Prevalence | None = None
) -> MetricEstimate:
    """Average precision, in-distribution positive: precision x gain in recall, summed over thresholds.

    As `aupr_in` in arguments, returns and errors.
    Source: as scikit-learn's `average_precision_score`; used by MCM (Ming et al., 2022).

    >>> average_precision_in([1, 1, 1], [1, 1]).value  # all tied: the prevalence
    0.6
    """
    return _area(_steps, inwards, (in_scores, out_scores), prevalence)


@checked
def average_precision_out(
    in_scores: ArrayLike, out_scores: ArrayLike, *, prevalence: Prevalence | None = None
) -> MetricEstimate:
    """Compute `average_precision_in` with out-of-distribution positive (and `prevalence` that of out).

    >>> average_precision_out([1, 1, 1], [1, 1]).value
    0.4
    """
    return _area(_steps, outwards, (in_scores, out_scores), prevalence)


@checked
def fpr_in_positive(in_scores: ArrayLike, out_scores: ArrayLike, *, recall: Recall = 0.95) -> MetricEstimate:
    """FPR@95, in-distribution positive: the share of out accepted when at least 95 % of in are accepted.

    Args:
        in_scores: float[n_in], larger = more in-distribution.
        out_scores: float[n_out].
        recall: share of in to accept, in (0, 1]; the threshold is the largest score that reaches it.
    Returns:
        MetricEstimate, value in [0, 1] or None if a side is empty; no standard error.
    Raises:
        OpenworldError: NaN or infinite scores (with their indices), recall outside (0, 1].
    Source: MCM (Ming et al., 2022) and most papers.

    >>> fpr_in_positive([3, 2, 1], [2, 0]).value  # accepting 1 and above lets the 2 in
    0.5
    """
    return _rate(inwards, (in_scores, out_scores), recall)


@checked
def fpr_out_positive(in_scores: ArrayLike, out_scores: ArrayLike, *, recall: Recall = 0.95) -> MetricEstimate:
    """FPR@95, out-of-distribution positive: the share of in flagged when at least 95 % of out are caught.

    As `fpr_in_positive` in arguments, returns and errors, with `recall` that of out.
    Source: OpenOOD v1.5 (Zhang et al., 2023), `compute_all_metrics` at 3c35632.

    >>> fpr_out_positive([3, 2, 1], [2, 0]).value  # catching the 2 flags 2 and 1
    0.6666666666666666
    """
    return _rate(outwards, (in_scores, out_scores), recall)


def _area(rule, direction, scores: tuple[ArrayLike, ArrayLike], prevalence) -> MetricEstimate:
    sweep, reason = _sweep(*scores)
    return MetricEstimate(None, reason) if reason else MetricEstimate(rule(*direction(sweep), prevalence))


def _rate(direction, scores: tuple[ArrayLike, ArrayLike], recall) -> MetricEstimate:
    sweep, reason = _sweep(*scores)
    return MetricEstimate(None, reason) if reason else MetricEstimate(false_positives(*direction(sweep), recall))


def _sweep(in_scores: ArrayLike, out_scores: ArrayLike) -> tuple[Sweep, str | None]:
    sweep = Sweep.of(as_scores(in_scores, "in_scores"), as_scores(out_scores, "out_scores"))
    empty = "in" if not sweep.n_in else "out" if not sweep.n_out else None
    return sweep, empty and f"there is no {empty} sample"


def inwards(sweep: Sweep) -> tuple[np.ndarray, np.ndarray]:
    """Return true and false positives when in is positive and the threshold falls."""
    return sweep.in_kept, sweep.out_kept


def outwards(sweep: Sweep) -> tuple[np.ndarray, np.ndarray]:
    """Return true and false positives when out is positive and the threshold rises: what scores at or below it."""
    return tuple(total[-1] - np.append(total[-2::-1], 0) for total in (sweep.out_kept, sweep.in_kept))


def trapezoid(true: np.ndarray, false: np.ndarray, prevalence=None) -> float:
    """Return the area under the precision-recall curve of counts int64[K] that rise together."""
    parts, before = np.empty(true.size), (0.0, 1.0)  # the curve starts at recall 0, precision 1
    for some, recall, precision in _points(true, false, prevalence):
        parts[some] = np.diff(recall, prepend=before[0]) * (precision + np.append(before[1], precision[:-1]))
        before = recall[-1], precision[-1]
    return float(parts.sum() / 2)


def _steps(true: np.ndarray, false: np.ndarray, prevalence=None) -> float:
    parts, before = np.empty(true.size), 0.0
    for some, recall, precision in _points(true, false, prevalence):
        parts[some] = np.diff(recall, prepend=before) * precision
        before = recall[-1]
    return float(parts.sum())


def _points(true: np.ndarray, false: np.ndarray, prevalence) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Yield recall and precision at some thresholds at a time, so that what is made of them on the way stays small."""
    totals = true[-1], false[-1]
    for start in range(0, true.size, BLOCK):
        some = slice(start, start + BLOCK)
        detected, mistaken = true[some], false[some]
        if prevalence is not None:
            detected, mistaken = prevalence * detected / totals[0], (1 - prevalence) * mistaken / totals[1]
        yield some, true[some] / totals[0], detected / (detected + mistaken)


def false_positives(true: np.ndarray, false: np.ndarray, recall: float) -> float:
    """Return the share of negatives taken where the share of positives first reaches `recall`."""
    # The quotient of two integers, rounded once, as `recall` is.
    reached = bisect_left(range(true.size), recall, key=lambda place: true[place] / true[-1])
    return float(false[reached] / false[-1])
