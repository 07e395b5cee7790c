"""CoP: what principal components of unit features leave over (Fang et al., 2024, "Kernel PCA for Out-of-Distribution
Detection", cosine kernel)."""

from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import normalize

from openworld._errors import OpenworldError
from openworld._types import checked
from openworld.detectors.engine.principal_components import Components, components
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable, Head, Moments, Products


@dataclass(frozen=True)
class Unit:
    """Features of length 1."""

    def __call__(self, features: Tensor) -> Tensor:
        return normalize(features, dim=1)


@checked
@dataclass(frozen=True)
class CoP(Fittable):
    """-|phi - mean - its projection on the leading components|, at most 0, with phi = h / |h|.

    Args:
        explained: share of the variance that the components kept explain, in (0, 1). The paper has 0.99 for ResNet-50
            on ImageNet.

    >>> import torch
    >>> rows = torch.tensor([[1.0, 0.0], [0.0, 1.0]])  # vary along (1, -1) alone
    >>> round(CoP(0.9).fit(rows).score(torch.tensor([[-1.0, 0.0]])).item(), 4)  # (-1, 0) - (1/2, 1/2), along (1, 1)
    -1.4142
    """

    explained: float = 0.99

    card = DetectorCard("CoP", "Fang et al., 2024", "PCA residual of unit features", ("features",))
    gathers = (Products(Unit()),)

    def __post_init__(self):
        if not 0 < self.explained < 1:
            raise OpenworldError(f"explained is {self.explained}, expected a share in (0, 1).")

    def learn(self, head: Head | None, moments: Moments) -> Components:
        """Principal components of unit features, of float[N, D], in float64."""
        return components(Unit(), moments, self.explained)

    def read(self, state: Components, activations: Activations) -> Tensor:
        return -state.left_over(activations.features)
