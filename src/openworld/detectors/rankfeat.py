"""RankFeat: energy of maps without their largest singular component (Song et al., 2022, "RankFeat: Rank-1 Feature
Removal for Out-of-distribution Detection"), from the last two blocks together as in OpenOOD@3c35632."""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from openworld.core.errors import present
from openworld.core.types import AboveZero, checked
from openworld.detectors.engine.activations import Maps
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable

Blocks = Literal["both", "last", "before"]


STEPS = 20  # as in the public code's accelerated form
SETTLED = 1e-6  # change of a unit vector in a step, near float32 rounding


@checked
@dataclass(frozen=True)
class RankFeat(Fittable):
    """T log sum exp(z / T), z the mean of the logits of the last stage's maps X - s u v^T and of those before it.

    Args:
        blocks: "both"; "last": maps that leave the last stage alone; "before": those that enter it, through the stage.
        temperature: T > 0.

    >>> from openworld.detectors.engine.head import Head
    >>> late = torch.tensor([[[[3.0, 0.0]], [[0.0, 2.0]]]])  # without its largest component (0, 2), pooled to 1
    >>> activations = Activations(late.mean((2, 3)), Head(torch.eye(2)), maps=Maps(late, late, lambda maps: maps))
    >>> round(RankFeat("last").fit().score(activations).item(), 4)  # log(1 + e)
    1.3133
    """

    blocks: Blocks = "both"
    temperature: AboveZero = 1.0

    card = DetectorCard("RankFeat", "Song et al., 2022", "energy of maps less a rank", ("head", "maps"))

    def read(self, state: None, activations: Activations) -> Tensor:
        pooled = self._pool(present(activations.maps, "maps"))
        logits = torch.stack([activations.logits_of(features) for features in pooled]).mean(dim=0)
        return self.temperature * (logits / self.temperature).logsumexp(dim=1)

    def _pool(self, maps: Maps) -> list[Tensor]:
        pooled = []
        if self.blocks != "before":
            pooled.append(without_largest(maps.late.float()).mean(dim=(2, 3)))
        if self.blocks != "last":
            reduced = without_largest(maps.early.float()).to(maps.early.dtype)
            pooled.append(maps.last_stage(reduced).float().mean(dim=(2, 3)))
        return pooled


def without_largest(maps: Tensor) -> Tensor:
    """maps - s u v^T of each, float[N, c, h, w], with s u v^T its largest singular component as [c, h w]."""
    # Power iteration: X (channels x positions) has few positions where the last stage ends, 49 against 2,048 channels.
    # The leading eigenvector v of X^T X, 49 x 49, gives s u v^T = X v v^T, and costs a tenth of a decomposition of X.
    # The start is the sum of the Gram matrix's rows, close to v for maps that are not negative, the same every time.
    rows = maps.flatten(2)
    if rows.shape[1] < rows.shape[2]:
        u = leading(rows @ rows.mT)
        return (rows - u[..., None] * (u[:, None] @ rows)).view_as(maps)
    v = leading(rows.mT @ rows)
    return (rows - (rows @ v[..., None]) * v[:, None]).view_as(maps)


def leading(gram: Tensor) -> Tensor:
    """Leading unit eigenvectors float[N, n] of symmetric float[N, n, n] without negative eigenvalues."""
    start = gram.sum(dim=2)
    vectors = _unit(start)
    step = last = torch.ones_like(start[:, 0])
    for _ in range(STEPS):
        following = _unit((gram @ vectors[..., None])[..., 0])
        last, step = step, (following - vectors).norm(dim=1)
        vectors = following
    # A step shrinks by the ratio of the two largest eigenvalues; what is left to go is a geometric series of it.
    rate = (step / last.clamp(min=1e-30)).clamp(max=0.999)
    left = torch.where(step > SETTLED, step * rate / (1 - rate), 0.0)
    slow = (left > 1e-5) | ~(vectors.norm(dim=1) > 0.5)
    if slow.any():
        vectors = vectors.clone()
        vectors[slow] = torch.linalg.eigh(gram[slow]).eigenvectors[..., -1]
    return vectors


def _unit(vectors: Tensor) -> Tensor:
    return vectors / vectors.norm(dim=1, keepdim=True).clamp(min=torch.finfo(vectors.dtype).tiny)
