"""The MissRate/HitRate curve, whose area is OpenworldAUC (Hua et al., 2025, section 4.2)."""

from dataclasses import dataclass, field

import numpy as np

from openworld._arrays import ArrayLike, as_correct, as_scores
from openworld._short_repr import short_repr
from openworld._types import checked
from openworld.metrics._sweep import Sweep


@dataclass(frozen=True)
class MissHitCurve:
    """The curve, threshold rising; `area` is None with `reason`, and the arrays empty, if a side is.

    thresholds: float64[K], the first -inf (nothing flagged). miss_rate: float64[K], rising from 1 - BaseAcc to 1.
    hit_rate: float64[K], rising from 0 to NewAcc. Left of 1 - BaseAcc the hit rate is 0.
    """

    thresholds: np.ndarray = field(compare=False)
    miss_rate: np.ndarray = field(compare=False)
    hit_rate: np.ndarray = field(compare=False)
    area: float | None
    reason: str | None = None

    __repr__ = short_repr


@checked
def miss_hit_curve(
    base_scores: ArrayLike, base_correct: ArrayLike, new_scores: ArrayLike, new_correct: ArrayLike
) -> MissHitCurve:
    """How many base samples are missed and how many new ones hit as the detection threshold rises.

    MissRate(t) = share of base samples with score <= t or misnamed; HitRate(t) = share of new samples with
    score <= t and named right.

    Args:
        base_scores, new_scores: float[n_base], float[n_new], larger = more base-like.
        base_correct, new_correct: bool, whether the sample was named right within its own half.
    Returns:
        MissHitCurve with one point per distinct score of a rightly named sample, and one before; the area of its
        straight lines (ties one half) is OpenworldAUC exactly.
    Raises:
        OpenworldError: NaN or infinite scores (with their indices), lengths that differ.
    Source: Hua et al. (2025), section 4.2 and Figure 3.

    >>> curve = miss_hit_curve([2, 1], [1, 0], [0, 3], [1, 1])
    >>> curve.miss_rate.tolist(), curve.hit_rate.tolist(), curve.area
    ([0.5, 0.5, 1.0, 1.0], [0.0, 0.5, 0.5, 1.0], 0.25)
    """
    base_scores, new_scores = as_scores(base_scores, "base_scores"), as_scores(new_scores, "new_scores")
    base_correct = as_correct(base_correct, "base_correct", base_scores.size)
    new_correct = as_correct(new_correct, "new_correct", new_scores.size)
    if not base_scores.size or not new_scores.size:
        empty = "new" if base_scores.size else "base"
        return MissHitCurve(*np.zeros((3, 0)), None, f"there is no {empty} sample")
    named = base_scores[base_correct], new_scores[new_correct]
    for scores in named:
        scores.sort()
    sweep = Sweep.merged(*named)
    del named
    area = sweep.double_wins() / (2 * base_scores.size * new_scores.size)
    # Kept at or above a threshold becomes rejected at or below the one before it. In place: a column of ten million
    # takes 80 MB.
    miss = np.append(sweep.in_kept[::-1], 0) / base_scores.size
    np.subtract(1, miss, out=miss)
    flagged = np.append(sweep.out_kept[::-1], 0)
    np.subtract(sweep.n_out, flagged, out=flagged)
    thresholds = np.append(-np.inf, sweep.thresholds[::-1])
    del sweep
    return MissHitCurve(thresholds, miss, flagged / new_scores.size, area)
