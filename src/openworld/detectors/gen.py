"""GEN: a generalised entropy of the largest probabilities (Liu et al., 2023, "GEN: Pushing the Limits of
Softmax-Based Out-of-Distribution Detection")."""

from dataclasses import dataclass

import torch
from torch import Tensor

from openworld.core.types import AboveZero, Positive, checked
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable


@checked
@dataclass(frozen=True)
class GEN(Fittable):
    """-sum over the M largest p of (p (1 - p))^gamma, with p = softmax(z); at most 0.

    Args:
        gamma: exponent > 0; small ones make little of the difference between small and tiny probabilities.
        largest: M, how many probabilities are looked at; all where there are fewer classes.

    >>> GEN(gamma=1.0).fit().score(Activations(outputs=torch.zeros(1, 2))).tolist()  # twice 1/2 * 1/2
    [-0.5]
    """

    gamma: AboveZero = 0.1
    largest: Positive = 100

    card = DetectorCard("GEN", "Liu et al., 2023", "generalised entropy of the softmax", ("logits",))
    sweep = {"gamma": (0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0), "largest": (10, 50, 100, 200, 500, 1000)}

    def read(self, state: None, activations: Activations) -> Tensor:
        p, places = activations.probabilities.topk(min(self.largest, activations.probabilities.shape[1]), dim=1)
        # 1 - p of the largest is what all others add up to: a difference would be 0 wherever p rounds to 1.
        others = activations.probabilities.scatter(1, places[:, :1], 0.0).sum(dim=1, keepdim=True)
        return -(p * torch.cat([others, 1 - p[:, 1:]], dim=1)).pow(self.gamma).sum(dim=1)
