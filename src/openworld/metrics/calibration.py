"""What probabilities are worth: how far confidence stands from accuracy, how well it tells mistakes from right answers,
and how near in meaning the predicted distribution lies to the true class.

Expected calibration error: Naeini et al. (2015), Guo et al. (2017) "On Calibration of Modern Neural Networks", equation
3. Bins are closed on the right, (l, u], as in Guo's released code; a confidence of exactly 0 belongs to the first bin.

A classifier that may abstain answers the images with the largest scores. Their share is its coverage; its risk is the
share of these answers that are wrong (Geifman and El-Yaniv, 2017, "Selective Classification for Deep Neural Networks").
AURC is the mean of the risk over the coverages 1/n, 2/n, ..., 1 (Geifman, Uziel and El-Yaniv, 2019, section 3).

Semantic Alignment Score (FRAP, section 5.3): the expected similarity of a class drawn from the prediction to the true
one. The similarity is the caller's: `datasets.taxonomy` computes it over WordNet or any taxonomy. With the identity
matrix the score is the mean probability of the true class.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from openworld.core.arrays import (
    MANY,
    ArrayLike,
    as_correct,
    as_distributions,
    as_fractions,
    as_labels,
    as_scores,
)
from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.core.types import Range, checked
from openworld.metrics.estimate import MetricEstimate

ROUNDING = 1e-6  # a float32 softmax may sum to 1.0000001; beyond this a confidence above 1 is an error


@dataclass(frozen=True)
class CalibrationBin:
    """One bar of a reliability diagram: lower < confidence <= upper; both means are None in an empty bin."""

    lower: float
    upper: float
    count: int
    confidence: float | None
    accuracy: float | None


@dataclass(frozen=True)
class CalibrationError:
    """Expected calibration error (`value`), largest gap of a bin, and the bins of a reliability diagram."""

    value: float | None
    largest_gap: float | None
    bins: tuple[CalibrationBin, ...]
    n: int
    reason: str | None = None

    __repr__ = short_repr


@checked
def expected_calibration_error(
    confidence: ArrayLike, correct: ArrayLike, *, bins: Annotated[int, Range(1, MANY)] = 15, equal_mass: bool = False
) -> CalibrationError:
    """Mean distance |accuracy - confidence| over bins, weighted by how many samples each holds.

    Args:
        confidence: float[N], probability of the predicted class, in [0, 1].
        correct: bool[N], whether the prediction was right.
        bins: number of bins, at least 1.
        equal_mass: False: edges at 0, 1/bins, ..., 1. True: edges at the quantiles of the confidences, so
            that bins hold equally many samples; equal confidences stay together, which may leave fewer or
            uneven bins.
    Returns:
        CalibrationError; value in [0, 1], None without samples.
    Raises:
        OpenworldError: NaN, a confidence outside [0, 1], lengths that differ, bins < 1.
    Source: Guo et al. (2017), equation 3; equal mass: Nixon et al. (2019).

    >>> round(expected_calibration_error([0.9, 0.9, 0.6], [1, 0, 1], bins=2).value, 3)  # |2/3 - .8|
    0.133
    """
    confidence = as_scores(confidence, "confidence")
    correct = as_correct(correct, "correct", confidence.size)
    if confidence.size == 0:
        return CalibrationError(None, None, (), 0, "no samples")
    outside = confidence[(confidence < 0) | (confidence > 1 + ROUNDING)]
    if outside.size:
        raise OpenworldError(f"confidence holds {outside[0]:g}, outside [0, 1]; pass probabilities, not percent.")
    confidence = np.minimum(confidence, 1.0)
    edges = np.arange(bins + 1) / bins
    if equal_mass:  # edges are themselves confidences: no tie is split, the order of the samples does not matter
        last = -(-np.arange(1, bins) * confidence.size // bins) - 1  # 0-based, the last sample of each bin
        edges = np.unique(np.concatenate([[0.0], np.sort(confidence)[last], [1.0]]))
    table = _tabulate(confidence, correct, edges)
    gaps = [
        (bar.count, abs(bar.accuracy - bar.confidence))
        for bar in table
        if bar.accuracy is not None and bar.confidence is not None
    ]
    value = sum(count * gap for count, gap in gaps) / confidence.size
    return CalibrationError(value, max(gap for _, gap in gaps), table, confidence.size)


def _tabulate(confidence: np.ndarray, correct: np.ndarray, edges: np.ndarray) -> tuple[CalibrationBin, ...]:
    index = np.searchsorted(edges[1:-1], confidence, side="left")  # an edge belongs to the bin below
    size = edges.size - 1
    counts = np.bincount(index, minlength=size)
    sums = np.bincount(index, weights=confidence, minlength=size)
    hits = np.bincount(index, weights=correct, minlength=size)
    return tuple(
        CalibrationBin(lower, upper, count, *((total / count, hit / count) if count else (None, None)))
        for lower, upper, count, total, hit in zip(
            *(array.tolist() for array in (edges[:-1], edges[1:], counts, sums, hits)), strict=True
        )
    )


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


@checked
def semantic_alignment(probabilities: ArrayLike, labels: ArrayLike, similarity: ArrayLike) -> MetricEstimate:
    """Semantic Alignment Score (SAS), the mean over samples of sum_c p_c similarity[c, label].

    Args:
        probabilities: float[N, C], every row sums to 1.
        labels: int[N], true classes.
        similarity: float[C, C] in [0, 1], of the class in the row to the class in the column.
    Returns:
        MetricEstimate; value in [0, 1], None without samples; no standard error.
    Raises:
        OpenworldError: NaN, rows that do not sum to 1, a matrix or labels of other classes, lengths that differ.
    Source: FRAP, section 5.3.

    >>> semantic_alignment([[0.5, 0.5], [0.0, 1.0]], [0, 1], [[1, 0.2], [0.2, 1]]).value  # (.5 + .5 * .2 + 1) / 2
    0.8
    """
    probabilities = as_distributions(probabilities, "probabilities")
    similarity = as_fractions(similarity, "similarity", (2,))
    labels = as_labels(labels, "labels", len(probabilities))
    if not len(probabilities):
        return MetricEstimate(None, "no samples")
    classes = probabilities.shape[1]
    if similarity.shape != (classes, classes):
        raise OpenworldError(f"similarity has shape {similarity.shape}, expected {(classes, classes)}: a row a class.")
    if labels.max() >= classes:
        raise OpenworldError(f"labels holds class {labels.max()}, expected less than {classes}, as in probabilities.")
    predicted = np.zeros((classes, classes))  # of each true class, the sum of its rows: no second matrix of N rows
    np.add.at(predicted, labels, probabilities)
    value = np.einsum("tc,ct->", predicted, similarity) / len(labels)
    return MetricEstimate(float(np.clip(value, 0, 1)))
