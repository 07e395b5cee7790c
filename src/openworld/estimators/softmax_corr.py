"""SoftmaxCorr: how near the classes' correlation in the predictions is to that of right and certain predictions.

Tu et al. (2024), "What Does Softmax Probability Tell Us about Classifiers Ranking Across Diverse Test Conditions?".
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from openworld.core.types import checked
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.temperature import probabilities
from openworld.estimators.score_regression import Score


@checked
@dataclass(frozen=True)
class SoftmaxCorr(Score):
    """Cosine between P^T P / n, with P = softmax(z), and a diagonal matrix of class frequencies; in [0, 1].

    A score: `ScoreRegression` makes an error of it.

    Args:
        frequencies: "uniform"; "reference": how often the reference model names each class, which needs `reference`.

    >>> round(SoftmaxCorr().score(Outputs([[99.0, 0.0], [0.0, 99.0]])), 6)  # certain, and both classes alike
    1.0
    """

    frequencies: Literal["uniform", "reference"] = "uniform"

    name, paper, summary = "SoftmaxCorr", "Tu et al., 2024", "correlation of classes in the predictions (score)"
    needs = ()

    @checked
    def score(self, outputs: Outputs) -> float:
        """Score of a whole set; larger where predictions are more likely right."""
        predicted = probabilities(outputs.logits, 1.0)
        correlation = predicted.T @ predicted
        expected = np.ones(outputs.classes)
        if self.frequencies == "reference":
            reference = outputs.array("reference", "SoftmaxCorr with frequencies='reference'")
            expected = np.bincount(reference.argmax(axis=1), minlength=outputs.classes).astype(np.float64)
        return float(np.diag(correlation) @ expected / (np.linalg.norm(correlation) * np.linalg.norm(expected)))
