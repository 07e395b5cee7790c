"""CoP: what principal components of unit features leave over (Fang et al., 2024, "Kernel PCA for Out-of-Distribution
Detection", cosine kernel)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor
from torch.nn.functional import normalize

from openworld.core.types import Range, checked
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable, Head, Moments, Products


@dataclass(frozen=True)
class Unit:
    """Features of length 1."""

    def __call__(self, features: Tensor) -> Tensor:
        return normalize(features, dim=1)


@dataclass(frozen=True, eq=False)
class Components:
    """lift: from features to where the components lie. mean: [M]. basis: [M, q], the components kept."""

    lift: Callable[[Tensor], Tensor]
    mean: Tensor
    basis: Tensor

    def left_over(self, features: Tensor) -> Tensor:
        """Length of what the components do not explain, float[N]."""
        basis = self.basis.to(features)
        rows = self.lift(features) - self.mean.to(features)
        return (rows - (rows @ basis) @ basis.mT).norm(dim=1)


def components(lift: Callable[[Tensor], Tensor], moments: Moments, explained: float) -> Components:
    """The fewest leading components, at least one, that explain a share of the variance of lifted features."""
    values, vectors = torch.linalg.eigh(moments.about(moments.mean))  # ascending
    shares = values.flip(0).clamp(min=0).cumsum(0)
    count = 1 + int((shares < explained * shares[-1]).sum())
    basis = vectors[:, -min(count, len(values)) :]
    return Components(lift, moments.mean.to(moments.dtype), basis.to(moments.dtype))


@checked
@dataclass(frozen=True)
class CoP(Fittable):
    """-|phi - mean - its projection on the leading components|, at most 0, with phi = h / |h|.

    Args:
        explained: share of the variance that the components kept explain, in (0, 1). The paper has 0.99 for ResNet-50
            on ImageNet.

    >>> rows = torch.tensor([[1.0, 0.0], [0.0, 1.0]])  # vary along (1, -1) alone
    >>> round(CoP(0.9).fit(rows).score(torch.tensor([[-1.0, 0.0]])).item(), 4)  # (-1, 0) - (1/2, 1/2), along (1, 1)
    -1.4142
    """

    explained: Annotated[float, Range(0, 1, "()")] = 0.99

    card = DetectorCard("CoP", "Fang et al., 2024", "PCA residual of unit features", ("features",))
    gathers = (Products(Unit()),)

    def learn(self, head: Head | None, moments: Moments) -> Components:
        """Principal components of unit features, of float[N, D], in float64."""
        return components(Unit(), moments, self.explained)

    def read(self, state: Components, activations: Activations) -> Tensor:
        return -state.left_over(activations.tensor("features"))
