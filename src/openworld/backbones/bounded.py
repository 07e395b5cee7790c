"""Bounded memory: a pass over many rows, cut into parts whose intermediate results are not kept.

What a backward pass needs of a text tower of ViT-B/16 is about 0.3 megabytes per row in float32. A pass over more
than `ROWS` rows is therefore cut into parts; where a gradient is wanted, every part runs forward again in the backward
pass (gradient checkpointing; Chen et al., 2016), which gives the same numbers for a third more work.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

ROWS = 16384


def run_parts(
    parts: Sequence[tuple[Callable[..., Tensor], tuple[Tensor, ...]]], tower: nn.Module | None = None
) -> list[Tensor]:
    """Return run(*tensors) of every part (run, tensors); of several parts, intermediate results are not kept."""
    # A gradient flows to the tensors alone, not to what `run` finds elsewhere: where weights learn, every part is kept.
    if len(parts) == 1 or (tower is not None and any(weight.requires_grad for weight in tower.parameters())):
        return [run(*tensors) for run, tensors in parts]
    return [_Recomputed.apply(run, *tensors) for run, tensors in parts]


def spans(count: int, rows_each: float) -> list[slice]:
    """Return slices over `count` entries of `rows_each` rows in order, each within `ROWS` rows or of one entry."""
    size = max(int(ROWS / rows_each), 1)
    return [slice(first, min(first + size, count)) for first in range(0, max(count, 1), size)]


class _Recomputed(torch.autograd.Function):
    """A function that runs again in the backward pass."""

    # `torch.utils.checkpoint` does the same, but not inside `torch.func.vmap`, which trains several seeds as one.
    generate_vmap_rule = True

    @staticmethod
    def forward(run: Callable[..., Tensor], *tensors: Tensor) -> Tensor:
        return run(*tensors)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Tensor) -> None:
        ctx.run, *tensors = inputs
        ctx.save_for_backward(*tensors)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple:
        return None, *torch.func.vjp(ctx.run, *ctx.saved_tensors)[1](*gradients)
