"""MSP: the largest softmax probability (Hendrycks and Gimpel, 2017, "A Baseline for Detecting Misclassified and
Out-of-Distribution Examples in Neural Networks")."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from openworld._types import checked
from openworld.detectors.engine.activations import Activations
from openworld.detectors.engine.fit_statistics import Fittable
from openworld.detectors.engine.settings import require_positive


@checked
@dataclass(frozen=True)
class MSP(Fittable):
    """max_c softmax(z / T)_c, in (0, 1].

    Args:
        temperature: T > 0.

    >>> import torch
    >>> MSP().fit().score(Activations(outputs=torch.tensor([[0.0, 0.0]]))).tolist()
    [0.5]
    """

    temperature: float = 1.0

    name: ClassVar[str] = "MSP"
    paper: ClassVar[str] = "Hendrycks & Gimpel, 2017"
    summary: ClassVar[str] = "largest softmax probability"
    needs: ClassVar[tuple[str, ...]] = ("logits",)

    def __post_init__(self):
        require_positive(temperature=self.temperature)

    def read(self, state: None, activations: Activations) -> Tensor:
        """Scores float[N]."""
        if self.temperature == 1:
            return activations.probabilities.amax(dim=1)
        return (activations.logits / self.temperature).softmax(dim=1).amax(dim=1)
