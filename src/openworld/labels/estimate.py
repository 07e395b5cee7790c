"""What a few labels say of a model: OpenworldAUC, its parts, accuracy and differences, with intervals that hold.

    theta^ = [ sum_i a~_i below(s_i; b~) - 1/2 sum a~ b~ ] / ( sum z~ sum n~ )

from pseudo-outcomes a~, b~, z~, n~ (see `sample`). Its numerator is unbiased for any proxies, because images are drawn
with known probabilities; that is also why no interval here rests on calibration, on independent images or on a shift
that is small. What it rests on: labels are right, and there are enough of them on either side.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil

import numpy as np

from openworld.core.arrays import ArrayLike, as_groups
from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.representation import short_repr
from openworld.core.types import Fraction, Share, checked
from openworld.labels.inclusion import CERTAIN
from openworld.labels.label_plan import LabelPlan
from openworld.labels.sample import (
    Batch,
    Residuals,
    best_trust,
    influences,
    over_images,
    pair_correction,
    pseudo_outcomes,
    read_batches,
    spread_of,
    variance,
)
from openworld.labels.streams import LabelAnswers
from openworld.metrics import SOFT_QUANTITIES, SoftOpenworldAUC, of_outcomes
from openworld.metrics.estimate import ROUNDING, Spread, share_interval, student_p, student_quantile

ENOUGH = 10
"""Labelled images that a number needs on every side that it depends on."""
RARE, ENOUGH_OF_RARE = 0.125, 100
"""A side below this share of the images needs as many for a number of pairs: each of its images weighs 1 / share, and
the few surprises among images that the proxies are sure of decide (intervals held 74 to 100 % at a share of .05).
"""
ENOUGH_TO_WEIGH = 50
"""Labels from which the weight of the proxies is estimated; with fewer, an estimated weight can lose."""
FIXED_TRUST = 0.5
"""The weight of the proxies below that, of images that were drawn by them; plain random labels are read without."""
SIDES = {
    "openworld_auc": ("base", "new"),
    "auroc": ("base", "new"),
    "base_accuracy": ("base",),
    "new_accuracy": ("new",),
    "base_share": (),
    "overall_accuracy": (),
}
PAIRS = {"openworld_auc": ("base_right", "new_right"), "auroc": ("base", "new")}


@dataclass(frozen=True)
class LabelledNumber:
    """A number, or the difference of two models in it, as some labels show it.

    value: None with `reason`, which says what is needed, and `more_labels`, about how many more labels that is (None
    where nobody can tell). these_images, images_like_these: standard errors over the draw of the labels, and over other
    images too. proxy_weight: l. n_labelled, n_base, n_new: labels, and how many fell on each side.
    """

    value: float | None
    reason: str | None
    more_labels: int | None
    these_images: Spread
    images_like_these: Spread
    proxy_weight: float
    n_labelled: int
    n_base: int
    n_new: int
    is_difference: bool = False

    @property
    def standard_error(self) -> float | None:
        """Over the draw of the labels."""
        return self.these_images.standard_error

    @checked
    def interval(self, level: Fraction = 0.95, like_these: bool = False) -> tuple[float, float] | None:
        """Confidence interval: Student's t, of a number on the logit scale, as all intervals of shares.

        Args:
            level: confidence, in (0, 1). like_these: over images like these, not only over these images.
        Returns:
            (low, high); both the value itself where every image is labelled. None where there is no number, or nothing
            to see how far it is off.
        """
        error = self.images_like_these if like_these else self.these_images
        if self.value is None:
            return None
        if error.standard_error == 0.0:
            return (self.value, self.value)
        if not self.is_difference:
            return _share_interval(self.value, error, level)
        quantile = student_quantile(level, error.degrees_of_freedom)
        if quantile is None or error.standard_error is None:
            return None
        half = quantile * error.standard_error
        return max(self.value - half, -1.0), min(self.value + half, 1.0)

    def p_value(self, like_these: bool = False) -> float | None:
        """Two-sided p-value of a difference being zero; None of other numbers."""
        error = self.images_like_these if like_these else self.these_images
        degrees = error.degrees_of_freedom
        if not self.is_difference or self.value is None or not error.standard_error or degrees is None:
            return None
        return student_p(self.value, error.standard_error, degrees)


@dataclass(frozen=True, eq=False)
class LabelledQuality:
    """What some labels say of one model, or of two; every number is computed when first asked for."""

    batches: tuple[Batch, ...] = field(repr=False)
    groups: np.ndarray | None = field(repr=False)
    proxy_weight: float | None
    __repr__ = short_repr

    @property
    def models(self) -> int:
        """1 or 2."""
        return len(self.batches[-1].plan.streams)

    @property
    def numbers(self) -> dict[str, LabelledNumber]:
        """Every number of the first model that there are answers for, by its name in SOFT_QUANTITIES."""
        return {name: self.of(name) for name in SOFT_QUANTITIES if self._refusal(name, (0,)) is None}

    @checked
    def of(self, quantity: str = "openworld_auc", model: int = 0) -> LabelledNumber:
        """Return a number of a model, 0 or 1."""
        if not 0 <= model < self.models:
            raise OpenworldError(f"model is {model}, expected less than {self.models}: models count from 0.")
        return self._number(quantity, (model,))

    @checked
    def difference(self, quantity: str = "openworld_auc") -> LabelledNumber:
        """Return the first model's number minus the second's, from the same labels."""
        if self.models != 2:
            raise OpenworldError("there is one model; plan with two streams to measure a difference.")
        return self._number(quantity, (0, 1))

    @cached_property
    def _found(self) -> dict:
        return {}

    def _number(self, quantity: str, models: tuple[int, ...]) -> LabelledNumber:
        if quantity not in SOFT_QUANTITIES:
            raise unknown_name("quantity", quantity, SOFT_QUANTITIES)
        if (quantity, models) not in self._found:
            refusal = self._refusal(quantity, models)
            if refusal:
                raise OpenworldError(refusal)
            self._found[quantity, models] = self._make(quantity, models)
        return self._found[quantity, models]

    def _refusal(self, quantity: str, models: tuple[int, ...]) -> str | None:
        """Return why the plan or the answers cannot say anything of a quantity."""
        if quantity == "overall_accuracy" and self.batches[0].truth[0].right is None:
            return "overall_accuracy needs answers on the name among all names; pass `right` to `label_answers`."
        plan = self.batches[-1].plan
        only_where_they_differ = np.count_nonzero(plan.stratum == CERTAIN) > plan.known.size
        if only_where_they_differ and (quantity != "overall_accuracy" or len(models) == 1):
            return "this plan labels only images on which the two models differ; it tells their difference alone."
        return None

    def _make(self, quantity: str, models: tuple[int, ...]) -> LabelledNumber:
        counts = self._counts
        reason, more = self._too_few(quantity)
        if reason:
            none = Spread(None, None, reason)
            return LabelledNumber(None, reason, more, none, none, 0.0, *counts, len(models) == 2)
        trust = self._trust(quantity, models) if self.proxy_weight is None else self.proxy_weight
        values, softs = self._values(quantity, models, trust)
        if any(not 0 <= value <= 1 for value in values) and trust:  # proxies lead out of what is possible
            trust = 0.0
            values, softs = self._values(quantity, models, trust)
        value = values[0] - values[1] if len(values) == 2 else min(max(values[0], 0.0), 1.0)
        these, like = self._spreads(quantity, models, softs, trust)
        return LabelledNumber(value, None, None, these, like, trust, *counts, len(models) == 2)

    def _trust(self, quantity: str, models: tuple[int, ...]) -> float:
        """Return the weight of the proxies that these labels are read with."""
        if self._counts[0] >= ENOUGH_TO_WEIGH:
            trust = best_trust(self._residuals(quantity, models, self._softs(models, FIXED_TRUST)))
        else:
            plain = all(batch.plan.settings.design == "random" for batch in self.batches)
            trust = 0.0 if plain else FIXED_TRUST
        if trust and len(models) == 1:  # of labels that show no success, any trust would exclude a truth of 0
            (value,), _ = self._values(quantity, models, 0.0)
            trust = trust if value > ROUNDING else 0.0
        return trust

    def _values(self, quantity: str, models: tuple[int, ...], trust: float):
        softs = self._softs(models, trust)
        values = []
        for model, soft in zip(models, softs, strict=True):
            value = soft.value_of(quantity)
            if quantity in PAIRS and value is not None:
                lacking = pair_correction(self.batches, model, trust, PAIRS[quantity])
                value += lacking / (2 * soft.n_base * soft.n_new)
            values.append(value)
        return values, softs

    def _softs(self, models: tuple[int, ...], trust: float) -> list[SoftOpenworldAUC]:
        streams = self.batches[-1].plan.streams
        return [of_outcomes(streams[model].ranking, pseudo_outcomes(self.batches, model, trust)) for model in models]

    def _residuals(self, quantity: str, models: tuple[int, ...], softs) -> Residuals:
        parts = []
        for batch in self.batches:
            both = (influences(quantity, models, softs, each, batch.images) for each in (batch.truth, batch.expected))
            psi, hat = (influence[: batch.n] for influence in both)
            parts.append((batch, psi, hat))
        return parts

    def _spreads(self, quantity: str, models: tuple[int, ...], softs, trust: float) -> tuple[Spread, Spread]:
        drawn, degrees = variance(self._residuals(quantity, models, softs), trust)
        psi = [influences(quantity, models, softs, batch.truth, batch.images) for batch in self.batches]
        pseudo = influences(quantity, models, softs)
        images, image_degrees = over_images(self.batches, psi, pseudo, self.groups)
        both = drawn + images
        joint = both**2 / (drawn**2 / degrees + images**2 / image_degrees) if both > 0 else degrees
        effective = ()
        if len(models) == 1:  # Kish's number of equally heavy labels of each side, larger where many are labelled
            sides = [self._weights[side] for side in SIDES[quantity] or ("",)]
            effective = tuple(float(side.sum() ** 2 / max((side**2 - side).sum(), ROUNDING)) for side in sides)
        these = Spread(0.0, degrees) if self._all_labelled else spread_of(drawn, degrees, effective)
        return these, spread_of(both, joint, effective)

    @cached_property
    def _counts(self) -> tuple[int, int, int]:
        """Return labels, and how many fell on base and on new images."""
        base = sum(int(batch.truth[0].base[: batch.n].sum()) for batch in self.batches)
        labels = sum(batch.n for batch in self.batches)
        return labels, base, labels - base

    @cached_property
    def _all_labelled(self) -> bool:
        return self.batches[-1].images.size == self.batches[-1].plan.inclusion.size

    def _too_few(self, quantity: str) -> tuple[str | None, int | None]:
        """Return why there is no number yet, and about how many more labels would give one."""
        if self._all_labelled:
            return None, None
        labels, base, new = self._counts
        counts, weights = {"base": base, "new": new, "": labels}, self._weights
        for side in SIDES[quantity] or ("",):
            share = float(weights[side].sum() / weights[""].sum()) if quantity in PAIRS else 1.0
            needed = ENOUGH if share >= RARE else ENOUGH_OF_RARE
            if counts[side] < needed:
                return _refusal(side, counts[side], labels, share, needed)
        return None, None

    @cached_property
    def _weights(self) -> dict[str, np.ndarray]:
        """Return what each labelled image stands for, float64[N]: all, those of base, the new ones."""
        weights = np.zeros(self.batches[-1].plan.inclusion.size)
        base = np.zeros(weights.size)
        for batch in self.batches:
            weights[batch.images] += batch.weight / batch.q
            base[batch.images] = batch.truth[0].base
        return {"": weights, "base": weights * base, "new": weights * (1 - base)}


def _refusal(side: str, count: int, labels: int, share: float, needed: int) -> tuple[str, int | None]:
    """Return what is said of a side with too few labels, and about how many more labels would do."""
    more = ceil((needed - count) * labels / count) if count else None
    advice = f"label about {more} more" if more else f"label more images, chosen where {side} ones are to be expected"
    fell = f"{count} of {labels} labels fell on {side} images" if side else f"there are {count} labels"
    rare = f", which are {share:.0%} of all: rare ones weigh much" if share < RARE else ""
    return f"{fell}{rare}; {needed} are needed: {advice}", more


def _share_interval(value: float, error: Spread, level: float) -> tuple[float, float] | None:
    """Return `share_interval`, without its upper margin for a number of two sides."""
    # Mistakes that no label shows can lower a number of pairs by what they are on either side; rights that no label
    # shows raise it by a product, so that the margin of a share is no margin of it.
    ends = share_interval(value, error, level)
    if ends is None or len(error.groups) < 2 or not ROUNDING < value < 1 - ROUNDING:
        return ends
    inner = share_interval(value, replace(error, groups=()), level)
    return ends if inner is None else (ends[0], inner[1])


@checked
def estimate(
    plan: LabelPlan,
    answers: LabelAnswers,
    *,
    earlier: Sequence[tuple[LabelPlan, LabelAnswers]] = (),
    groups: ArrayLike | None = None,
    proxy_weight: Share | None = None,
) -> LabelledQuality:
    """Read the labels of a plan.

    Args:
        plan: from `plan`. answers: one per image of `plan.chosen`, in its order, from `label_answers`.
        earlier: (plan, answers) of the batches that the plan was made after, in order.
        groups: integer[N] or string[N], which images belong together (frames of one video), for "images like these".
        proxy_weight: l in [0, 1], how much the proxies count; None: the weight with the least variance from
            ENOUGH_TO_WEIGH labels on, FIXED_TRUST below.
    Returns:
        LabelledQuality; a number that too few labels speak of is None with a reason.
    Raises:
        OpenworldError: answers that are missing, earlier batches that are not those of the plan.
    Source: Horvitz and Thompson (1952); Angelopoulos et al. (2023), "PPI++", for l; Satterthwaite (1946).
    """
    batches = read_batches([*earlier, (plan, answers)])
    codes = None
    if groups is not None:
        labels = as_groups(groups, "groups", plan.inclusion.size)
        codes = np.unique(labels, return_inverse=True)[1]
    return LabelledQuality(batches, codes, proxy_weight)
