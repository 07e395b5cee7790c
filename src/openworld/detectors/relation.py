"""Relation: how many training images are alike in features and in softmax (Kim et al., 2023, "Neural Relation Graph: A
Unified Framework for Identifying Label Noise and Outlier Data")."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import normalize

from openworld.core.types import AboveZero, checked
from openworld.detectors.engine.bank import PRODUCTS
from openworld.detectors.plugin_api import Activations, Bank, DetectorCard, Fittable, Head, Rows


@checked
@dataclass(frozen=True)
class Relation(Fittable):
    """sum over training images i of r_i^power where r_i > threshold; r_i = max(0, <u, u_i>) <p, p_i>, u = h / |h|.

    Args:
        power: > 0. threshold: below which a relation counts as none.

    >>> head = Head(torch.tensor([[99.0, 0.0], [0.0, 99.0]]))  # so sure that <p, p_i> is 0 or 1
    >>> fitted = Relation().fit(torch.tensor([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]]), head=head)
    >>> [round(score, 2) for score in fitted.score(torch.tensor([[3.0, 0.0], [0.6, 0.8]])).tolist()]
    [2.0, 0.8]
    """

    power: AboveZero = 1.0
    threshold: float = 0.03

    card = DetectorCard(
        "Relation", "Kim et al., 2023", "summed likeness to training images", ("features", "head", "bank")
    )
    sweep = {"power": (1.0, 2.0, 4.0, 6.0, 8.0)}
    gathers = (Bank(),)

    def learn(self, head: Head, rows: Rows) -> tuple[Tensor, Tensor]:
        """Keep unit features float[M, D] and softmax float[M, C] of all training images, of features and the head."""
        return normalize(rows.features, dim=1), head.logits(rows.features).softmax(dim=1)

    def read(self, state: tuple[Tensor, Tensor], activations: Activations) -> Tensor:
        unit, p = (part.to(activations.unit) for part in state)
        size = max(1, PRODUCTS // len(unit))
        sums = []
        for h, q in zip(activations.unit.split(size), activations.probabilities.split(size), strict=True):
            relations = (h @ unit.mT).clamp_min(0) * (q @ p.mT)
            sums.append((relations.pow(self.power) * (relations > self.threshold)).sum(dim=1))
        return torch.cat(sums)
