"""Activations shaped by the largest of them, row by row: what ASH and SCALE do before the head."""

import torch
from torch import Tensor


def kept(width: int, percent: float) -> int:
    """How many of `width` activations are left when `percent` of them are dropped: 11 of 32 without 65 %."""
    return width - round(width * percent / 100)


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
