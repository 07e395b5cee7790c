"""AUROC, the chance that an in-distribution sample outscores an out-of-distribution one, with its standard error."""

import numpy as np

from openworld.core.arrays import ArrayLike, as_scores
from openworld.core.types import checked
from openworld.metrics._design import Design, design
from openworld.metrics._sweep import count_wins, win_shares
from openworld.metrics.estimate import Influence, MetricEstimate


@checked
def auroc(
    in_scores: ArrayLike,
    out_scores: ArrayLike,
    *,
    in_weights: ArrayLike | None = None,
    out_weights: ArrayLike | None = None,
    in_groups: ArrayLike | None = None,
    out_groups: ArrayLike | None = None,
) -> MetricEstimate:
    """Area under the ROC curve: the share of pairs with in > out, ties one half, from integer counts.

    Args:
        in_scores: float[n_in], larger = more in-distribution (base).
        out_scores: float[n_out].
        in_weights, out_weights: float, not negative, any scale; None = all equal.
        in_groups, out_groups: integers or strings from one name space, which samples are not independent.
    Returns:
        MetricEstimate; value in [0, 1], None if a side is empty. The standard error is computed when asked for.
    Raises:
        OpenworldError: NaN or infinite scores (with their indices), lengths that differ, negative weights.
    Source: Hanley and McNeil (1982); standard error DeLong et al. (1988), clustered Obuchowski (1997).

    >>> auroc([2, 1], [1, 0]).value  # three wins and a tie of four pairs
    0.875
    """
    in_scores, out_scores = as_scores(in_scores, "in_scores"), as_scores(out_scores, "out_scores")
    sizes = in_scores.size, out_scores.size
    plan = design(sizes, (in_weights, out_weights), (in_groups, out_groups), ("in", "out"))
    return auroc_of(plan, in_scores, out_scores)


def auroc_of(plan: Design, high: np.ndarray, low: np.ndarray) -> MetricEstimate:
    """AUROC of two validated score arrays that belong to `plan`."""
    if plan.empty:
        return MetricEstimate(None, plan.empty)
    base, new = plan.base, plan.new
    if base.weights is None and new.weights is None:
        value = count_wins(high, low) / (2 * high.size * low.size)
    else:
        value = base.mean(win_shares(high, low, new.weights))

    def influence() -> Influence:
        beats, beaten = win_shares(high, low, new.weights), win_shares(-low, -high, base.weights)
        beats -= value
        beaten -= value
        return Influence(plan, beats, beaten)

    return MetricEstimate(value, None, influence)
