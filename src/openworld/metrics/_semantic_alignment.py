"""Semantic Alignment Score: how near in meaning the predicted distribution lies to the true class.

"Bridging Domain Expertise and Generalization for Performance Estimation" (FRAP), section 5.3: the expected similarity
of a class drawn from the prediction to the true one. The similarity is the caller's: `datasets.taxonomy` computes it
over WordNet or any taxonomy. With the identity matrix the score is the mean probability of the true class.
"""

import numpy as np

from openworld.core.arrays import ArrayLike, as_distributions, as_fractions, as_labels
from openworld.core.errors import OpenworldError
from openworld.core.types import checked
from openworld.metrics.estimate import MetricEstimate


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
