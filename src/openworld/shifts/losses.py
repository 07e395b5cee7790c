"""LAID's triplet losses (Long et al., 2024, IS-OOD, Equation 2) of the two halves of features under a matrix.

Features are row vectors, z = f W; the first half of z is semantic, the second covariate; distance is 1 - cosine.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from openworld._arrays import require_at_most
from openworld._errors import OpenworldError
from openworld._short_repr import short_repr
from openworld._types import checked
from openworld.shifts._rows import as_matrix, require_square
from openworld.shifts.decomposition import split_at
from openworld.shifts.triplets import Triplets

FARTHEST = 1e30  # margins beyond it leave float32


@dataclass(frozen=True, eq=False)
class TripletDistances:
    """Cosine distances from the standard texts, float[B] each, in [0, 2].

    semantic_alike: in the semantic half to the same label in another template, which should be near.
    semantic_other: in the semantic half to another label, which should be far.
    covariate_alike: in the covariate half to another label in the same template, which should be near.
    covariate_other: in the covariate half to another template, which should be far.
    """

    semantic_alike: Tensor
    semantic_other: Tensor
    covariate_alike: Tensor
    covariate_other: Tensor

    __repr__ = short_repr


@checked
def triplet_distances(matrix: Tensor, batch: Triplets, semantic_width: int | None = None) -> TripletDistances:
    """The four distances of every triplet under the matrix float[D, D]; semantic_width: None for half of D.

    >>> one, two = torch.eye(4)[:1], torch.eye(4)[1:2]
    >>> found = triplet_distances(torch.eye(4), Triplets(one + torch.eye(4)[2:3], two, one))
    >>> [round(float(d), 3) for d in (found.semantic_alike, found.semantic_other)]
    [0.0, 1.0]
    """
    require_square(matrix)
    parts = {"the matrix": matrix} | {
        f"the {name} features of the triplets": rows for name, rows in vars(batch).items()
    }
    if len({as_matrix(rows, name, "[B, D]").dtype for name, rows in parts.items()}) > 1:
        raise OpenworldError(f"the matrix is {matrix.dtype} and the triplets {batch.standard.dtype}; use one type.")
    if batch.standard.shape[1] != len(matrix):
        raise OpenworldError(f"the triplets have {batch.standard.shape[1]} features, the matrix {len(matrix)}.")
    return distances_under(matrix, batch, semantic_width)


def distances_under(matrix: Tensor, batch: Triplets, semantic_width: int | None) -> TripletDistances:
    half = split_at(matrix.shape[1], semantic_width)
    standard, other_label, other_template = (
        rows @ matrix for rows in (batch.standard, batch.semantic_shift, batch.covariate_shift)
    )

    def apart(first: Tensor, second: Tensor, part: slice) -> Tensor:
        return 1 - cosine_similarity(first[:, part], second[:, part], dim=1)

    semantic, covariate = slice(0, half), slice(half, None)
    return TripletDistances(
        apart(standard, other_template, semantic),
        apart(standard, other_label, semantic),
        apart(standard, other_label, covariate),
        apart(standard, other_template, covariate),
    )


@checked
def triplet_losses(distances: TripletDistances, margin: float, *, hinge: bool = True) -> tuple[Tensor, Tensor]:
    """L_sem and L_cov, means over the triplets: near - far + margin, not below 0 with `hinge`.

    The paper prints no hinge; without it the margin has no gradient and losses fall without end, so it is the default.

    >>> alike, other = torch.tensor([0.2]), torch.tensor([0.4])
    >>> losses = triplet_losses(TripletDistances(alike, other, other, alike), margin=0.1)
    >>> [round(float(loss), 3) for loss in losses]
    [0.0, 0.3]
    """
    require_at_most(FARTHEST, margin=abs(margin))
    semantic = distances.semantic_alike - distances.semantic_other + margin
    covariate = distances.covariate_alike - distances.covariate_other + margin
    if hinge:
        semantic, covariate = semantic.clamp_min(0), covariate.clamp_min(0)
    return semantic.mean(), covariate.mean()


@checked
def share_right(distances: TripletDistances) -> tuple[float, float]:
    """Shares of triplets whose two distances stand in the right order, in the semantic and in the covariate half."""
    semantic = distances.semantic_alike < distances.semantic_other
    covariate = distances.covariate_alike < distances.covariate_other
    return float(semantic.to(torch.float64).mean()), float(covariate.to(torch.float64).mean())
