"""How likely the name of an image is right within its half, and the share of base images in a stream: two ways each.

Names are judged by what labelled base images teach. "calibrated": the largest softmax(logits / T), T fitted on base
validation images (Guo et al., 2017). "thresholded": 1 where that is at least the threshold below which as many
validation images lie as are named wrong (ATC, Garg et al., 2022), else 0. What is learned of base names is taken to
hold of new names, which a learner that was tuned on base images need not keep: the estimators say so.

The share by posteriors: zo = P(base) of each image, right but for the share of base images where it was learned; the
share that makes the stream most likely is what the EM of Saerens et al. (2002) ends at. The likelihood is concave in p,
and the root of its slope is found by halving. By scores: labelled base scores keep their law, and some region of high
scores holds no new image; the best bin of Garg et al. (2021).
"""

from dataclasses import dataclass
from math import log, sqrt
from typing import Literal

import numpy as np

from openworld.estimators.engine.temperature import blocks, confidences, probabilities, source_temperature
from openworld.estimators.engine.threshold import threshold
from openworld.estimators.open_world.outputs import OpenWorldOutputs

OwnNaming = Literal["calibrated", "thresholded"]
HALVINGS = 60
TINY = 1e-12
ERROR, WEIGHT = 0.1, 0.01  # delta and gamma of Garg et al.


@dataclass(frozen=True)
class NameRule:
    """temperature: T. least: the threshold on confidences; None for confidences as they are. warnings: sentences."""

    temperature: float
    least: float | None
    warnings: tuple[str, ...] = ()

    @classmethod
    def learned(cls, validation: OpenWorldOutputs, names: str) -> "NameRule":
        """Learn it from labelled base images."""
        return cls.of(validation.array("base_logits"), validation.array("labels"), names)

    @classmethod
    def of(cls, logits: np.ndarray, labels: np.ndarray, names: str = "calibrated") -> "NameRule":
        """Learn it from logits float64[n, C] and labels int64[n] of the same names."""
        fitted = source_temperature(logits, labels)
        wrong = int((logits.argmax(axis=1) != labels).sum())
        confident = confidences(logits, fitted.value)
        least = threshold(confident, wrong) if names == "thresholded" else None
        return cls(fitted.value, least, (fitted.warning,) if fitted.warning else ())

    def right(self, logits: np.ndarray) -> np.ndarray:
        """Return how likely the largest logit's name is right, float64[n] in [0, 1]."""
        confident = confidences(logits, self.temperature)
        return confident if self.least is None else (confident >= self.least).astype(np.float64)

    def right_of(self, logits: np.ndarray, names: np.ndarray) -> np.ndarray:
        """Return softmax(logits / T) of given names int64[n], float64[n]."""
        right = np.empty(len(logits))
        for rows in blocks(*logits.shape):
            right[rows] = np.take_along_axis(probabilities(logits[rows], self.temperature), names[rows, None], 1)[:, 0]
        return right

    def base(self, logits: np.ndarray, n_base: int) -> np.ndarray:
        """Return the sum of softmax(logits / T) over base names, float64[n]."""
        chances = np.empty(len(logits))
        for rows in blocks(*logits.shape):
            chances[rows] = probabilities(logits[rows], self.temperature)[:, :n_base].sum(axis=1)
        return np.minimum(1.0, chances)


def posterior_share(base: np.ndarray, prior: float = 0.5) -> float:
    """Return the most likely share of base images, from P(base) float64[n] where that share is `prior`."""
    if_base, if_new = base / prior, (1 - base) / (1 - prior)
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        share = (low + high) / 2
        slope = np.mean((if_base - if_new) / np.maximum(share * if_base + (1 - share) * if_new, TINY))
        low, high = (share, high) if slope > 0 else (low, share)
    return (low + high) / 2


def at_share(base: np.ndarray, share: float) -> np.ndarray:
    """Return P(base) with its odds multiplied so that the mean is `share`; float64[n]."""
    if not 0 < share < 1:
        return np.full(len(base), float(share))
    inside = np.clip(base, TINY, 1 - TINY)
    odds = inside / (1 - inside)
    low, high = -80.0, 80.0
    for _ in range(2 * HALVINGS):
        middle = (low + high) / 2
        moved = odds * np.exp(middle)
        low, high = (middle, high) if np.mean(moved / (1 + moved)) < share else (low, middle)
    return moved / (1 + moved)


def best_bin_share(base_scores: np.ndarray, scores: np.ndarray, places: np.ndarray | None = None) -> float:
    """Return the share of base images, by scores of labelled base images and of the stream (Garg et al., 2021)."""
    # With q(c) the share of scores of at least c: q_stream(c) / q_base(c) at the place c where it plus its sampling
    # error is least; at all scores unless places are given.
    places = np.unique(np.concatenate([base_scores, scores])) if places is None else places
    above_base = 1 - np.searchsorted(np.sort(base_scores), places) / len(base_scores)
    above = 1 - np.searchsorted(np.sort(scores), places) / len(scores)
    filled = above_base > 0
    error = sqrt(log(1 / ERROR) / 2 / len(scores)) + sqrt(log(1 / ERROR) / 2 / len(base_scores))
    ratio = above[filled] / above_base[filled]
    best = np.argmin(ratio + (1 + WEIGHT) * error / above_base[filled])
    return float(min(1.0, ratio[best]))
