"""Area under the risk-coverage curve: how well a score tells a classifier's own mistakes from what it names right.

A classifier that may abstain answers the images with the largest scores. Their share is its coverage; its risk is the
share of these answers that are wrong (Geifman and El-Yaniv, 2017, "Selective Classification for Deep Neural Networks").
AURC is the mean of the risk over the coverages 1/n, 2/n, ..., 1 (Geifman, Uziel and El-Yaniv, 2019, section 3).
"""

import numpy as np

from openworld.core.arrays import ArrayLike, as_correct, as_scores
from openworld.core.types import checked
from openworld.metrics.estimate import MetricEstimate


@checked
def aurc(scores: ArrayLike, correct: ArrayLike) -> MetricEstimate:
    """Area under the risk-coverage curve; smaller is better, and accuracy 1 gives 0.

    Args:
        scores: float[n], larger = answered sooner.
        correct: bool[n], whether the answer is right.
    Returns:
        MetricEstimate, value in [0, 1] or None without a sample; no standard error. Equal scores are taken in an order
        drawn at random: the value is its expectation.
    Raises:
        OpenworldError: NaN or infinite scores (with their indices), lengths that differ.
    Source: Geifman, Uziel and El-Yaniv (2019), "Bias-Reduced Uncertainty Estimation for Deep Neural Classifiers".

    >>> round(aurc([4, 3, 2, 1], [1, 1, 0, 1]).value, 4)  # (0 + 0 + 1/3 + 1/4) / 4
    0.1458
    """
    scores = as_scores(scores, "scores")
    wrong = ~as_correct(correct, "correct", scores.size)
    if not scores.size:
        return MetricEstimate(None, "there is no sample")
    _, tie = np.unique(-scores, return_inverse=True)  # ties, the largest score first
    share = np.bincount(tie, weights=wrong) / np.bincount(tie)
    expected = np.cumsum(share[np.sort(tie)])
    return MetricEstimate(float(np.mean(expected / np.arange(1, scores.size + 1))))
