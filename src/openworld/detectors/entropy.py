"""Entropy: how evenly the softmax is spread over the classes; as a detector in Chan et al. (2021, "Entropy Maximization
and Meta Classification for Out-of-Distribution Detection in Semantic Segmentation")."""

from dataclasses import dataclass

from torch import Tensor

from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable


@dataclass(frozen=True)
class Entropy(Fittable):
    """sum over classes of p ln p, p = softmax(z): the negative entropy, in [-ln C, 0].

    >>> import torch
    >>> round(Entropy().fit().score(Activations(outputs=torch.zeros(1, 2))).item(), 4)  # -ln 2
    -0.6931
    """

    card = DetectorCard("Entropy", "Chan et al., 2021", "negative entropy of the softmax", ("logits",))

    def read(self, state: None, activations: Activations) -> Tensor:
        return (activations.probabilities * activations.logits.log_softmax(dim=1)).sum(dim=1)
