"""NCI: how close the centred features are to the predicted class's weights, and how long they are (Liu and Qin, 2025,
"Detecting Out-of-Distribution Through the Lens of Neural Collapse")."""

from dataclasses import dataclass

from torch import Tensor

from openworld.core.errors import present
from openworld.core.types import NotNegative, checked
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable, Head, Mean, Moments


@checked
@dataclass(frozen=True)
class NCI(Fittable):
    """<w_c, h - mean> / |h - mean| + alpha |h|_1; c the predicted class, mean that of the training features.

    Args:
        alpha: weight of the length, not negative.

    >>> import torch
    >>> fitted = NCI(alpha=0.5).fit(torch.zeros(1, 2), head=Head(torch.eye(2)))
    >>> round(fitted.score(torch.tensor([[3.0, 4.0]])).item(), 4)  # 4 / 5 + 7 / 2
    4.3
    """

    alpha: NotNegative = 1e-4

    card = DetectorCard("NCI", "Liu & Qin, 2025", "closeness to the class's weights", ("features", "head"))
    sweep = {"alpha": (1e-4, 1e-3, 1e-2, 1e-1)}
    gathers = (Mean(),)

    def learn(self, head: Head | None, moments: Moments) -> Tensor:
        """The mean float64[D] of features float[N, D]."""
        return moments.mean

    def read(self, state: Tensor, activations: Activations) -> Tensor:
        features, head = activations.tensor("features"), present(activations.head, "the head")
        centred = features - state.to(features)
        weights = head.to(centred).weight[activations.predictions]
        return (weights * centred).sum(dim=1) / centred.norm(dim=1) + self.alpha * features.abs().sum(dim=1)
