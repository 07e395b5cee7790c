"""What principal components leave over: the score of CoP and CoRP."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from openworld.detectors.engine.statistics import Moments


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
