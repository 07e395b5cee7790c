"""OpenworldAUC: one number for naming base and new classes right and telling the two apart (Hua et al., 2025).

Proposition 4.2 of "OpenworldAUC: Towards Unified Evaluation and Optimization for Open-world Prompt Tuning":

    OpenworldAUC = mean over all pairs (base i, new j) of  c_i d_j (1[s_i > t_j] + 1/2 1[s_i = t_j])

with detection scores s, t (larger = more base-like) and c, d whether the sample was named right within its own half.
Ties count one half, as in the authors' code (github.com/huacong/OpenworldAUC at 8bb934a); the paper writes a strict
inequality. That code replaces the scores of misnamed samples by sentinels, which cross when every new score exceeds
every base score; here pairs are counted and no score is changed. OpenAUC and OverallAcc stand beside it in its tables.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from openworld.core import representation
from openworld.core.arrays import ArrayLike, as_correct, as_labels, as_scores, as_table, require_length
from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.types import checked
from openworld.metrics._accuracy import harmonic_mean
from openworld.metrics._auroc import auroc_of
from openworld.metrics._design import Design, Side, design
from openworld.metrics._sweep import count_wins, win_shares
from openworld.metrics.estimate import Estimated, Influence, MetricEstimate, proportion

CLOSED_SET = "a classifier of the base classes has no right name for a new image"
"""Why there is no OpenworldAUC without `new_correct`."""


@dataclass(frozen=True, eq=False)
class Samples:
    """The validated input: scores float64[n], correct bool[n], and the design that they belong to."""

    base_scores: np.ndarray
    base_correct: np.ndarray
    new_scores: np.ndarray
    new_correct: np.ndarray
    design: Design
    closed_set: bool = False  # whether new samples have no right name, so that `new_correct` says nothing


@dataclass(frozen=True)
class OpenworldAUC(Estimated):
    """OpenworldAUC (`value`) and what follows from the same samples; None with `reason` if a side is empty.

    Everything but the value and the two accuracies is computed when first asked for.
    """

    value: float | None
    reason: str | None
    base_accuracy: float | None
    new_accuracy: float | None
    n_base: int
    n_new: int
    n_groups: int
    samples: Samples = field(repr=False, compare=False)

    @property
    def harmonic_mean(self) -> float | None:
        """HM = 2ab / (a + b) of the two accuracies."""
        return self.estimate("harmonic_mean").value

    @property
    def auroc(self) -> float | None:
        """Base against new, however they were named."""
        return self.estimate("auroc").value

    @property
    def correct_auroc(self) -> float | None:
        """Rightly named base against rightly named new: value = base_accuracy x new_accuracy x correct_auroc."""
        return self.estimate("correct_auroc").value

    @cached_property
    def base_components(self) -> np.ndarray:
        """float64[n_base] in [0, 1]: share of new samples that base sample i wins against; the mean is the value."""
        return _base_components(self.samples)

    @cached_property
    def new_components(self) -> np.ndarray:
        """float64[n_new] in [0, 1]: share of base samples that win against new sample j; the mean is the value."""
        samples = self.samples
        new, base = (-samples.new_scores, samples.new_correct), (-samples.base_scores, samples.base_correct)
        return _components(*new, *base, samples.design.base)

    def _make(self, of: str) -> MetricEstimate:
        if of not in QUANTITIES:
            raise unknown_name("quantity", of, QUANTITIES)
        samples = self.samples
        if of == "auroc":
            return auroc_of(samples.design, samples.base_scores, samples.new_scores)
        if of == "base_accuracy":
            return proportion(samples.design, samples.base_correct, "base")
        if of == "new_accuracy" and not samples.closed_set:
            return proportion(samples.design, samples.new_correct, "new")
        if self.value is None or self.base_accuracy is None or self.new_accuracy is None:
            return MetricEstimate(None, self.reason)
        value, slopes = LINEARISED[of](self.base_accuracy, self.new_accuracy, self.value)
        if value is None:
            return MetricEstimate(None, "no pair is named right on both sides")
        ceiling = self._ceiling if of == "openworld_auc" else None
        return MetricEstimate(value, None, lambda: self._influence(*slopes), ceiling)

    def _ceiling(self, level: float) -> float:
        # The value is at most the product of the accuracies; each has its upper end at half the error, so that both
        # hold together at the level.
        base, new = (self.estimate(part).interval((1 + level) / 2) for part in ("base_accuracy", "new_accuracy"))
        return 1.0 if base is None or new is None else base[1] * new[1]

    def _influence(self, by_base: float, by_new: float, by_value: float) -> Influence:
        base = by_base * (self.samples.base_correct - self.base_accuracy)
        new = by_new * (self.samples.new_correct - self.new_accuracy)
        if by_value:
            base += by_value * (self.base_components - self.value)
            new += by_value * (self.new_components - self.value)
        return Influence(self.samples.design, base, new)

    def _repr_html_(self) -> str:
        parts = ("base_accuracy", "new_accuracy", "harmonic_mean", "auroc", "correct_auroc")
        values = [(name.replace("_", " "), representation.percent(self.estimate(name).value)) for name in parts]
        counts = ("images", f"{self.n_base} base, {self.n_new} new, {self.n_groups} groups")
        whole = self.reason if self.value is None else representation.percent(self.value, self.interval())
        return representation.facts(f"OpenworldAUC {whole}", [*values, counts])


@checked
def openworld_auc(
    base_scores: ArrayLike,
    base_correct: ArrayLike,
    new_scores: ArrayLike,
    new_correct: ArrayLike | None,
    *,
    base_weights: ArrayLike | None = None,
    new_weights: ArrayLike | None = None,
    base_groups: ArrayLike | None = None,
    new_groups: ArrayLike | None = None,
) -> OpenworldAUC:
    """OpenworldAUC with its companions, standard error and interval.

    Args:
        base_scores, new_scores: float[n_base], float[n_new], larger = more base-like, any monotone scale.
        base_correct, new_correct: bool, whether the sample was named right among its own half's class names;
            new_correct None for a classifier of the base classes, which has no right name for a new sample.
        base_weights, new_weights: float, not negative, any scale; None = all equal.
        base_groups, new_groups: integers or strings from one name space, which samples are not independent; a group
            may hold base and new samples. None for both = all independent.
    Returns:
        OpenworldAUC; value in [0, 1], at most base_accuracy x new_accuracy and at most auroc. Without new_correct the
        value is None, and base_accuracy and auroc stand.
    Raises:
        OpenworldError: NaN or infinite scores (with their indices), lengths that differ, negative weights.
    Source: Hua et al. (2025), Proposition 4.2; ties and routing as in the authors' code at 8bb934a.

    >>> result = openworld_auc([3, 2, 1], [1, 1, 0], [0, 2], [1, 1])
    >>> result.value  # of 6 pairs: 3 > 0, 3 > 2, 2 > 0 and half of 2 = 2
    0.5833333333333334
    """
    base_scores, new_scores = as_scores(base_scores, "base_scores"), as_scores(new_scores, "new_scores")
    base_correct = as_correct(base_correct, "base_correct", base_scores.size)
    closed_set = new_correct is None
    correct = np.zeros(new_scores.size, bool) if closed_set else new_correct
    new_correct = as_correct(correct, "new_correct", new_scores.size)
    sizes = base_scores.size, new_scores.size
    plan = design(sizes, (base_weights, new_weights), (base_groups, new_groups))
    samples = Samples(base_scores, base_correct, new_scores, new_correct, plan, closed_set)
    reason = plan.empty or (CLOSED_SET if closed_set else None)
    base_accuracy = proportion(plan, base_correct, "base").value
    new_accuracy = None if closed_set else proportion(plan, new_correct, "new").value
    value = None
    if reason is None and (plan.base.weights is not None or plan.new.weights is not None):
        value = plan.base.mean(_base_components(samples))
    elif reason is None:
        value = count_wins(base_scores[base_correct], new_scores[new_correct]) / (2 * plan.base.n * plan.new.n)
    return OpenworldAUC(value, reason, base_accuracy, new_accuracy, *sizes, plan.n_groups, samples)


def _base_components(samples: Samples) -> np.ndarray:
    base, new = (samples.base_scores, samples.base_correct), (samples.new_scores, samples.new_correct)
    return _components(*base, *new, samples.design.new)


def _components(scores: np.ndarray, named: np.ndarray, others: np.ndarray, right: np.ndarray, side: Side) -> np.ndarray:
    """Return what share of the other `side`, whose rightly named ones count, each rightly named sample outscores."""
    weights = None if side.weights is None else side.weights[right]
    components = np.zeros(named.size)
    components[named] = win_shares(scores[named], others[right], weights, side.total)
    return components


def _harmonic_mean(a: float, b: float, u: float):
    if a + b == 0:
        return 0.0, (0.0, 0.0, 0.0)
    return harmonic_mean(a, b), (2 * (b / (a + b)) ** 2, 2 * (a / (a + b)) ** 2, 0.0)


def _correct_auroc(a: float, b: float, u: float):
    if a * b == 0:
        return None, None
    value = min(u / (a * b), 1.0)
    return value, (-value / a, -value / b, 1 / (a * b))


# Each as a function of BaseAcc a, NewAcc b and OpenworldAUC u: its value and its slopes in a, b, u. The last three say
# where the points between u and 1 go, and add up to 1 - u: pairs with a misnamed side, those wrong on both sides split
# evenly, and pairs named right on both sides and ranked wrongly.
LINEARISED = {
    "openworld_auc": lambda a, b, u: (u, (0.0, 0.0, 1.0)),
    "harmonic_mean": _harmonic_mean,
    "correct_auroc": _correct_auroc,
    "wrong_base": lambda a, b, u: ((1 - a) * (1 + b) / 2, (-(1 + b) / 2, (1 - a) / 2, 0.0)),
    "wrong_new": lambda a, b, u: ((1 - b) * (1 + a) / 2, ((1 - b) / 2, -(1 + a) / 2, 0.0)),
    "mixed_up": lambda a, b, u: (max(a * b - u, 0.0), (b, a, -1.0)),
}
QUANTITIES = (*LINEARISED, "auroc", "base_accuracy", "new_accuracy")


@checked
def open_auc(base_scores: ArrayLike, base_correct: ArrayLike, new_scores: ArrayLike, **options: Any) -> OpenworldAUC:
    """OpenAUC: like OpenworldAUC, but a new sample need only be detected, not named.

    Args:
        base_scores, base_correct, new_scores: as for `openworld_auc`.
        options: weights and groups, as for `openworld_auc`.
    Returns:
        OpenworldAUC in which every new sample counts as named right.
    Raises:
        OpenworldError: as `openworld_auc`.
    Source: Wang et al. (2022), "OpenAUC: Towards AUC-Oriented Open-Set Recognition".

    >>> open_auc([3, 1], [1, 1], [2]).value
    0.5
    """
    new_scores = as_scores(new_scores, "new_scores")
    return openworld_auc(base_scores, base_correct, new_scores, np.ones(new_scores.size, bool), **options)


@checked
def overall_accuracy(
    base_logits: ArrayLike, new_logits: ArrayLike, labels: ArrayLike, *, groups: ArrayLike | None = None
) -> MetricEstimate:
    """OverallAcc: accuracy over all names at once, by the largest of the base and the new logits side by side.

    Args:
        base_logits: float[N, C_base], over base names, for every test image, base and new.
        new_logits: float[N, C_new], over new names, on the same scale (Hua et al. do not say how two classifiers are
            joined; raw logits, scale included, are compared here).
        labels: int[N], base classes from 0, new classes from C_base on. groups: as for `openworld_auc`.
    Returns:
        MetricEstimate, value in [0, 1]; of equal logits the first wins. It depends on the share of new images.
    Raises:
        OpenworldError: NaN, shapes that differ, labels outside [0, C_base + C_new).
    Source: Hua et al. (2025), section 3.2.

    >>> overall_accuracy([[2.0, 0.0], [0.0, 1.0]], [[1.0], [3.0]], [0, 1]).value  # right, then 3 > 1
    0.5
    """
    logits = [as_table(base_logits, "base_logits", (2,)), as_table(new_logits, "new_logits", (2,))]
    labels = as_labels(labels, "labels", len(logits[0]))
    require_length(logits[1], "new_logits", labels.size)
    joined = np.concatenate(logits, axis=1)
    if labels.size and labels.max() >= joined.shape[1]:
        raise OpenworldError(f"labels holds class {labels.max()}, but there are {joined.shape[1]} names in all.")
    correct = joined.argmax(axis=1) == labels if labels.size else np.zeros(0, bool)
    sides = (groups, None if groups is None else np.zeros(0, int))
    return proportion(design((labels.size, 0), groups=sides, names=("test", "")), correct)
