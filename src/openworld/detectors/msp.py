"""MSP: the largest softmax probability (Hendrycks and Gimpel, 2017, "A Baseline for Detecting Misclassified and
Out-of-Distribution Examples in Neural Networks")."""

from dataclasses import dataclass

from torch import Tensor

from openworld.core.types import AboveZero, checked
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable


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

    temperature: AboveZero = 1.0

    card = DetectorCard("MSP", "Hendrycks & Gimpel, 2017", "largest softmax probability", ("logits",))

    def read(self, state: None, activations: Activations) -> Tensor:
        if self.temperature == 1:  # the softmax that other detectors read too
            return activations.probabilities.amax(dim=1)
        return (activations.logits / self.temperature).softmax(dim=1).amax(dim=1)
