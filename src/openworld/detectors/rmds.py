"""RMDS: the Mahalanobis distance to the nearest class, less that to all training images (Ren et al., 2021, "A Simple
Fix to Mahalanobis Distance for Improving Near-OOD Detection")."""

from dataclasses import dataclass

from torch import Tensor

from openworld.core.types import Share, checked
from openworld.detectors.engine.statistics import ClassSums, ClassTotals, Moments, Products
from openworld.detectors.mds import Gaussian, concerns, gaussian, within_classes
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable, Head


@checked
@dataclass(frozen=True)
class RMDS(Fittable):
    """-min_k d_k(h) + d_0(h); d_k as in MDS, d_0 with the mean and covariance of all training images together.

    Args:
        shrinkage: share of both covariances that is replaced by their mean variance in all directions, in [0, 1].

    >>> import torch
    >>> rows = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])  # both means are 0
    >>> RMDS().fit(rows, torch.tensor([0, 0, 1, 1])).score(torch.tensor([[3.0, 0.0]])).tolist()
    [0.0]
    """

    shrinkage: Share = 0.0

    card = DetectorCard("RMDS", "Ren et al., 2021", "MDS less distance to all images", ("features", "labels"))
    gathers = (ClassSums(), Products())

    def learn(self, head: Head | None, classes: ClassTotals, moments: Moments) -> tuple[Gaussian, Gaussian]:
        """Class means and two covariances, from features float[N, D] and labels int[N]."""
        whole = gaussian(moments.mean[None], moments.about(moments.mean), self.shrinkage, moments.dtype)
        return gaussian(*within_classes(classes, moments), self.shrinkage, moments.dtype), whole

    def concerns(self, classes: ClassTotals, moments: Moments) -> tuple[str, ...]:
        """Classes without images, and too few images."""
        return concerns(self.name, classes, moments)

    def read(self, state: tuple[Gaussian, Gaussian], activations: Activations) -> Tensor:
        (classes, whole), features = state, activations.tensor("features")
        return whole.nearest(features) - classes.nearest(features)
