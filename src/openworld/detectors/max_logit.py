"""MaxLogit: the largest logit (Hendrycks et al., 2022, "Scaling Out-of-Distribution Detection for Real-World
Settings")."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from openworld.detectors.engine.activations import Activations
from openworld.detectors.engine.fit_statistics import Fittable


@dataclass(frozen=True)
class MaxLogit(Fittable):
    """max_c z_c.

    >>> import torch
    >>> MaxLogit().fit().score(Activations(outputs=torch.tensor([[1.0, 3.0]]))).tolist()
    [3.0]
    """

    name: ClassVar[str] = "MaxLogit"
    paper: ClassVar[str] = "Hendrycks et al., 2022"
    summary: ClassVar[str] = "largest logit"
    needs: ClassVar[tuple[str, ...]] = ("logits",)

    def read(self, state: None, activations: Activations) -> Tensor:
        """Scores float[N]."""
        return activations.logits.amax(dim=1)
