"""The Miss/Hit curve, whose area is OpenworldAUC, and the threshold on it at which a system is run.

An image is flagged as new when its detection score lies below the threshold, as `openworld predict --threshold` does.
The threshold is chosen on validation images and judged on test images; choosing and judging on the same images
flatters. Rates are those of Hua et al. (2025), section 4.2: a base image is missed when it is flagged or misnamed, a
new one is hit when it is flagged and named right.
"""

from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from openworld.core.arrays import (
    ArrayLike,
    as_correct,
    as_fractions,
    as_scores,
    require_length,
    require_size,
)
from openworld.core.errors import OpenworldError, present
from openworld.core.representation import short_repr
from openworld.core.types import Fraction, Range, Share, checked
from openworld.metrics._accuracy import Accuracy, accuracy
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
    right_scores = base_scores[base_correct], new_scores[new_correct]
    for scores in right_scores:
        scores.sort()
    sweep = Sweep.merged(*right_scores)
    del right_scores
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


@checked
@dataclass(frozen=True)
class Costs:
    """What each of the four outcomes costs per image, in any unit; a gain is a negative cost.

    Args:
        base_kept: a base image that is not flagged and named right.
        base_missed: one that is flagged or misnamed.
        new_hit: a new image that is flagged and named right.
        new_unhit: one that is not flagged or misnamed.
        new_share: share of new images where the system will run, in [0, 1]; None = as among the images at hand.

    Raises:
        OpenworldError: a cost that is no finite number, a share outside [0, 1].
    """

    base_kept: float = 0.0
    base_missed: float = 1.0
    new_hit: float = 0.0
    new_unhit: float = 1.0
    new_share: Share | None = None

    def __post_init__(self):
        require_size(as_scores([self.base_kept, self.base_missed, self.new_hit, self.new_unhit], "costs"), "costs")

    @checked
    def mean(self, miss_rate: Any, hit_rate: Any, new_share: float) -> Any:
        """Expected cost per image, of rates in [0, 1]: number or array, as the rates are."""
        miss_rate, hit_rate = (
            as_fractions(rate, name, (0, 1)) for name, rate in (("miss_rate", miss_rate), ("hit_rate", hit_rate))
        )
        if miss_rate.ndim and hit_rate.ndim:
            require_length(hit_rate, "hit_rate", len(miss_rate))
        share = new_share if self.new_share is None else self.new_share
        base = self.base_kept + miss_rate * (self.base_missed - self.base_kept)
        new = self.new_unhit + hit_rate * (self.new_hit - self.new_unhit)
        return (1 - share) * base + share * new


@dataclass(frozen=True)
class Threshold:
    """A threshold and what it does on the images it was chosen on; `value` is None with `reason` if none will do.

    hit_rate is None where no new image was given, cost where the choice was not by costs.
    """

    value: float | None
    rule: str
    miss_rate: float | None = None
    hit_rate: float | None = None
    cost: float | None = None
    reason: str | None = None


@dataclass(frozen=True)
class OperatingPoint:
    """Miss and hit rate at one threshold, with Wilson intervals over images (or groups), given the threshold.

    false_alarm: share of base images flagged, however they are named; detected: share of new images flagged.
    """

    threshold: float
    miss: Accuracy
    hit: Accuracy
    false_alarm: Accuracy
    detected: Accuracy

    @property
    def reason(self) -> str | None:
        """Why a rate is None, or None."""
        if self.miss.value is None:
            return "there is no base sample"
        return "there is no new sample" if self.hit.value is None else None

    @checked
    def cost(self, costs: Costs) -> float | None:
        """Expected cost per image; None without images of both sides."""
        if self.reason:
            return None
        return float(costs.mean(self.miss.value, self.hit.value, self._new_share))

    @checked
    def cost_interval(self, costs: Costs) -> tuple[float, float] | None:
        """Interval of `cost` over images, at the level of the rates; None where a rate has none.

        The two sides are taken as independent, and the share of new images as known.
        Source: Zou and Donner (2008): what each rate's interval reaches out is squared, added, and rooted.
        """
        centre, low, high = self.cost(costs), 0.0, 0.0
        if self.reason or centre is None or self.miss.interval is None or self.hit.interval is None:
            return None
        for place, interval in enumerate((self.miss.interval, self.hit.interval)):
            ends = [[self.miss.value, self.hit.value] for _ in interval]
            for rates, end in zip(ends, interval, strict=True):
                rates[place] = end
            reached = [float(costs.mean(*rates, self._new_share)) - centre for rates in ends]
            low, high = low + min(reached) ** 2, high + max(reached) ** 2
        return centre - low**0.5, centre + high**0.5

    @property
    def _new_share(self) -> float:
        return self.hit.n / (self.miss.n + self.hit.n)


@checked
def choose_threshold(
    base_scores: ArrayLike,
    base_correct: ArrayLike,
    new_scores: ArrayLike | None = None,
    new_correct: ArrayLike | None = None,
    *,
    miss_rate: Annotated[float, Range(0, 1, "[)")] | None = None,
    hit_rate: Annotated[float, Range(0, 1, "(]")] | None = None,
    costs: Costs | None = None,
) -> Threshold:
    """The threshold that one rule asks for, on validation images.

    Args:
        base_scores, new_scores: float[n_base], float[n_new], larger = more base-like; new images may be left out
            where the rule is a miss rate.
        base_correct, new_correct: bool, whether the sample was named right within its own half.
        miss_rate: largest share of base images that may be missed, in [0, 1): the largest threshold that keeps it.
        hit_rate: least share of new images to hit, in (0, 1]: the smallest threshold that reaches it.
        costs: the threshold of least expected cost; of equal ones the smallest, which misses least.

    Returns:
        Threshold: a score of a rightly named sample, or the next number above them all; None with a reason where
        misnamed images alone break the rule, or a side is empty.
    Raises:
        OpenworldError: not exactly one rule, a rate outside its range, no new scores where the rule needs them, NaN.

    >>> choose_threshold([4, 3, 2, 1], [1, 1, 1, 1], miss_rate=0.25).value  # 1 < 2 is flagged, a quarter of base
    2.0
    >>> choose_threshold([4, 3], [1, 0], miss_rate=0.25).reason
    'misnamed base images alone are a miss rate of 0.5'
    """
    rules = {"miss_rate": miss_rate, "hit_rate": hit_rate, "costs": costs}
    names = [name for name, rule in rules.items() if rule is not None]
    if len(names) != 1:
        rules = " and ".join(names) or "none"
        raise OpenworldError(f"a threshold follows one rule, and {rules} came; give miss_rate, hit_rate or costs.")
    base = _side(base_scores, base_correct, "base")
    new = _side([] if new_scores is None else new_scores, [] if new_correct is None else new_correct, "new")
    if miss_rate is None and new_scores is None:
        raise OpenworldError("a hit rate and costs need new images: give new_scores and new_correct, or a miss_rate.")
    rule = "least expected cost"
    if costs is None:
        rule = f"hit rate at least {hit_rate:g}" if miss_rate is None else f"miss rate at most {miss_rate:g}"
    empty = "base" if not base[0].size else "new" if miss_rate is None and not new[0].size else None
    if empty:
        return Threshold(None, rule, reason=f"there is no {empty} sample")
    # every threshold at which something changes, rising, each the last of its kind
    candidates = np.unique(np.concatenate([base[0][base[1]], new[0][new[1]]]))
    top = candidates[-1] if candidates.size else max(side[0].max() for side in (base, new) if side[0].size)
    candidates = np.append(candidates, np.nextafter(top, np.inf))
    flagged, caught = (np.searchsorted(np.sort(scores[correct]), candidates) for scores, correct in (base, new))
    misses = (flagged + (~base[1]).sum()) / base[0].size
    hits = caught / max(new[0].size, 1)
    share = new[0].size / (new[0].size + base[0].size)
    cost = None
    if miss_rate is not None:
        if misses[0] > miss_rate:
            return Threshold(None, rule, reason=f"misnamed base images alone are a miss rate of {misses[0]:.4g}")
        chosen = np.flatnonzero(misses <= miss_rate)[-1]
    elif hit_rate is not None:
        if hits[-1] < hit_rate:
            return Threshold(None, rule, reason=f"only {hits[-1]:.4g} of the new images are named right")
        chosen = np.flatnonzero(hits >= hit_rate)[0]
    else:
        every = present(costs, "the costs").mean(misses, hits, share)
        chosen = every.argmin()
        cost = float(every[chosen])
    hit = float(hits[chosen]) if new[0].size else None
    return Threshold(float(candidates[chosen]), rule, float(misses[chosen]), hit, cost)


@checked
def operating_point(
    base_scores: ArrayLike,
    base_correct: ArrayLike,
    new_scores: ArrayLike,
    new_correct: ArrayLike,
    threshold: float,
    *,
    base_groups: ArrayLike | None = None,
    new_groups: ArrayLike | None = None,
    level: Fraction = 0.95,
) -> OperatingPoint:
    """What is missed and what is hit at a threshold, on test images.

    Args:
        base_scores, base_correct, new_scores, new_correct: as for `choose_threshold`.
        threshold: a sample whose score is below it is flagged as new.
        base_groups, new_groups: integer or string, which samples belong together; None = all independent.
        level: confidence of the intervals, in (0, 1).

    Returns:
        OperatingPoint; rates and intervals in [0, 1]. The intervals speak of other images at this threshold, not of
        other thresholds.
    Raises:
        OpenworldError: NaN or infinite scores or threshold, lengths that differ, level outside (0, 1).
    Source: Hua et al. (2025), section 4.2, for the rates; Wilson (1927) for the intervals.

    >>> point = operating_point([3, 2, 1], [1, 0, 1], [0, 4], [1, 1], 2.0)
    >>> point.miss.value, point.hit.value  # of base 1 is flagged and 2 misnamed; of new 0 is flagged
    (0.6666666666666666, 0.5)
    """
    threshold = float(as_scores([threshold], "threshold")[0])
    base, new = _side(base_scores, base_correct, "base"), _side(new_scores, new_correct, "new")
    flagged, caught = base[0] < threshold, new[0] < threshold
    return OperatingPoint(
        threshold,
        accuracy(flagged | ~base[1], groups=base_groups, level=level),
        accuracy(caught & new[1], groups=new_groups, level=level),
        accuracy(flagged, groups=base_groups, level=level),
        accuracy(caught, groups=new_groups, level=level),
    )


def _side(scores: ArrayLike, correct: ArrayLike, name: str) -> tuple[np.ndarray, np.ndarray]:
    scores = as_scores(scores, f"{name}_scores")
    return scores, as_correct(correct, f"{name}_correct", scores.size)
