"""What LAID learns with: orthogonal matrices, and features whitened so that looks stand out.

LAID only turns the space: where looks are a hundredth of the variance of every number, no turn brings them out.
Whitening by the covariance within a look (Fisher's discriminant analysis takes the same first step) does: things that
look alike then differ equally in all directions, and LAID turns what is left.
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor

from openworld.core.arrays import LARGEST
from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.core.types import Range, checked
from openworld.shifts._rows import as_matrix, as_rows, as_tensor, as_texts, unit
from openworld.shifts.decomposition import Decomposition

WIDEST = 50_000  # a matrix of so many numbers to a side has 20 GB
LEAST = 1e-24  # mean variance of unit features that is rounding
RIDGE = 0.001  # of the mean variance, added to each: directions of next to none would be blown up


@checked
def random_orthogonal(width: Annotated[int, Range(1, WIDEST)], generator: torch.Generator) -> Tensor:
    """An orthogonal float64[D, D], uniform over all of them (Haar).

    >>> matrix = random_orthogonal(3, torch.Generator().manual_seed(0))
    >>> round(float(deviation(matrix)), 6)
    0.0
    """
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
    left, _, right = torch.linalg.svd(matrix.to(torch.float64))
    return (left @ right).to(matrix.dtype)


@checked
def deviation(matrix: Tensor) -> Tensor:
    """|W'W - I|^2, the squared Frobenius norm (IS-OOD, Equation 3): float64, 0-d, at least 0.

    >>> float(deviation(torch.tensor([[2.0, 0.0], [0.0, 1.0]])))
    9.0
    """
    if as_matrix(matrix, "the matrix").abs().max() > LARGEST**0.5:
        raise OpenworldError(f"the matrix holds a number above {LARGEST**0.5:g}, too large for a 4th power; scale it.")
    return squared_deviation(matrix.to(torch.float64))


def squared_deviation(matrix: Tensor) -> Tensor:
    square = matrix.T @ matrix
    return (square - torch.eye(len(square), dtype=square.dtype, device=square.device)).square().sum()


def turned(start: Tensor, free: Tensor) -> Tensor:
    """Return `start` turned by the rotation exp(A - A') that any A = `free` float[D, D] stands for."""
    return start @ torch.linalg.matrix_exp(free - free.T)


@dataclass(frozen=True, eq=False)
class Whitening:
    """A linear map of unit features, (f / |f| - centre) basis; centre float32[D], basis float32[D, K]."""

    centre: Tensor
    basis: Tensor

    __repr__ = short_repr

    def of(self, features: Tensor) -> Tensor:
        """float32[..., K] of features float[..., D] of any lengths."""
        features = as_tensor(features, "features")
        if not features.dim():
            raise OpenworldError("features came as one number, expected [..., D].")
        as_rows(features.reshape(-1, features.shape[-1]), "features", width=len(self.centre))
        return (unit(features).to(self.basis) - self.centre) @ self.basis

    @checked
    def before(self, halves: Decomposition) -> Decomposition:
        """The halves of whitened features as halves of the features themselves."""
        bases = [self.basis @ basis for basis in (halves.semantic, halves.covariate)]
        return Decomposition(*bases, self.centre, self.centre, halves.about)


@checked
def whitening(features: Tensor, width: int) -> Whitening:
    """Learned from features float[S, C, D] of S labels in C templates, computed in float64.

    Args:
        width: K, how many numbers are kept, those of most variance in all; 2 to D.
    Raises:
        OpenworldError: a width outside 2 to D.
    """
    features = as_texts(features, "features")
    require_width(width, features.shape[2])
    units = unit(features).to(torch.float64)
    centre = units.mean(dim=(0, 1))
    sizes, directions = torch.linalg.eigh(_covariance(units - units.mean(dim=0)))
    if not sizes.mean() > LEAST:
        raise OpenworldError("features of one template do not differ, so there is nothing to whiten; give more labels.")
    basis = directions / (sizes.clamp_min(0) + RIDGE * sizes.mean()).sqrt()
    _, leading = torch.linalg.eigh(_covariance((units - centre) @ basis))
    basis = basis @ leading.flip(1)[:, :width]
    return Whitening(centre.float(), basis.float().contiguous())


def require_width(width: int, most: int) -> int:
    if not 2 <= width <= most:
        raise OpenworldError(f"whitened is {width}, expected 2 to {most}, how many numbers features have.")
    return width


def _covariance(moved: Tensor) -> Tensor:
    rows = moved.flatten(0, 1)
    return rows.T @ rows / len(rows)
