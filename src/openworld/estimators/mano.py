"""MaNo: the norm of normalised logits (Xie et al., 2024, "MaNo: Exploiting Matrix Norm for Unsupervised Accuracy
Estimation Under Distribution Shifts").

Computed over the whole set. The public code (Renchunzi-Xie/MaNo @ 266b141) averages over batches, leaves batch norm in
training mode, and chooses the normalisation by the last of the first five batches.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from openworld.core.arrays import LARGEST
from openworld.core.types import Range, checked
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.temperature import probabilities
from openworld.estimators.score_regression import Score

TRUSTED = 5.0  # mean cross-entropy against the uniform distribution, above which softmax is kept


@checked
@dataclass(frozen=True)
class MaNo(Score):
    """(mean_ic Q_ic^p)^(1/p), in (0, 1]. A score: `ScoreRegression` makes an error of it.

    Args:
        power: p.
        normalisation: "softmax"; "taylor": 1 + z + z^2 / 2 less its row's least value, over its row's sum; "auto":
            softmax where predictions are far from uniform, mean_ic -ln p_ic > 5, taylor elsewhere. Of two classes
            taylor says nothing: the smaller logit is always taken off.

    >>> round(MaNo(normalisation="softmax").score(Outputs([[99.0, 0.0]])), 4)  # (1/2)^(1/4)
    0.8409
    """

    power: Annotated[float, Range(1, LARGEST)] = 4.0
    normalisation: Literal["auto", "softmax", "taylor"] = "auto"

    name, paper, summary = "MaNo", "Xie et al., 2024", "norm of the normalised logits (score)"
    needs = ()

    @checked
    def score(self, outputs: Outputs) -> float:
        """Score of a whole set; larger where predictions are more likely right."""
        logits = outputs.logits
        if self.normalisation == "softmax" or (self.normalisation == "auto" and from_uniform(logits) > TRUSTED):
            normalised = probabilities(logits, 1.0)
        else:
            raised = 1 + logits + logits**2 / 2
            raised -= raised.min(axis=1, keepdims=True)
            sums = raised.sum(axis=1, keepdims=True)
            # equal logits prefer no class: their row is uniform, not 0 / 0
            normalised = np.where(sums > 0, raised / np.where(sums > 0, sums, 1), 1 / outputs.classes)
        return float(np.mean(normalised**self.power) ** (1 / self.power))


def from_uniform(logits: np.ndarray) -> float:
    """Return the mean cross-entropy of softmax(logits) against the uniform distribution, mean_ic -ln p_ic."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    return float(np.mean(np.log(np.exp(shifted).sum(axis=1)) - shifted.mean(axis=1)))
