"""Whether other shares of the classes explain what differs between source and target, and the accuracy if they do.

The shares are found by expectation maximisation (Saerens, Latinne and Decaestecker, 2002): those under which the
target's probabilities, re-weighted by them, are on average these shares themselves. It always finds some, for a shift
of another kind, too. So what they explain is tested: the source's images, weighted to these shares, must look like the
target in the model's whole outputs, as far as sets drawn from the source in these shares do (energy distance), and most
of the distance must be gone. Then

    accuracy = sum_i w_i right_i + mean confidence of the target - sum_i w_i confidence_i

over the source's images i, whose weights w_i add up to 1.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from openworld.core.types import checked
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.temperature import confidences, probabilities, temperature_of
from openworld.estimators.pseudo_label_shift import chance_distance
from openworld.estimators.quote.shift_signs import OUTPUTS, PARTNER, REFERENCE, energy, pairwise, sample, vectors_of

STEPS, STILL = 200, 1e-6  # of expectation maximisation: at most, and the change of the shares at which it ends
ANEW = 20  # of drawn sets, from the shares that they were drawn in
FLOOR = 0.5  # images by which every class counts more on the source: none is without a share
NUMBERS = 1_000_000  # probabilities that it looks at: of more images a regular sample
DRAWS, FEWEST, WORK = 199, 20, 2e9  # sets drawn in the shares found; fewer, where all would be WORK numbers or more


@dataclass(frozen=True)
class ShareExplanation:
    """What other class shares explain."""

    accuracy: float  # of the target, if the shares are all that differs, in [0, 1]
    spread: float  # its standard deviation
    p: float  # of the energy distance that is left: small where other shares do not explain it
    taken: float  # share of the energy distance beyond chance that re-weighting takes away; below 0 where it adds some
    distance: float  # total variation of the shares found and those of the source
    less_agreement: float  # standard deviations by which another model agrees less; 0 without one


@checked
def explain_by_shares(source: Outputs, target: Outputs, *, seed: int = 0) -> ShareExplanation:
    """Weight the labelled source to the class shares of the target, and test whether the two are then alike."""
    source.require(("labels",), "the comparison of class shares")
    temperature = temperature_of(source).value
    generator = np.random.default_rng(seed)
    source, target = (sample(side, generator) for side in (source, target))
    labels = source.array("labels")
    p, confidence = probabilities(source.logits, temperature), confidences(source.logits, temperature)
    by_class = class_weights(labels, probabilities(target.logits, temperature))
    weights = by_class[labels] / by_class[labels].sum()
    source_vectors, other = vectors_of(source, temperature), vectors_of(target, temperature)
    between = pairwise(np.concatenate([source_vectors[OUTPUTS], other[OUTPUTS]]))
    uniform, of_target = np.full(source.n, 1 / source.n), np.full(target.n, 1 / target.n)
    before, after = energy(between, np.array([np.r_[first, -of_target] for first in (uniform, weights)], np.float32))

    residual = ~source.wrong - confidence
    draws = int(np.clip(WORK / (source.n * source.classes * ANEW), FEWEST, DRAWS))
    first = generator.multinomial(source.n, uniform, draws) / source.n
    second = generator.multinomial(target.n, weights, draws) / target.n
    before_anew = np.stack([np.bincount(labels, drawn, source.classes) for drawn in first]) + FLOOR / source.n
    ratios = _maximise(p, second, before_anew, np.tile(by_class, (draws, 1)), ANEW)
    anew = first * ratios[:, labels]
    anew /= anew.sum(axis=1, keepdims=True)
    left = energy(between[: source.n, : source.n], (anew - second).astype(np.float32))
    errors = (anew - second) @ residual
    beyond = before - np.mean(left)
    shares = np.bincount(labels, minlength=source.classes) / source.n
    less = []
    for name in (name for name in source_vectors if name in other and name.startswith((REFERENCE, PARTNER))):
        # standard deviations by which the share of ones is lower than among weighted ones
        there, here = float(weights @ source_vectors[name][:, 0]), float(other[name].mean())
        variance = there * (1 - there) * float((weights**2).sum()) + here * (1 - here) / target.n
        less.append((there - here) / sqrt(variance) if variance else 0.0)
    return ShareExplanation(
        accuracy=float(np.clip(weights @ residual + confidences(target.logits, temperature).mean(), 0, 1)),
        spread=float(np.sqrt(np.mean(np.square(errors)))),
        p=float(1 + np.sum(left >= after)) / (1 + len(left)),
        taken=float((before - after) / beyond) if beyond > 0 else 0.0,
        distance=float(np.abs(np.bincount(labels, weights, source.classes) - shares).sum() / 2),
        less_agreement=max(less, default=0.0),
    )


def class_weights(labels: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return how much more often than on the source each class comes, float64[C]; p: calibrated, float64[m, C]."""
    before = np.bincount(labels, minlength=p.shape[1]) + FLOOR
    p = p[:: -(-p.size // NUMBERS)]
    each = np.full((1, len(p)), 1 / len(p))
    return _maximise(p, each, before[None], np.ones((1, p.shape[1])), STEPS)[0]


def _maximise(p: np.ndarray, counts: np.ndarray, before: np.ndarray, ratios: np.ndarray, steps: int) -> np.ndarray:
    """Return new over old class shares of D sets at once, float64[D, C], by expectation maximisation."""
    # One step multiplies the ratio of class c by the mean of p_ic / sum_k p_ik ratio_k over the images i of a set, over
    # the class's old share. p: float64[n, C] under the old shares; counts: float64[D, n], which add up to 1.
    before = before / before.sum(axis=1, keepdims=True)
    ratios = ratios / (ratios * before).sum(axis=1, keepdims=True)
    for _ in range(steps):
        after = ratios * ((counts / (ratios @ p.T)) @ p) / before
        still = np.abs((after - ratios) * before).sum(axis=1).max() < STILL
        ratios = after
        if still:
            break
    return ratios


def moved_shares(source: np.ndarray, target: np.ndarray) -> tuple[float, float]:
    """Return the total variation of two samples' shares of classes, from counts int[C], and its mean by chance."""
    first, second = source / source.sum(), target / target.sum()
    pooled = (source + target) / (source.sum() + target.sum())
    return float(np.abs(first - second).sum() / 2), chance_distance(pooled, source.sum(), target.sum())
