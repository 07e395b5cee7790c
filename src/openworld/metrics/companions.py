"""Numbers that stand beside OpenworldAUC in its tables: OverallAcc and OpenAUC."""

import numpy as np

from openworld._arrays import ArrayLike, as_labels, as_scores, as_table, require_length
from openworld._errors import OpenworldError
from openworld._types import checked
from openworld.metrics._design import design
from openworld.metrics.estimate import MetricEstimate, proportion
from openworld.metrics.openworld_auc import OpenworldAUC, openworld_auc


@checked
def open_auc(base_scores: ArrayLike, base_correct: ArrayLike, new_scores: ArrayLike, **options) -> OpenworldAUC:
    """OpenAUC: like OpenworldAUC, but a new sample need only be detected, not named.

    Args:
        base_scores, base_correct, new_scores: as for `openworld_auc`.
        options: weights and groups, as for `openworld_auc`.
    Returns:
        OpenworldAUC in which every new sample counts as named right.
    Raises:
        OpenworldError: as `openworld_auc`.
    Source: Wang et al. (2022), "OpenAUC: Towards AUC-Oriented Open-Set Recognition".

    >>> open_auc([3, 1], [1, 1], [2]).value
    0.5
    """
    new_scores = as_scores(new_scores, "new_scores")
    return openworld_auc(base_scores, base_correct, new_scores, np.ones(new_scores.size, bool), **options)


@checked
def overall_accuracy(
    base_logits: ArrayLike, new_logits: ArrayLike, labels: ArrayLike, *, groups: ArrayLike | None = None
) -> MetricEstimate:
    """OverallAcc: accuracy over all names at once, by the largest of the base and the new logits side by side.

    Args:
        base_logits: float[N, C_base], over base names, for every test image, base and new.
        new_logits: float[N, C_new], over new names, on the same scale (Hua et al. do not say how two classifiers are
            joined; raw logits, scale included, are compared here).
        labels: int[N], base classes from 0, new classes from C_base on. groups: as for `openworld_auc`.
    Returns:
        MetricEstimate, value in [0, 1]; of equal logits the first wins. It depends on the share of new images.
    Raises:
        OpenworldError: NaN, shapes that differ, labels outside [0, C_base + C_new).
    Source: Hua et al. (2025), section 3.2.

    >>> overall_accuracy([[2.0, 0.0], [0.0, 1.0]], [[1.0], [3.0]], [0, 1]).value  # right, then 3 > 1
    0.5
    """
    logits = [as_table(base_logits, "base_logits", (2,)), as_table(new_logits, "new_logits", (2,))]
    labels = as_labels(labels, "labels", len(logits[0]))
    require_length(logits[1], "new_logits", labels.size)
    joined = np.concatenate(logits, axis=1)
    if labels.size and labels.max() >= joined.shape[1]:
        raise OpenworldError(f"labels holds class {labels.max()}, but there are {joined.shape[1]} names in all.")
    correct = joined.argmax(axis=1) == labels if labels.size else np.zeros(0, bool)
    sides = (groups, None if groups is None else np.zeros(0, int))
    return proportion(design((labels.size, 0), groups=sides, names=("test", "")), correct)
