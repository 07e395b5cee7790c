"""fDBD: how far the features are from the borders of the predicted class (Liu and Qin, 2024, "Fast Decision Boundary
based Out-of-Distribution Detector").

Summed over the other classes as in OpenOOD@3c35632; the paper divides by their number, which changes no order.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from openworld.core.types import checked
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable, Head, Mean, Moments


@checked
@dataclass(frozen=True)
class FDBD(Fittable):
    """sum over j != c of (z_c - z_j) / |w_c - w_j|, over |h - mean h|; c the predicted class.

    Args:
        centred: divide by the distance to the mean of the training features; False: by |h|, which OpenOOD chooses on
            some data.

    >>> head = Head(torch.tensor([[1.0, 0.0], [0.0, 0.0]]))
    >>> FDBD().fit(torch.zeros(1, 2), head=head).score(torch.tensor([[3.0, 4.0]])).tolist()  # 3 / 1, over 5
    [0.6000000238418579]
    """

    centred: bool = True

    card = DetectorCard("fDBD", "Liu & Qin, 2024", "distance to decision boundaries", ("features", "head"))
    sweep = {"centred": (True, False)}
    gathers = (Mean(),)

    def learn(self, head: Head, moments: Moments) -> tuple[Tensor, Tensor]:
        """The mean float64[D] of features, and 1 / |w_c - w_j| float[C, C] of the head, 0 where there is no border."""
        weight = head.weight.double()
        # Part by part: all differences of 1,000 classes at once would be 8 GB.
        exact = {"compute_mode": "donot_use_mm_for_euclid_dist"}
        distances = torch.cat([torch.cdist(part, weight, **exact).to(head.weight) for part in weight.split(64)])
        return moments.mean, torch.where(distances > 0, 1 / distances, 0.0)

    def read(self, state: tuple[Tensor, Tensor], activations: Activations) -> Tensor:
        mean, per_distance = state
        margins = activations.logits.amax(dim=1, keepdim=True) - activations.logits
        borders = (margins * per_distance.to(margins)[activations.predictions]).sum(dim=1)
        features = activations.tensor("features")
        return borders / (features - mean.to(features) if self.centred else features).norm(dim=1)
