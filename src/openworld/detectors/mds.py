"""MDS: the Mahalanobis distance to the nearest class (Lee et al., 2018, "A Simple Unified Framework for Detecting
Out-of-Distribution Samples and Adversarial Attacks"), of the features before the head alone.

Without the paper's ensemble over layers and its moved inputs, as OpenOOD@3c35632 computes what it calls MDS.
"""

from dataclasses import dataclass

from torch import Tensor

from openworld.core.types import Share, checked
from openworld.detectors.engine.gaussian import Gaussian, concerns, gaussian, within_classes
from openworld.detectors.engine.statistics import ClassSums, ClassTotals, Moments, Products
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable, Head


@checked
@dataclass(frozen=True)
class MDS(Fittable):
    """-min_k (h - mu_k)^T S^+ (h - mu_k), at most 0; S is the covariance within classes, over all N images.

    Args:
        shrinkage: share of S that is replaced by its mean variance in all directions, in [0, 1]; for few images.

    >>> import torch
    >>> rows = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [5.0, 1.0], [5.0, -1.0]])  # S = half the identity
    >>> round(MDS().fit(rows, torch.tensor([0, 0, 1, 1])).score(torch.tensor([[1.0, 0.0]])).item(), 4)
    -2.0
    """

    shrinkage: Share = 0.0

    card = DetectorCard("MDS", "Lee et al., 2018", "Mahalanobis distance to a class", ("features", "labels"))
    gathers = (ClassSums(), Products())

    def learn(self, head: Head | None, classes: ClassTotals, moments: Moments) -> Gaussian:
        """Class means and one covariance, from features float[N, D] and labels int[N]."""
        return gaussian(*within_classes(classes, moments), self.shrinkage, moments.dtype)

    def concerns(self, classes: ClassTotals, moments: Moments) -> tuple[str, ...]:
        """Classes without images, and too few images."""
        return concerns(self.name, classes, moments)

    def read(self, state: Gaussian, activations: Activations) -> Tensor:
        return -state.nearest(activations.tensor("features"))
