"""Intervals of the threshold metrics of a detector, over images: the percentile bootstrap, one sort a detector.

Resampling with replacement is drawing a count for every image (or cluster of images), so that a replicate needs no
sort: counts are summed along the order of the scores. Several sets that are held against the same in-distribution
images share the draws of these, and so do several detectors: means over sets, and differences, are those of one draw.

Counts of n units drawn n times take a quarter of the time of drawing indices: independent Poisson counts are
multinomial given their sum. They are drawn with a mean a little under 1, by looking up 16 random bits; what is missing
to n is drawn as indices. The distribution is the multinomial one exactly: the few codes that lie across a step of the
Poisson distribution take 53 more bits, and a sum above n is drawn again.
"""

from collections.abc import Iterator, Sequence
from math import exp, factorial, sqrt

import numpy as np

METRICS = ("fpr_in_positive", "fpr_out_positive", "aupr_in", "aupr_out")
"""What has an interval by resampling; AUROC has its own in closed form."""

CHUNK = 2_000_000  # counts in memory at a time
CODES = 2**16
SPLIT = 255  # in the table: these 16 bits alone do not decide the count
SPARE = 5.0  # standard deviations between the mean of the Poisson sum and n: 1 draw in 3 million is repeated


class Multinomial:
    """The law of counts of n equally likely units in n draws."""

    def __init__(self, n: int):
        self.n = n
        mean = max(0.0, 1 - SPARE / sqrt(n))
        self.cumulative = np.cumsum([exp(-mean) * mean**k / factorial(k) for k in range(20)])
        edges = np.arange(CODES + 1) / CODES
        lowest = np.searchsorted(self.cumulative, edges[:-1], "right")
        highest = np.searchsorted(self.cumulative, edges[1:], "left")
        self.table = np.where(lowest == highest, lowest, SPLIT).astype(np.uint8)

    def __call__(self, generator: np.random.Generator) -> np.ndarray:
        """Return int32[n] that add up to n."""
        counts = self._poisson(generator)
        while (missing := self.n - int(counts.sum(dtype=np.int64))) < 0:
            counts = self._poisson(generator)
        np.add.at(counts, generator.integers(0, self.n, missing), np.uint8(1))
        return counts.astype(np.int32)

    def _poisson(self, generator: np.random.Generator) -> np.ndarray:
        words = generator.integers(0, 2**64, -(-self.n // 4), dtype=np.uint64)  # four codes a word
        codes = words.view(np.uint16)[: self.n]
        counts = self.table.take(codes)
        split = np.flatnonzero(counts == SPLIT)
        exact = (codes[split] + generator.random(split.size)) / CODES
        counts[split] = np.searchsorted(self.cumulative, exact, "right")
        return counts


def draw_counts(clusters: Sequence[np.ndarray], replicates: int, seed: int) -> list[np.ndarray]:
    """Draw how often each image of each set comes in each replicate, uint8[replicates, n] for every set."""
    # sets that share a label of a cluster are drawn together, all others apart
    generator = np.random.default_rng(seed)
    labels = [np.asarray(own).astype(str) for own in clusters]
    shared = [
        any(np.intersect1d(own, other).size for at, other in enumerate(labels) if at != place)
        for place, own in enumerate(labels)
    ]
    together = [own for own, joint in zip(labels, shared, strict=True) if joint]
    joint = iter(_draw(together, replicates, generator))
    return [next(joint) if is_joint else _draw([own], replicates, generator)[0]
            for own, is_joint in zip(labels, shared, strict=True)]  # fmt: skip


def _draw(labels: list[np.ndarray], replicates: int, generator: np.random.Generator) -> list[np.ndarray]:
    """Draw the clusters of some sets together: uint8[replicates, n] for each of them."""
    if not labels:
        return []
    units, codes = np.unique(np.concatenate(labels), return_inverse=True)
    counts = np.zeros((replicates, units.size), np.uint8)
    if units.size:
        law = Multinomial(units.size)
        for row in counts:
            row[:] = np.minimum(law(generator), 255)
    return [counts[:, place] for place in np.split(codes, np.cumsum([len(place) for place in labels])[:-1])]


def resampled(
    in_scores: np.ndarray,
    out_scores: np.ndarray,
    in_counts: np.ndarray,
    out_counts: np.ndarray,
    *,
    recall: float = 0.95,
) -> dict[str, np.ndarray]:
    """Return `METRICS`, float64[R] in every replicate; NaN in one that drew no image of a side."""
    scores = np.concatenate([in_scores, out_scores])
    order = np.argsort(-scores, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))
    rows = max(1, CHUNK // max(1, len(scores)))
    parts = []
    for start in range(0, len(in_counts), rows):
        first, second = (counts[start : start + rows] for counts in (in_counts, out_counts))
        sides = (first, np.zeros_like(second)), (np.zeros_like(first), second)
        # how many of each side score at or above each distinct score: float64[R, K]
        kept = [np.cumsum(np.concatenate(side, axis=1)[:, order], axis=1, dtype=np.float64)[:, ends] for side in sides]
        parts.append(list(_values(*kept, recall)))
    return {name: np.concatenate(values) for name, values in zip(METRICS, zip(*parts, strict=True), strict=True)}


def _values(into: np.ndarray, out: np.ndarray, recall: float) -> Iterator[np.ndarray]:
    # At or below each distinct score, from the lowest up, as `detection.outwards` counts.
    below = [side[:, -1:] - np.concatenate([side[:, -2::-1], np.zeros((len(side), 1))], axis=1) for side in (out, into)]
    with np.errstate(invalid="ignore", divide="ignore"):
        yield _false_positives(into, out, recall)
        yield _false_positives(*below, recall)
        yield _trapezoid(into, out)
        yield _trapezoid(*below)


def _false_positives(true: np.ndarray, false: np.ndarray, recall: float) -> np.ndarray:
    reached = np.argmax(true / true[:, -1:] >= recall, axis=1)
    return false[np.arange(len(false)), reached] / np.where(true[:, -1] > 0, false[:, -1], 0)


def _trapezoid(true: np.ndarray, false: np.ndarray) -> np.ndarray:
    start = np.ones((len(true), 1))
    # Before the first image that was drawn there is no precision, and no recall is gained there either.
    precision = np.concatenate([start, np.where(true + false > 0, true / (true + false), 1.0)], axis=1)
    reached = np.concatenate([0 * start, true / true[:, -1:]], axis=1)
    area = (np.diff(reached, axis=1) * (precision[:, 1:] + precision[:, :-1])).sum(axis=1) / 2
    return np.where((true[:, -1] > 0) & (false[:, -1] > 0), area, np.nan)
