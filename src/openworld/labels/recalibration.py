"""Proxies corrected by the labels of earlier batches: a line on the log-odds, held to the proxies where labels are few.

Platt (1999) with a normal prior: log-odds t become offset + slope t, the offset near 0 and the slope near 1 unless
labels say otherwise. What is used for a batch is fixed before its own labels are seen, so nothing else changes.
"""

from dataclasses import replace

import numpy as np

from openworld.labels.scored_stream import ScoredStream
from openworld.metrics import Outcomes

SURE = 1e-3  # log-odds of proxies that are surer are those of this
PRIOR = 1.0  # variance of the offset and of the slope before any label
STEPS, RIDGE = 200, np.eye(2) / PRIOR


def recalibrated(stream: ScoredStream, images: np.ndarray, truth: Outcomes, weights: np.ndarray) -> ScoredStream:
    """Return the stream with proxies that agree better with labelled images, int64[n].

    A label stands for its weight, float64[n], whose mean is made 1.
    """
    hat, weights = stream.expected, weights / weights.mean()
    base = _corrected(hat.base, images, truth.base, weights)
    base_named = _corrected(_share(hat.base_right, hat.base), images, truth.base_right, weights * truth.base)
    new_named = _corrected(_share(hat.new_right, hat.new), images, truth.new_right, weights * truth.new)
    right = hat.right
    if right is not None and truth.right is not None:
        right = _corrected(right, images, truth.right, weights)
    return replace(stream, expected=Outcomes(base * base_named, (1 - base) * new_named, base, 1 - base, right))


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """How likely a name is right within its side; one half where the side is out of the question."""
    return np.divide(part, whole, out=np.full(part.size, 0.5), where=whole > 0)


def _corrected(hat: np.ndarray, images: np.ndarray, truth: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Probabilities float64[N] after a line on their log-odds was fitted to the outcomes of some.

    No step overshoots: a logistic likelihood is curved at most a quarter as much as a linear fit (Boehning, 1992).
    """
    clipped = np.clip(hat, SURE, 1 - SURE)
    odds = np.log(clipped / (1 - clipped))
    features = np.stack([np.ones(images.size), odds[images]])
    line = prior = np.array([0.0, 1.0])
    step = np.linalg.inv((features * weights / 4) @ features.T + RIDGE)
    for _ in range(STEPS):
        slope = features @ (weights * (truth - _logistic(line @ features))) - RIDGE @ (line - prior)
        line = line + step @ slope
    return _logistic(line[0] + line[1] * odds)


def _logistic(odds: np.ndarray) -> np.ndarray:
    return 0.5 + 0.5 * np.tanh(odds / 2)
