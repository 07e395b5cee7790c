"""CoRP: what principal components of random Fourier features leave over (Fang et al., 2024, "Kernel PCA for
Out-of-Distribution Detection", cosine then Gaussian kernel)."""

import math
from dataclasses import dataclass
from functools import cache
from typing import Annotated

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from openworld.core.types import AboveZero, Range, checked
from openworld.detectors.cop import Components, components
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable, Head, Moments, Products

WIDEST = 1_000_000  # Fourier features: more would fill any memory with their products


@dataclass(frozen=True)
class Fourier:
    """sqrt(2 / M) cos(W u + phase) of unit features u, W ~ Normal(0, 2 gamma), phases uniform on a circle."""

    dimensions: int
    gamma: float
    seed: int

    def __call__(self, features: Tensor) -> Tensor:
        weights, phases = (part.to(features) for part in _drawn(self, features.shape[1]))
        return fourier_features(normalize(features, dim=1), weights, phases)


@checked
@dataclass(frozen=True)
class CoRP(Fittable):
    """-|phi - mean - its projection on the leading components|, phi random Fourier features of h / |h|.

    Args:
        explained: share of the variance that the components kept explain, in (0, 1).
        gamma: of the Gaussian kernel exp(-gamma |u - v|^2). dimensions: M, how many Fourier features: their products
            take 8 M^2 bytes, 134 MB for 4,096. seed: of the draws. The defaults are the paper's for ResNet-50 on
            ImageNet.

    >>> rows = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> near, far = CoRP(dimensions=64).fit(rows).score(torch.tensor([[1.0, 0.9], [-1.0, 0.0]])).tolist()
    >>> near > far
    True
    """

    explained: Annotated[float, Range(0, 1, "()")] = 0.5
    gamma: AboveZero = 3.0
    dimensions: Annotated[int, Range(1, WIDEST)] = 4096
    seed: int = 0

    card = DetectorCard("CoRP", "Fang et al., 2024", "PCA residual of Fourier features", ("features",))

    @property
    def lift(self) -> Fourier:
        """From features to Fourier features."""
        return Fourier(self.dimensions, self.gamma, self.seed)

    @property
    def gathers(self) -> tuple:
        return (Products(self.lift),)

    def learn(self, head: Head | None, moments: Moments) -> Components:
        """Principal components of Fourier features, of float[N, D], in float64."""
        return components(self.lift, moments, self.explained)

    def read(self, state: Components, activations: Activations) -> Tensor:
        return -state.left_over(activations.tensor("features"))


def fourier_features(unit: Tensor, weights: Tensor, phases: Tensor) -> Tensor:
    """float[N, M] of unit features float[N, D], weights float[M, D] and phases float[M]."""
    return math.sqrt(2 / len(phases)) * torch.cos(unit @ weights.mT + phases)


@cache
def _drawn(lift: Fourier, width: int) -> tuple[Tensor, Tensor]:
    generator = np.random.default_rng(lift.seed)
    weights = math.sqrt(2 * lift.gamma) * generator.normal(size=(lift.dimensions, width))
    return torch.from_numpy(weights), torch.from_numpy(2 * math.pi * generator.random(lift.dimensions))
