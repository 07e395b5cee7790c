"""Orthogonal matrices: random ones, the nearest to a given one, and those that a free matrix stands for."""

import torch
from torch import Tensor

from openworld._arrays import LARGEST, require_at_least, require_at_most
from openworld._errors import OpenworldError
from openworld._types import checked
from openworld.shifts._rows import as_matrix, require_square

WIDEST = 50_000  # a matrix of so many numbers to a side has 20 GB


@checked
def random_orthogonal(width: int, generator: torch.Generator) -> Tensor:
    """An orthogonal float64[D, D], uniform over all of them (Haar).

    >>> matrix = random_orthogonal(3, torch.Generator().manual_seed(0))
    >>> round(float(deviation(matrix)), 6)
    0.0
    """
    require_at_least(1, width=width)
    require_at_most(WIDEST, width=width)
    drawn = torch.randn(width, width, generator=generator, dtype=torch.float64)
    matrix, upper = torch.linalg.qr(drawn)
    return matrix * upper.diagonal().sign()  # QR fixes signs by its own rule; so they follow the draw


@checked
def nearest_orthogonal(matrix: Tensor) -> Tensor:
    """The orthogonal matrix at the smallest Frobenius distance: the polar factor U V' of U S V'.

    Args:
        matrix: float[D, D].
    Returns:
        the same type and device; computed in float64.
    Source: Schönemann (1966), "A generalized solution of the orthogonal Procrustes problem".

    >>> nearest_orthogonal(torch.tensor([[2.0, 0.0], [0.0, -0.5]])).tolist()
    [[1.0, 0.0], [0.0, -1.0]]
    """
    matrix = as_matrix(matrix, "the matrix")
    require_square(matrix)
    left, _, right = torch.linalg.svd(matrix.to(torch.float64))
    return (left @ right).to(matrix.dtype)


@checked
def deviation(matrix: Tensor) -> Tensor:
    """|W'W - I|^2, the squared Frobenius norm (IS-OOD, Equation 3): float64, 0-d, at least 0.

    >>> float(deviation(torch.tensor([[2.0, 0.0], [0.0, 1.0]])))
    9.0
    """
    require_square(matrix)
    if as_matrix(matrix, "the matrix").abs().max() > LARGEST**0.5:
        raise OpenworldError(f"the matrix holds a number above {LARGEST**0.5:g}, too large for a 4th power; scale it.")
    return squared_deviation(matrix.to(torch.float64))


def squared_deviation(matrix: Tensor) -> Tensor:
    square = matrix.T @ matrix
    return (square - torch.eye(len(square), dtype=square.dtype, device=square.device)).square().sum()


def turned(start: Tensor, free: Tensor) -> Tensor:
    """Return `start` turned by the rotation exp(A - A') that any A = `free` float[D, D] stands for."""
    return start @ torch.linalg.matrix_exp(free - free.T)
