"""MDSEnsemble: Mahalanobis distances to the nearest class in several layers, added up (Lee et al., 2018, "A Simple
Unified Framework for Detecting Out-of-Distribution Samples and Adversarial Attacks").

Without the paper's moved inputs, which cost a backward and a forward pass for each layer.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from openworld.core.errors import OpenworldError
from openworld.core.types import Share, checked
from openworld.detectors.engine.statistics import ByLayer, ClassSums, PerLayer, Products
from openworld.detectors.mds import Gaussian, concerns, gaussian, within_classes
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable, Head


@checked
@dataclass(frozen=True)
class MDSEnsemble(Fittable):
    """-sum over layers l of weight_l min_k (f_l - mu_lk)^T S_l^+ (f_l - mu_lk), f_l the layer's maps, averaged.

    Args:
        weights: one number for each layer, or none for 1 each. The paper fits them on held-out images, by logistic
            regression of `distances`.
        layers: names of modules; none for the stages that `watch` finds.
        shrinkage: share of every S_l that is replaced by its mean variance in all directions, in [0, 1].

    >>> from openworld.detectors.engine.activations import Layer
    >>> rows = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [5.0, 1.0], [5.0, -1.0]])  # S = half the identity
    >>> seen = Activations(labels=torch.tensor([0, 0, 1, 1]), layers={"a": Layer(rows), "b": Layer(2 * rows)})
    >>> MDSEnsemble().fit(seen).score(seen.take([0])).round(decimals=4).tolist()  # -2 from either layer
    [-4.0]
    """

    weights: tuple[float, ...] = ()
    layers: tuple[str, ...] = ()
    shrinkage: Share = 0.0

    card = DetectorCard("MDSEnsemble", "Lee et al., 2018", "MDS of several layers, added up", ("layers", "labels"))

    def __post_init__(self):
        if self.layers and self.weights and len(self.layers) != len(self.weights):
            raise OpenworldError(f"there are {len(self.weights)} weights for {len(self.layers)} layers; give one each.")

    @property
    def gathers(self) -> tuple:
        return (PerLayer(ClassSums(), self.layers), PerLayer(Products(), self.layers))

    def learn(self, head: Head | None, classes: ByLayer, moments: ByLayer) -> ByLayer:
        """Class means and one covariance of every layer, from `Activations` with layers and labels."""
        if self.weights and len(self.weights) != len(classes.names):
            raise OpenworldError(
                f"{self.name} has {len(self.weights)} weights, and the layers are {len(classes.names)}: "
                f"{', '.join(classes.names)}; give a weight each."
            )
        pairs = zip(classes.parts, moments.parts, strict=True)
        parts: list[Gaussian] = [
            gaussian(*within_classes(sums, products), self.shrinkage, products.dtype) for sums, products in pairs
        ]
        return ByLayer(classes.names, tuple(parts))

    def concerns(self, classes: ByLayer, moments: ByLayer) -> tuple[str, ...]:
        """Classes without images, and too few images for a layer."""
        pairs = zip(classes.parts, moments.parts, strict=True)
        return tuple(dict.fromkeys(sentence for pair in pairs for sentence in concerns(self.name, *pair)))

    def read(self, state: ByLayer, activations: Activations) -> Tensor:
        distances = self.distances(state, activations)
        return -distances.sum(dim=1) if not self.weights else -distances @ distances.new_tensor(self.weights)

    def distances(self, state: ByLayer, activations: Activations) -> Tensor:
        """Squared distance to the nearest class in every layer, float[N, layers]."""
        pairs = zip(state.parts, activations.layers_of(state.names, self.name).values(), strict=True)
        return torch.stack([gaussian.nearest(layer.pooled) for gaussian, layer in pairs], dim=1)
