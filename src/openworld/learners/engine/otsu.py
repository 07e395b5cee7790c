"""Where to part scores in two: the threshold of Otsu (1979), as scikit-image computes it for floating-point images."""

import numpy as np

BINS = 256


def otsu(scores: np.ndarray) -> float:
    """The threshold that parts scores float[N] into two groups of largest variance between them (Otsu, 1979).

    A histogram of 256 bins from the smallest to the largest score; the centre of the last bin of the lower group, of
    the first such bin where several are as good. Scores that are all equal are their own threshold.

    >>> otsu(np.array([0, 0, 1])) == 0.5 / 256
    True
    """
    scores = np.asarray(scores, np.float64)
    if scores.min() == scores.max():
        return float(scores[0])
    counts, edges = np.histogram(scores, BINS)
    centres = (edges[:-1] + edges[1:]) / 2
    below, sums = np.cumsum(counts)[:-1], np.cumsum(counts * centres)
    above = len(scores) - below
    between = below * above * (sums[:-1] / below - (sums[-1] - sums[:-1]) / above) ** 2
    return float(centres[np.argmax(between)])
