"""How far a target lies from the source, as the judged model's own outputs show it; no label of the target is needed.

Confidences are compared by their largest difference of distributions (Kolmogorov-Smirnov), once with the source as it
is and once with its images weighted so that its classes come as often as on the target. Those shares are found by
expectation maximisation (Saerens, Latinne and Decaestecker, 2002): the shares under which the target's probabilities,
re-weighted by them, are on average these shares themselves. If the second distance is small and the first is not, it is
the classes that come in other shares, and the model is as sure of each as ever.
"""

from dataclasses import dataclass

import numpy as np

from openworld._types import checked
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.temperature import confidences, probabilities, source_temperature

STEPS, STILL = 200, 1e-6  # of expectation maximisation: at most, and the change of the shares at which it ends
NUMBERS = 1_000_000  # probabilities that it looks at: of more images a regular sample
CHANCE = 1.628  # a distance of more than CHANCE sqrt(1/n + 1/m) comes by chance in one of a hundred cases


@dataclass(frozen=True)
class ShiftSigns:
    """Distances in [0, 1] between source and target.

    confidences: of the confidences. reweighted: the same, the source weighted to the target's shares of classes.
    chance: what the first exceeds by chance alone in one of a hundred cases. predictions: total variation of the
    shares of the predicted classes, less what chance makes of it.
    """

    confidences: float
    reweighted: float
    chance: float
    predictions: float


@checked
def shift_signs(source: Outputs, target: Outputs) -> ShiftSigns:
    """Compare what a model says of two sets.

    Args:
        source: with labels. target: outputs of the same model for the same classes.
    Raises:
        OpenworldError: a source without labels.

    >>> source = Outputs([[2.0, 0.0], [0.0, 3.0], [1.0, 0.0], [0.0, 0.5]], labels=[0, 1, 1, 1])
    >>> shift_signs(source, source).confidences, shift_signs(source, Outputs([[9.0, 0.0]])).confidences
    (0.0, 1.0)
    """
    source.require(("labels",), "the comparison of source and target")
    temperature = source.once("temperature", lambda: source_temperature(source.logits, source.labels)).value
    ours, theirs = (confidences(side.logits, temperature) for side in (source, target))
    weights = class_weights(source.labels, probabilities(target.logits, temperature))[source.labels]
    counts = (np.bincount(side.predictions, minlength=side.classes) for side in (source, target))
    distance, chance = moved_shares(*counts)
    return ShiftSigns(
        confidences=largest_difference(ours, np.ones(source.n), theirs),
        reweighted=largest_difference(ours, weights, theirs),
        chance=min(1.0, CHANCE * float(np.sqrt(1 / source.n + 1 / target.n))),
        predictions=max(0.0, distance - chance),
    )


def class_weights(labels: np.ndarray, p: np.ndarray) -> np.ndarray:
    """How much more often than on the source each class comes on the target, float64[C].

    Args:
        labels: int64[n] of the source. p: float64[m, C], calibrated probabilities of target images.

    >>> class_weights(np.array([0, 1]), np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])).round(2).tolist()
    [1.5, 0.5]
    """
    before = np.bincount(labels, minlength=p.shape[1]) + 0.5  # no class is without a share
    before = shares = before / before.sum()
    p = p[:: -(-p.size // NUMBERS)]
    for _ in range(STEPS):
        given = p * (shares / before)
        moved = (given / given.sum(axis=1, keepdims=True)).mean(axis=0)
        still = np.abs(moved - shares).sum() < STILL
        shares = moved
        if still:
            break
    return shares / before


def largest_difference(values: np.ndarray, weights: np.ndarray, others: np.ndarray) -> float:
    """Largest difference of the distribution functions of weighted values and of others."""
    order, others = np.argsort(values), np.sort(others)
    reached = np.r_[0.0, np.cumsum(weights[order])] / weights.sum()
    points = np.r_[values, others]
    first = reached[np.searchsorted(values[order], points, side="right")]
    return float(np.abs(first - np.searchsorted(others, points, side="right") / len(others)).max())


def moved_shares(source: np.ndarray, target: np.ndarray) -> tuple[float, float]:
    """Total variation of two samples' shares of classes, from counts int[C], and its mean by chance alone.

    >>> moved_shares(np.array([5, 5]), np.array([10, 0]))[0]
    0.5
    """
    first, second = source / source.sum(), target / target.sum()
    pooled = (source + target) / (source.sum() + target.sum())
    deviations = np.sqrt(pooled * (1 - pooled) * (1 / source.sum() + 1 / target.sum()))
    return float(np.abs(first - second).sum() / 2), float(deviations.sum() * np.sqrt(2 / np.pi) / 2)
