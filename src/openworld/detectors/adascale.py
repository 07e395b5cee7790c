"""AdaSCALE: SCALE with a percentile of its own for every image, lower the less its largest features hold still when
the image is moved (Regmi, 2025, "AdaSCALE: Adaptive Scaling for OOD Detection")."""

from dataclasses import dataclass
from typing import Annotated, Literal

import torch
from torch import Tensor

from openworld.core.errors import OpenworldError
from openworld.core.types import NotNegative, Percent, Range, checked
from openworld.detectors.ash import ratio
from openworld.detectors.engine.perturbation import Perturbation
from openworld.detectors.plugin_api import Activations, Collected, DetectorCard, Fittable, Head

Variant = Literal["a", "l"]

ENDS = (60.0, 65.0, 70.0, 75.0, 80.0, 85.0, 90.0, 95.0, 99.0)
PERCENTAGES = tuple((low, high) for low in ENDS for high in ENDS if low < high)
"""Pairs (low, high) that its authors search."""


@checked
@dataclass(frozen=True)
class AdaSCALE(Fittable):
    """SCALE at percent p = low + (1 - F(q)) (high - low), F how many of the images it was fitted on have a q as small.

    q = sum of the moved image's k1 features where h is largest + weight * sum of |h - moved h| at the k2 largest.

    Args:
        variant: "a" multiplies features by exp(r), "l" logits by r^2, r as in SCALE.
        low, high: percentages, 0 < low <= high < 100. OpenOOD's are 75 and 85; for ResNet-50 it names 80 and 85.
        moved, shifted: k1 and k2 in percent of the features, one at least. weight: lambda.
        step, share: the image is moved by step * sign(gradient of the largest logit), in the units the model takes, at
            the share of values with the smallest gradients (Jingkang50/OpenOOD@d92238f).

    Fit it on some thousand held-out images of its own: it costs three passes for each.

    >>> AdaSCALE(low=80).perturbation.share
    0.05
    """

    variant: Variant = "a"
    low: float = 75.0
    high: float = 85.0
    moved: Percent = 5.0
    shifted: Percent = 1.0
    weight: NotNegative = 10.0
    step: NotNegative = 0.5
    share: Annotated[float, Range(0, 1, "(]")] = 0.05

    card = DetectorCard("AdaSCALE", "Regmi, 2025", "SCALE, percentile by image", ("features", "head", "gradient"))
    sweep = {"low, high": PERCENTAGES}
    expects_positive = True

    def __post_init__(self):
        if not 0 < self.low <= self.high < 100:
            raise OpenworldError(f"low is {self.low} and high {self.high}, expected 0 < low <= high < 100.")

    @property
    def perturbation(self) -> Perturbation:
        return Perturbation("largest logit", step=self.step, share=self.share, in_pixels=False)

    @property
    def gathers(self) -> tuple:
        return (Collected(self.unrest, ("features", "head", "gradient")),)

    def learn(self, head: Head | None, unrest: Tensor) -> Tensor:
        """The distribution of q, float[n] in ascending order, from `Activations` of images and of moved images."""
        return unrest.sort().values

    def read(self, state: Tensor, activations: Activations) -> Tensor:
        unrest = self.unrest(activations)
        below = torch.searchsorted(state.to(unrest), unrest, right=True) / len(state)
        # Features below 0 are left out of both sums, so that no image is scaled down.
        features = activations.tensor("features")
        scale = ratio(features.relu(), self.low + (1 - below) * (self.high - self.low))[:, None]
        if self.variant == "l":
            return (activations.logits_of(features) * scale**2).logsumexp(dim=1)
        return activations.logits_of(features * scale.exp()).logsumexp(dim=1)

    def unrest(self, activations: Activations) -> Tensor:
        """q, float[N]: large where features are large and do not hold still."""
        features, moved = activations.tensor("features"), activations.moved(self.perturbation, self.name)
        width = features.shape[1]
        k1, k2 = (max(1, int(width * percent / 100)) for percent in (self.moved, self.shifted))
        places = features.topk(max(k1, k2), dim=1).indices
        shifts = (features - moved).abs().gather(1, places[:, :k2]).sum(dim=1)
        return moved.relu().gather(1, places[:, :k1]).sum(dim=1) + self.weight * shifts
