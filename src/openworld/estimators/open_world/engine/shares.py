"""The share of base images in a stream, by two ways that rest on different premises.

By posteriors: zo = P(base) of each image, right but for the share of base images where it was learned; the share that
makes the stream most likely is what the EM of Saerens et al. (2002) ends at. The likelihood is concave in p, and the
root of its slope is found by halving. By scores: labelled base scores keep their law, and some region of high scores
holds no new image; the best bin of Garg et al. (2021).
"""

from math import log, sqrt

import numpy as np

HALVINGS = 60
TINY = 1e-12
ERROR, WEIGHT = 0.1, 0.01  # delta and gamma of Garg et al.


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
    kept = above_base > 0
    error = sqrt(log(1 / ERROR) / 2 / len(scores)) + sqrt(log(1 / ERROR) / 2 / len(base_scores))
    ratio = above[kept] / above_base[kept]
    best = np.argmin(ratio + (1 + WEIGHT) * error / above_base[kept])
    return float(min(1.0, ratio[best]))
