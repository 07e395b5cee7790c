"""The transformer block both towers are made of, and the one loop that runs a stack of them.

A block is pre-norm and residual: x += attention(norm x); x += mlp(norm x) (Radford et al., 2021). What differs between
uses is left to two callables: `attend(index, block, query, key, value)` says who sees whom, and `edit(index, rows)` may
replace or add rows at the input of a block (deep and class-aware prompts). Rows may also read from a `memory`, the keys
and values that other rows left at every block, instead of from each other.

Memory is bounded: what a backward pass needs of a text tower of ViT-B/16 is about 0.3 megabytes per row in float32. A
pass over more than `ROWS` rows is therefore cut into parts; where a gradient is wanted, every part runs forward again
in the backward pass (gradient checkpointing; Chen et al., 2016), which gives the same numbers for a third more work.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Attend = Callable[[int, "Block", Tensor, Tensor, Tensor], Tensor]
Edit = Callable[[int, Tensor], Tensor]
KeysAndValues = tuple[tuple[Tensor, Tensor], ...]


def quick_gelu(x: Tensor) -> Tensor:
    return F.silu(1.702 * x) * (1 / 1.702)


def gelu_tanh(x: Tensor) -> Tensor:
    return F.gelu(x, approximate="tanh")


ACTIVATION_FUNCTIONS = {"quick_gelu": quick_gelu, "gelu": F.gelu, "gelu_tanh": gelu_tanh}


class Block(nn.Module):
    """One pre-norm block over rows of `width` features with `heads` attention heads."""

    def __init__(self, width: int, heads: int, mlp_width: int, activation: str, norm_epsilon: float):
        super().__init__()
        self.heads = heads
        self.norm_1 = nn.LayerNorm(width, eps=norm_epsilon)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm_2 = nn.LayerNorm(width, eps=norm_epsilon)
        self.up = nn.Linear(width, mlp_width)
        self.down = nn.Linear(mlp_width, width)
        self.activation = ACTIVATION_FUNCTIONS[activation]

    def forward(
        self,
        index: int,
        rows: Tensor,
        attend: Attend,
        keep: Tensor | None = None,
        memory: tuple[Tensor, Tensor] | None = None,
        known: Tensor | None = None,
    ) -> Tensor:
        """Rows [..., T, W] to rows [..., T, W]; with `keep`, only the rows it picks are computed."""
        # Keys and values still come from all rows, so that the kept rows are exactly those of the full block. `memory`:
        # (key, value) [..., M, W] of other rows, seen in place of the rows' own. `known`: [..., R, 3W] of the last R
        # rows, alone.
        normed = self.norm_1(rows if known is None else rows[..., : -known.shape[-2], :])
        if known is not None:
            query, key, value = torch.cat([self.qkv(normed), known], dim=-2).chunk(3, dim=-1)
        else:
            query, key, value = self.project(normed, keep) if memory is None else (self.project_query(normed), *memory)
        rows = rows if keep is None else select_rows(rows, keep)
        rows = rows + self.out(attend(index, self, query, key, value))
        return rows + self.mlp(self.norm_2(rows))

    def project(self, normed: Tensor, keep: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """Queries (of the kept rows), keys and values of rows [..., T, W], each with `width` features."""
        if keep is None:
            return self.qkv(normed).chunk(3, dim=-1)
        width = normed.shape[-1]
        key, value = F.linear(normed, self.qkv.weight[width:], self.qkv.bias[width:]).chunk(2, dim=-1)
        return self.project_query(select_rows(normed, keep)), key, value

    def project_query(self, normed: Tensor) -> Tensor:
        width = normed.shape[-1]
        return F.linear(normed, self.qkv.weight[:width], self.qkv.bias[:width])

    def mlp(self, normed: Tensor) -> Tensor:
        if self.activation is not quick_gelu:
            return self.down(self.activation(self.up(normed)))
        # With z = 1.702 up(x) it is down(silu(z) / 1.702): both factors cost nothing inside the matrix products.
        rows = normed.flatten(0, -2)
        scaled = torch.addmm(self.up.bias, rows, self.up.weight.mT, beta=1.702, alpha=1.702)
        return torch.addmm(self.down.bias, F.silu(scaled), self.down.weight.mT, alpha=1 / 1.702).view(normed.shape)


def run_blocks(
    blocks: Sequence[Block],
    rows: Tensor,
    attend: Attend,
    *,
    edit: Edit | None = None,
    keep: Tensor | None = None,
    memory: KeysAndValues | None = None,
    first: Tensor | None = None,
) -> Tensor:
    """Send rows [..., T, W] through all blocks; the only block loop of the package."""
    # `keep`: rows wanted after the last block, which then computes queries and MLP for them alone. `memory`: for each
    # block keys and values [..., M, W] that the rows see instead of their own; not with `keep`. `first`: queries, keys
    # and values [..., R, 3W] of the last R rows in the first block, where they are known.
    last = len(blocks) - 1
    for index, block in enumerate(blocks):
        if edit is not None:
            rows = edit(index, rows)
        known = first if 0 == index < last else None
        rows = block(index, rows, attend, keep if index == last else None, memory and memory[index], known)
    return rows


def select_rows(rows: Tensor, keep: Tensor) -> Tensor:
    """Return rows of [..., T, W] picked along T: `keep` int64[K] for all alike, or int64[B, K], each its own."""
    if keep.dim() == 1:
        return rows.index_select(-2, keep)
    return rows.gather(1, keep.unsqueeze(-1).expand(-1, -1, rows.shape[-1]))


def split_heads(rows: Tensor, heads: int) -> Tensor:
    """Rows [..., T, W] as heads [..., heads, T, W / heads]."""
    return rows.unflatten(-1, (heads, -1)).transpose(-2, -3)


def join_heads(rows: Tensor) -> Tensor:
    """Heads [..., heads, T, d] as rows [..., T, heads * d]."""
    return rows.transpose(-2, -3).flatten(-2)


def attend_all(index: int, block: Block, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Every row sees every row (images; SigLIP's text)."""
    query, key, value = (split_heads(rows, block.heads) for rows in (query, key, value))
    return join_heads(F.scaled_dot_product_attention(query, key, value))


def attend_earlier(index: int, block: Block, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Every row sees itself and the rows before it (CLIP's text); queries must be all rows."""
    query, key, value = (split_heads(rows, block.heads) for rows in (query, key, value))
    return join_heads(F.scaled_dot_product_attention(query, key, value, is_causal=True))


def attend_own_value(index: int, block: Block, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Every row sees only its own value: the value path that yields patch features (Zhou et al., 2022, MaskCLIP)."""
    return value


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
