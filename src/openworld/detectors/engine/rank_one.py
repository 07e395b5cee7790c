"""Maps less their largest singular component, by power iteration on the smaller Gram matrix.

X (channels x positions) has few positions where the last stage of a network ends: 49 against 2,048 channels. The
leading eigenvector v of X^T X, 49 x 49, gives s u v^T = X v v^T, and costs a tenth of a decomposition of X. The start
is the sum of the Gram matrix's rows, close to v for maps that are not negative, and the same every time.
"""

import torch
from torch import Tensor

STEPS = 20  # as in the public code's accelerated form
SETTLED = 1e-6  # change of a unit vector in a step, near float32 rounding


def without_largest(maps: Tensor) -> Tensor:
    """maps - s u v^T of each, float[N, c, h, w], with s u v^T its largest singular component as [c, h w].

    >>> without_largest(torch.tensor([[[[3.0, 0.0]], [[0.0, 2.0]]]])).round(decimals=4).abs().flatten().tolist()
    [0.0, 0.0, 0.0, 2.0]
    """
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
