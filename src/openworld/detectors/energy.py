"""Energy: the log of the sum of exponentiated logits (Liu et al., 2020, "Energy-based Out-of-distribution
Detection")."""

from dataclasses import dataclass

from torch import Tensor

from openworld.core.types import AboveZero, checked
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable


@checked
@dataclass(frozen=True)
class Energy(Fittable):
    """T log sum_c exp(z_c / T), the negative free energy.

    Args:
        temperature: T > 0.

    >>> import torch
    >>> round(Energy().fit().score(Activations(outputs=torch.zeros(1, 2))).item(), 4)  # ln 2
    0.6931
    """

    temperature: AboveZero = 1.0

    card = DetectorCard("Energy", "Liu et al., 2020", "log of summed exponentiated logits", ("logits",))

    def read(self, state: None, activations: Activations) -> Tensor:
        if self.temperature == 1:
            return activations.energy
        return self.temperature * (activations.logits / self.temperature).logsumexp(dim=1)
