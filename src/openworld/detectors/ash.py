"""ASH: energy after most activations were removed and the rest evened out (Djurisic et al., 2023, "Extremely Simple
Activation Shaping for Out-of-Distribution Detection"), on the features before the head as in OpenOOD@3c35632."""

from dataclasses import dataclass
from typing import Annotated, Literal

import torch
from torch import Tensor

from openworld.core.types import Range, checked
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable

Variant = Literal["b", "s", "p"]


@checked
@dataclass(frozen=True)
class ASH(Fittable):
    """log sum exp(W shape(h) + b), where shape keeps the largest features of each image and sets the others to 0.

    Args:
        variant: what becomes of those kept: "p" nothing; "b" each is the sum of all over their number; "s" each is
            multiplied by exp(sum of all / sum of those kept).
        percent: of the features that are dropped, in [0, 100).

    >>> from openworld.detectors.engine.head import Head
    >>> rows, head = torch.tensor([[3.0, 1.0]]), Head(torch.tensor([[1.0, 1.0], [-99.0, -99.0]]))
    >>> [round(ASH(variant, 50).fit(head=head).score(rows).item(), 2) for variant in "bp"]
    [4.0, 3.0]
    """

    variant: Variant = "b"
    percent: Annotated[float, Range(0, 100, "[)")] = 90.0

    card = DetectorCard("ASH", "Djurisic et al., 2023", "energy of pruned, level features", ("features", "head"))
    sweep = {"percent": (65.0, 70.0, 75.0, 80.0, 85.0, 90.0, 95.0)}
    expects_positive = True
    weak_on = {"transformer": "AUROC 53.2 near and 51.6 far, that is chance, on ViT-B/16"}

    def read(self, state: None, activations: Activations) -> Tensor:
        shaped = SHAPES[self.variant](activations.tensor("features"), self.percent)
        return activations.logits_of(shaped).logsumexp(dim=1)


def kept(width: int, percent: float) -> int:
    """How many of `width` activations are left when `percent` of them are dropped: 11 of 32 without 65 %."""
    return width - round(width * percent / 100)  # OpenOOD rounds what is dropped, not what is left


def prune(rows: Tensor, percent: float) -> Tensor:
    """ASH-P: the largest activations as they are, the others 0; float[N, D]."""
    values, places = rows.topk(kept(rows.shape[1], percent), dim=1)
    return torch.zeros_like(rows).scatter(1, places, values)


def binarise(rows: Tensor, percent: float) -> Tensor:
    """ASH-B: the largest activations all equal, with the sum of all of them; the others 0; float[N, D]."""
    places = rows.topk(kept(rows.shape[1], percent), dim=1).indices
    level = rows.sum(dim=1, keepdim=True) / places.shape[1]
    return torch.zeros_like(rows).scatter(1, places, level.expand(-1, places.shape[1]))


def scaled(rows: Tensor, percent: float) -> Tensor:
    """ASH-S: pruned, times exp(sum of all / sum of those left); float[N, D]."""
    return prune(rows, percent) * ratio(rows, percent)[:, None].exp()


def ratio(rows: Tensor, percent: float | Tensor) -> Tensor:
    """Sum of all activations over the sum of the largest, float[N]; `percent` one number or float[N]."""
    width = rows.shape[1]
    if not isinstance(percent, Tensor):
        return rows.sum(dim=1) / rows.topk(kept(width, percent), dim=1).values.sum(dim=1)
    left = width - (width * percent / 100).round().long()
    values = rows.topk(int(left.max()) if len(left) else 0, dim=1).values
    among = torch.arange(values.shape[1], device=rows.device) < left[:, None]
    return rows.sum(dim=1) / (values * among).sum(dim=1)


SHAPES = {"b": binarise, "s": scaled, "p": prune}
