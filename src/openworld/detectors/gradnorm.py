"""GradNorm: the length of the head's gradient of the divergence from uniform (Huang et al., 2021, "On the Importance
of Gradients for Detecting Distributional Shifts in the Wild"), in closed form.

The gradient of L = -sum_j log p_j with respect to the head's weights is the outer product of C p - 1 and the features,
so that no backward pass is needed. As in OpenOOD@3c35632: targets of 1 (not 1/C), weights of the head only.
"""

from dataclasses import dataclass

from torch import Tensor

from openworld.core.types import checked
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable


@checked
@dataclass(frozen=True)
class GradNorm(Fittable):
    """|h|_1 * sum_j |C p_j - 1|, the sum of absolute gradients of the head's weights.

    Args:
        bias: count the gradient of the head's bias too.

    >>> import torch
    >>> activations = Activations(torch.tensor([[2.0, 1.0]]), outputs=torch.tensor([[99.0, 0.0]]))
    >>> GradNorm().fit().score(activations).tolist()  # 3 * (|2 - 1| + |0 - 1|)
    [6.0]
    """

    bias: bool = False

    card = DetectorCard("GradNorm", "Huang et al., 2021", "gradient of the head, closed form", ("features", "logits"))
    expects_positive = True
    weak_on = {"transformer": "AUROC 39.3 near and 41.8 far, below chance, on ViT-B/16"}

    def read(self, state: None, activations: Activations) -> Tensor:
        classes = activations.logits.shape[1]
        uneven = (classes * activations.probabilities - 1).abs().sum(dim=1)
        return (activations.tensor("features").abs().sum(dim=1) + self.bias) * uneven
