"""How likely the name of an image is right within its half, learned from labelled base images: two ways.

"calibrated": the largest softmax(logits / T), T fitted on base validation images (Guo et al., 2017). "thresholded": 1
where that is at least the threshold below which as many validation images lie as are named wrong (ATC, Garg et al.,
2022), else 0. What is learned of base names is taken to hold of new names, which a learner that was tuned on base
images need not keep: the estimators say so.
"""

from dataclasses import dataclass

import numpy as np

from openworld._errors import unknown_name
from openworld.estimators.engine.temperature import blocks, confidences, probabilities, source_temperature
from openworld.estimators.engine.threshold import threshold
from openworld.estimators.open_world.engine.outputs import OpenWorldOutputs

NAMES = ("calibrated", "thresholded")


def require_names(names: str, known: tuple[str, ...] = NAMES) -> None:
    """Refuse a way to judge names that does not exist."""
    if names not in known:
        raise unknown_name("way to judge names", names, known)


@dataclass(frozen=True)
class NameRule:
    """temperature: T. least: the threshold on confidences; None for confidences as they are. warnings: sentences."""

    temperature: float
    least: float | None
    warnings: tuple[str, ...] = ()

    @classmethod
    def learned(cls, validation: OpenWorldOutputs, names: str) -> "NameRule":
        """Learn it from labelled base images."""
        return cls.of(validation.base_logits, validation.labels, names)

    @classmethod
    def of(cls, logits: np.ndarray, labels: np.ndarray, names: str = "calibrated") -> "NameRule":
        """Learn it from logits float64[n, C] and labels int64[n] of the same names."""
        fitted = source_temperature(logits, labels)
        wrong = int((logits.argmax(axis=1) != labels).sum())
        confident = confidences(logits, fitted.value)
        least = threshold(confident, wrong) if names == "thresholded" else None
        return cls(fitted.value, least, (fitted.warning,) if fitted.warning else ())

    def right(self, logits: np.ndarray) -> np.ndarray:
        """Return how likely the largest logit's name is right, float64[n] in [0, 1]."""
        confident = confidences(logits, self.temperature)
        return confident if self.least is None else (confident >= self.least).astype(np.float64)

    def right_of(self, logits: np.ndarray, names: np.ndarray) -> np.ndarray:
        """Return softmax(logits / T) of given names int64[n], float64[n]."""
        found = np.empty(len(logits))
        for rows in blocks(*logits.shape):
            found[rows] = np.take_along_axis(probabilities(logits[rows], self.temperature), names[rows, None], 1)[:, 0]
        return found

    def base(self, logits: np.ndarray, n_base: int) -> np.ndarray:
        """Return the sum of softmax(logits / T) over base names, float64[n]."""
        found = np.empty(len(logits))
        for rows in blocks(*logits.shape):
            found[rows] = probabilities(logits[rows], self.temperature)[:, :n_base].sum(axis=1)
        return np.minimum(1.0, found)
