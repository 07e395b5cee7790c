"""MaxLogit: the largest logit (Hendrycks et al., 2022, "Scaling Out-of-Distribution Detection for Real-World
Settings")."""

from dataclasses import dataclass

from torch import Tensor

from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable


@dataclass(frozen=True)
class MaxLogit(Fittable):
    """max_c z_c.

    >>> import torch
    >>> MaxLogit().fit().score(Activations(outputs=torch.tensor([[1.0, 3.0]]))).tolist()
    [3.0]
    """

    card = DetectorCard("MaxLogit", "Hendrycks et al., 2022", "largest logit", ("logits",))

    def read(self, state: None, activations: Activations) -> Tensor:
        return activations.logits.amax(dim=1)
