"""Nuclear norm of the prediction matrix: large where predictions are confident and spread over all classes.

Deng et al. (2023), "Confidence and Dispersity Speak: Characterizing Prediction Matrix for Unsupervised Accuracy
Estimation". Weak where the target's classes are unbalanced, since it expects all of them.
"""

from dataclasses import dataclass

import numpy as np

from openworld.core.types import checked
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.temperature import probabilities
from openworld.estimators.score_regression import Score


@dataclass(frozen=True)
class NuclearNorm(Score):
    """||P||_* / sqrt(min(n, C) n), with P = softmax(z); in (0, 1]. A score: `ScoreRegression` makes an error of it.

    >>> round(NuclearNorm().score(Outputs([[99.0, 0.0], [0.0, 99.0]])), 6)  # certain, and both classes alike
    1.0
    """

    name, paper, summary = "nuclear-norm", "Deng et al., 2023", "confidence and spread of the predictions (score)"
    needs = ()

    @checked
    def score(self, outputs: Outputs) -> float:
        """Score of a whole set; larger where predictions are more likely right."""
        norm = np.linalg.norm(probabilities(outputs.logits, 1.0), "nuc")
        return float(norm / np.sqrt(min(outputs.n, outputs.classes) * outputs.n))
