"""Drawing images with known inclusion probabilities: at random, in strata of fixed size, or one by one (Poisson)."""

import numpy as np

CERTAIN = -1
"""The stratum of an image whose outcome is known before the draw."""
FEWEST = 2  # labels in a stratum, so that it shows a variance
MOST_STRATA, LABELS_PER_STRATUM = 8, 8


def strata(order: np.ndarray, q: np.ndarray, n: int) -> np.ndarray:
    """Cut the images `order`, of which neighbours resemble one another, into strata of equal cumulated q, int64[N]."""
    count = count_of_strata(n)
    heaped = np.cumsum(q[order])
    stratum = np.full(q.size, CERTAIN)
    stratum[order] = np.minimum((heaped - q[order] / 2) / heaped[-1] * count, count - 1).astype(int)
    return _compact(stratum)


def count_of_strata(n: int) -> int:
    return max(min(MOST_STRATA, n // LABELS_PER_STRATUM), 1)


def sizes(stratum: np.ndarray, q: np.ndarray, n: int) -> np.ndarray:
    """Return how many images to draw of each stratum: in proportion to its q, at least two (or all of it), n in all."""
    inside = stratum >= 0
    held, wanted = np.bincount(stratum[inside]), np.bincount(stratum[inside], q[inside])
    drawn = np.minimum(np.maximum(np.floor(wanted).astype(int), FEWEST), held)
    while drawn.sum() != min(n, held.sum()):
        step = 1 if drawn.sum() < min(n, held.sum()) else -1
        may = drawn < held if step > 0 else drawn > np.minimum(FEWEST, held)
        if not may.any():
            break
        drawn[np.argmax(np.where(may, step * (wanted - drawn), -np.inf))] += step
    return drawn


def draw_from_strata(stratum: np.ndarray, drawn: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Draw images, int64[n], in random order, so that whoever stops early has a sample of each stratum."""
    by_stratum = np.argsort(stratum, kind="stable")
    edges = np.searchsorted(stratum[by_stratum], np.arange(drawn.size + 1))
    chosen = [
        by_stratum[start + generator.choice(end - start, count, replace=False)]
        for start, end, count in zip(edges[:-1], edges[1:], drawn, strict=True)
    ]
    return generator.permutation(np.concatenate(chosen))


def draw_each(q: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Draw each image by itself with its probability, int64[about n], in random order."""
    return generator.permutation(np.flatnonzero(generator.random(q.size) < q))


def _compact(stratum: np.ndarray) -> np.ndarray:
    """Number the strata that hold images from 0 without gaps."""
    inside = stratum >= 0
    stratum[inside] = np.unique(stratum[inside], return_inverse=True)[1]
    return stratum
