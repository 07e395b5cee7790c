"""Energy: the log of the sum of exponentiated logits (Liu et al., 2020, "Energy-based Out-of-distribution
Detection")."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from openworld._types import checked
from openworld.detectors.engine.activations import Activations
from openworld.detectors.engine.fit_statistics import Fittable
from openworld.detectors.engine.settings import require_positive


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

    temperature: float = 1.0

    name: ClassVar[str] = "Energy"
    paper: ClassVar[str] = "Liu et al., 2020"
    summary: ClassVar[str] = "log of summed exponentiated logits"
    needs: ClassVar[tuple[str, ...]] = ("logits",)

    def __post_init__(self):
        require_positive(temperature=self.temperature)

    def read(self, state: None, activations: Activations) -> Tensor:
        """Scores float[N]."""
        if self.temperature == 1:
            return activations.energy
        return self.temperature * (activations.logits / self.temperature).logsumexp(dim=1)
