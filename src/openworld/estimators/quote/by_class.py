"""Class by class: how often each class is predicted, how often that is right, and what else those images may be.

An estimate of the whole set is taken apart. Each image's chance of being right is read off its sample score: 1 or 0 on
either side of a threshold, else the score itself; scaled so that their mean is the estimated accuracy. What remains of
an image predicted as class j is spread over the other classes in proportion to the judged model's probabilities. So the
expected confusion adds up to the estimate, and is as good as that is; no published method vouches for single classes.
"""

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.estimators.engine.fitted import Estimate
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.temperature import blocks, probabilities


def expected_confusion(estimate: Estimate, target: Outputs) -> np.ndarray:
    """Return images expected by predicted and true class, float64[C, C]; `target` is what the estimate was made of."""
    right = chances(estimate, target.n)
    confusion = np.zeros((target.classes, target.classes))
    for rows in blocks(*target.logits.shape):
        p = probabilities(target.logits[rows], estimate.details.get("temperature") or 1.0)
        predicted_cells = np.arange(len(p)), target.predictions[rows]
        p[predicted_cells] = 0
        rest = p.sum(axis=1, keepdims=True)
        spread = np.divide(p, rest, out=np.full_like(p, 1 / (target.classes - 1)), where=rest > 0)
        spread *= 1 - right[rows, None]
        spread[predicted_cells] = right[rows]
        np.add.at(confusion, predicted_cells[1], spread)
    return confusion


def chances(estimate: Estimate, n: int) -> np.ndarray:
    """Return how likely each image is named right, float64[n] in [0, 1], by the sample scores of an estimate."""
    scores = estimate.sample_scores
    if scores is None or estimate.accuracy is None:
        raise OpenworldError(
            "this estimate says nothing of single images; take one with sample scores, such as ATC-MC."
        )
    if len(scores) != n:
        raise OpenworldError(f"the estimate is of {len(scores)} images, but {n} were given; give the images it is of.")
    if "threshold" in estimate.details:
        cut = estimate.details["threshold"]
        scores = np.full(n, estimate.accuracy) if cut is None else (scores >= cut).astype(np.float64)
    if scores.min() < 0 or scores.max() > 1:
        raise OpenworldError("sample scores without a threshold must be chances in [0, 1] to be taken apart by class.")
    mean = scores.mean()
    if estimate.accuracy == mean:
        return scores
    if estimate.accuracy < mean:  # down by a common factor, or doubts down by one, so that all stay in [0, 1]
        return scores * (estimate.accuracy / mean)
    return 1 - (1 - scores) * (estimate.error / (1 - mean))


def expected_right(estimate: Estimate) -> np.ndarray | None:
    """Return what an estimate expects of every image, float64[n], whose mean it is; None where it does not."""
    scores, cut = estimate.sample_scores, estimate.details.get("threshold")
    if scores is None or estimate.accuracy is None:
        return None
    # ATC expects whether the score reaches the threshold, AC the confidence.
    for expected in (scores, None if cut is None else (scores >= cut).astype(np.float64)):
        if expected is not None and abs(float(expected.mean()) - estimate.accuracy) < 1e-9:
            return expected if ((expected >= 0) & (expected <= 1)).all() else None
    return None
