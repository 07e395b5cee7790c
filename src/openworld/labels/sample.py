"""Labelled images with the probabilities with which they were drawn, and the pseudo-outcomes that follow.

With inclusion probability q, xi whether an image is labelled, proxies a^ and a weight l of the proxies in [0, 1],

    a~ = l a^ + (xi / q) (a - l a^)

has expectation a whatever the proxies are (Horvitz and Thompson, 1952, for l = 0; Robins et al., 1994, and Angelopoulos
et al., 2023, for l = 1). Batches enter with weights that were fixed before their labels were seen.

With e = psi - l psi^ the residual influence (psi^ that of the proxies), a batch contributes to the variance of an
estimate over the draw

    Poisson      V = N^-2 sum over labelled of (1 - q) / q^2 e^2
    strata       V = sum_h (N_h / N)^2 (1 - n_h / N_h) s_h^2(e) / n_h,   Satterthwaite (1946) degrees of freedom

times the square of its weight. One of several strata that showed no surprise may hold some: its s_h^2 is raised by
UNSEEN / n_h of the mean of psi^2, as if half a label more had been as far off as images are on average. The draw of the
labels is all the randomness there is for "these images"; for "images like these" the variance of the mean influence
over images (or groups of them) is added.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.labels.inclusion import CERTAIN
from openworld.labels.label_plan import LabelPlan
from openworld.labels.streams import LabelAnswers, ScoredStream
from openworld.metrics import Outcomes, Ranking
from openworld.metrics.estimate import NO_VARIANCE, ROUNDING, Spread

UNSEEN = 0.5
"""How many labels of an average influence are added to those of each stratum; Jeffreys' half for a count."""
FIELDS = ("base_right", "new_right", "base", "new", "right")


@dataclass(frozen=True, eq=False)
class Batch:
    """One batch as it is read."""

    plan: LabelPlan
    weight: float  # what it counts among the batches
    images: np.ndarray  # int64[m], those drawn, then those whose outcomes were known beforehand
    truth: tuple[Outcomes, ...]  # of each model on them, float64[m] each
    n: int  # how many were drawn

    @cached_property
    def q(self) -> np.ndarray:
        """Return float64[m], 1 for those known beforehand."""
        return self.plan.inclusion[self.images]

    @cached_property
    def stratum(self) -> np.ndarray:
        """Return int64[n] of those drawn."""
        return self.plan.stratum[self.images[: self.n]]

    @cached_property
    def held(self) -> np.ndarray:
        """Return int64[H], images in each stratum."""
        return np.bincount(self.plan.stratum[self.plan.stratum != CERTAIN], minlength=self.drawn.size)

    @cached_property
    def drawn(self) -> np.ndarray:
        """Return int64[H], images drawn from each stratum."""
        return np.bincount(self.stratum)

    @cached_property
    def expected(self) -> tuple[Outcomes, ...]:
        """Return the proxies of each model on `images`, float64[m] each; 0 where there is none."""
        return tuple(expected_at(stream, self.images) for stream in self.plan.streams)

    @cached_property
    def factors(self) -> np.ndarray:
        """Return (N_h / N)^2 (1 - n_h / N_h) / n_h of each stratum."""
        share = self.held / self.plan.inclusion.size
        return share**2 * (1 - self.drawn / self.held) / np.maximum(self.drawn, 1)

    def cross(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return what each stratum (Poisson: each image) adds to the covariance of two means of float64[n]."""
        if self.plan.is_poisson:
            q = self.q[: self.n]
            return self.weight**2 * (1 - q) / q**2 * first * second / self.plan.inclusion.size**2
        drawn = np.maximum(self.drawn, 1)
        centred = [values - (np.bincount(self.stratum, values) / drawn)[self.stratum] for values in (first, second)]
        covariance = np.bincount(self.stratum, centred[0] * centred[1]) / np.maximum(self.drawn - 1, 1)
        return self.weight**2 * self.factors * covariance

    def residual(self, model: int, name: str, trust: float) -> np.ndarray:
        """Return (a - l a^) / q of a model on `images`, float64[m]."""
        true, hat = getattr(self.truth[model], name), getattr(self.expected[model], name)
        return (true - trust * hat) / self.q


def read_batches(batches: Sequence[tuple[LabelPlan, LabelAnswers]]) -> tuple[Batch, ...]:
    """Check that batches belong together, and put their answers to their images."""
    last = batches[-1][0]
    prints = tuple(plan.fingerprint for plan, _ in batches[:-1])
    if prints != last.earlier:
        raise OpenworldError(
            f"this plan was made after {len(last.earlier)} batch(es); {len(prints)} came, or others; pass those that "
            "it was planned on as `earlier`, in the same order."
        )
    answered: list[tuple[np.ndarray, tuple[Outcomes, ...]]] = []
    batches_read = []
    for (plan, answers), weight in zip(batches, last.batch_weights, strict=True):
        if len(answers) != len(plan):
            raise OpenworldError(
                f"{len(answers)} answers came, expected {len(plan)}: one an image of the plan's `chosen`."
            )
        if len(answers.base_right) != len(plan.streams):
            raise OpenworldError(f"answers on {len(answers.base_right)} model(s) came, expected {len(plan.streams)}.")
        outcomes = tuple(answers.outcomes(model) for model in range(len(plan.streams)))
        answered.append((plan.chosen, outcomes))
        batches_read.append(_batch(plan, weight, answered))
    return tuple(batches_read)


def pseudo_outcomes(batches: Sequence[Batch], model: int, trust: float) -> Outcomes:
    """Return a~ and its siblings over all batches, float64[N] each."""
    names = [name for name in FIELDS if getattr(batches[0].truth[model], name) is not None]
    pseudo: dict[str, Any] = {"right": None}
    for name in names:
        total: Any = 0.0
        for batch in batches:
            hat = getattr(batch.plan.streams[model].expected, name)
            tilde = hat * trust if hat is not None else np.zeros(batch.plan.inclusion.size)
            tilde[batch.images] += batch.residual(model, name, trust)
            total = total + batch.weight * tilde
        pseudo[name] = total
    return Outcomes(**pseudo)


def pair_correction(batches: Sequence[Batch], model: int, trust: float, names: tuple[str, str]) -> float:
    """Return twice what the pair sum lacks of pairs within one stratum of fixed size."""
    # Two images of one stratum are both drawn with probability n(n-1) / N(N-1), not q^2 = (n/N)^2, so that a product of
    # two residuals is to be multiplied by n(N-1) / N(n-1).
    lacking = 0.0
    for batch in batches:
        if batch.plan.is_poisson:
            continue
        first, second = (batch.residual(model, name, trust)[: batch.n] for name in names)
        scores = batch.plan.streams[model].scores[batch.images[: batch.n]]
        for number, (held, drawn) in enumerate(zip(batch.held, batch.drawn, strict=True)):
            if drawn < 2 or drawn == held:
                continue
            inside = np.flatnonzero(batch.stratum == number)
            twice = first[inside] @ Ranking.of(scores[inside]).twice_below(second[inside])
            lacking += batch.weight**2 * (drawn * (held - 1) / (held * (drawn - 1)) - 1) * float(twice)
    return lacking


def _batch(plan: LabelPlan, weight: float, answered: list[tuple[np.ndarray, tuple[Outcomes, ...]]]) -> Batch:
    """Return a plan with its own answers, the last of `answered`, and what was known before."""
    seen = np.concatenate([chosen for chosen, _ in answered[:-1]] or [np.zeros(0, np.int64)])
    if not np.array_equal(seen, plan.known):
        raise OpenworldError("an earlier batch is missing, or not the one that this plan was made after.")
    agreeing = plan.stratum == CERTAIN
    agreeing[seen] = False
    alike = np.flatnonzero(agreeing)  # both models give one name: whatever it is worth, they do not differ
    images = np.concatenate([plan.chosen, seen, alike])
    none, all_base = np.zeros(alike.size), np.ones(alike.size)
    no_difference = Outcomes(none, none, all_base, none, none)
    truth = tuple(
        joined([answered[-1][1][model], *(each[model] for _, each in answered[:-1]), no_difference])
        for model in range(len(plan.streams))
    )
    return Batch(plan, weight, images, truth, plan.chosen.size)


def joined(parts: list[Outcomes]) -> Outcomes:
    """Return outcomes of several lots of images, one after the other."""
    parts = [part for part in parts if len(part)] or parts[:1]
    columns = {name: [getattr(part, name) for part in parts] for name in FIELDS}
    complete = {name: arrays for name, arrays in columns.items() if not any(part is None for part in arrays)}
    whole: dict[str, Any] = {"right": None} | {name: np.concatenate(arrays) for name, arrays in complete.items()}
    return Outcomes(**whole)


def expected_at(stream: ScoredStream, images: np.ndarray) -> Outcomes:
    """Return the proxies of some images, float64[n] each; 0 where there is none."""
    columns = {name: getattr(stream.expected, name) for name in FIELDS}
    none = np.zeros(images.size)
    return Outcomes(**{name: none if array is None else array[images] for name, array in columns.items()})


def influences(quantity: str, models: Sequence[int], softs, outcomes=None, images=None) -> np.ndarray:
    """Return psi of a number, or of the first model's minus the second's; with other outcomes, if given."""
    each = [
        soft.influence(quantity, None if outcomes is None else outcomes[model], images)
        for soft, model in zip(softs, models, strict=True)
    ]
    return each[0] - each[1] if len(each) == 2 else each[0]


Residuals = Sequence[tuple[Batch, np.ndarray, np.ndarray]]
"""Batches with psi and psi^ of the images that each drew, float64[n] each."""


def best_trust(parts: Residuals) -> float:
    """Return l*, the weight of the proxies, in [0, 1], with which the variance is least."""
    shared = sum(float(batch.cross(psi, hat).sum()) for batch, psi, hat in parts)
    square = sum(float(batch.cross(hat, hat).sum()) for batch, _, hat in parts)
    return min(max(shared / square, 0.0), 1.0) if square > ROUNDING**2 else 0.0


def variance(parts: Residuals, trust: float) -> tuple[float, float]:
    """Return the variance over the draw, and its degrees of freedom."""
    total = loose = 0.0
    weighed = [(batch.weight / batch.q[: batch.n], psi**2) for batch, psi, _ in parts]
    # the mean of psi^2 over all images, from those drawn
    average = sum(float(each @ square) for each, square in weighed) / sum(float(each.sum()) for each, _ in weighed)
    for batch, psi, hat in parts:
        error = psi - trust * hat
        terms = batch.cross(error, error)
        if not batch.plan.is_poisson and batch.drawn.size > 1:
            unseen = UNSEEN * average / np.maximum(batch.drawn, 1)
            terms = terms + batch.weight**2 * batch.factors * unseen
        total += float(terms.sum())
        if batch.plan.is_poisson:
            loose += float(np.square(terms).sum() - terms.sum() ** 2 / max(terms.size, 1)) / 2
        else:
            loose += float((terms**2 / np.maximum(batch.drawn - 1, 1)).sum())
    most = max(sum(batch.n for batch, _, _ in parts) - 1, 1)
    return total, float(min(total**2 / loose, most)) if loose > 0 else float(most)


def over_images(batches: Sequence[Batch], psi: Sequence[np.ndarray], pseudo: np.ndarray, groups: np.ndarray | None):
    """Return the variance of the mean influence over images like these, and its degrees of freedom."""
    # psi float64[m] is of each batch's images, pseudo float64[N] of the pseudo-outcomes, groups int64[N] are codes.
    size = pseudo.size
    alone = sum(batch.weight * float((each**2 / batch.q).sum()) for batch, each in zip(batches, psi, strict=True))
    if groups is None:
        return alone / (size * (size - 1)), float(size - 1)
    together = float(np.square(np.bincount(groups, pseudo)).sum() - np.square(pseudo).sum())
    count = int(groups.max()) + 1
    return max(alone + together, alone) / size**2 * count / max(count - 1, 1), float(max(count - 1, 1))


def spread_of(total: float, degrees: float, groups: tuple[float, ...]) -> Spread:
    error = float(np.sqrt(total))
    return Spread(None, None, NO_VARIANCE, groups) if error <= ROUNDING else Spread(error, degrees, None, groups)
