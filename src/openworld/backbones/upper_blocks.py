"""The upper blocks of both towers alone, on rows kept from where they enter them.

What frozen lower blocks make of an image or of a sentence does not change in training, so it is computed once. Skip
Tuning (Wu et al., 2025) tunes the weights of the upper blocks and calls this layer-wise skipping; MMRL (Guo and Gu,
2025) puts learned rows into the upper blocks, and gains as much. Both are exact.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from openworld._errors import OpenworldError
from openworld._short_repr import short_repr
from openworld.backbones.blocks import (
    Attend,
    Block,
    Edit,
    attend_all,
    attend_earlier,
    join_heads,
    run_blocks,
    split_heads,
)
from openworld.backbones.bounded import run_parts, spans
from openworld.backbones.image_prompts import require_class_token
from openworld.backbones.prompts import pad_tokens, require_causal
from openworld.backbones.towers import ImageTower, TextTower

_WHAT = "passes through upper blocks need"


@dataclass(frozen=True)
class EnteredText:
    """Rows of C sentences where they enter a block.

    Args:
        rows: float[C, T, W], T the tokens of the longest sentence, start and end token included.
        ends: int64[C], the position of each end token; rows behind it are never seen.
        block: the block that the rows enter, counted from 0.
    """

    rows: Tensor
    ends: Tensor
    block: int

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.rows)

    def select(self, places: Tensor | slice) -> "EnteredText":
        """Return some of the sentences, without columns that none of them reaches."""
        ends = self.ends[places]
        return EnteredText(self.rows[places, : int(ends.max()) + 1], ends, self.block)


@torch.no_grad()
def enter_image(tower: ImageTower, pixels: Tensor, block: int) -> Tensor:
    """Rows float[B, 1 + P, W] of pixels float[B, 3, H, W] where they enter a block; see `TwoTower.enter_image`."""
    require_class_token(tower, _WHAT)
    _require_block(block, len(tower.blocks))
    return run_blocks(tower.blocks[:block], tower.embed(pixels), attend_all)


def leave_image(tower: ImageTower, rows: Tensor, block: int, prompts: Mapping[int, Tensor] | None = None) -> Tensor:
    """Rows float[B, 1 + N, W] of class token and prompts behind the last norm; see `TwoTower.leave_image`."""
    count, edit = _insert(prompts, block, place=rows.shape[1], layers=len(tower.blocks))
    keep = torch.tensor([0, *range(rows.shape[1], rows.shape[1] + count)], device=rows.device)
    return tower.norm_out(run_blocks(tower.blocks[block:], rows, attend_all, edit=edit, keep=keep))


@torch.no_grad()
def enter_text(tower: TextTower, sentences: Sequence[Sequence[int]], block: int) -> EnteredText:
    """Rows of C sentences, given as token ids, where they enter a block; see `TwoTower.enter_text`."""
    require_causal(tower, _WHAT)
    _require_block(block, len(tower.blocks))
    tokens = pad_tokens(sentences).to(tower.positions.device)
    ends = torch.tensor([len(sentence) - 1 for sentence in sentences], device=tokens.device)
    rows = tower.tokens(tokens) + tower.positions[: tokens.shape[1]]
    return EnteredText(run_blocks(tower.blocks[:block], rows, attend_earlier), ends, block)


def leave_text(tower: TextTower, entered: EnteredText, prompts: Mapping[int, Tensor] | None = None) -> Tensor:
    """Unnormalised joint embeddings float[C, D] of sentences that have entered; see `TwoTower.leave_text`."""
    prompts = dict(prompts or {})
    count, _ = _insert(prompts, entered.block, place=1, layers=len(tower.blocks))

    def part(some: slice):
        own = entered.select(some)

        def run(*given: Tensor) -> Tensor:
            _, edit = _insert(dict(zip(prompts, given, strict=True)), own.block, place=1, layers=len(tower.blocks))
            ends, blocks = own.ends + count, tower.blocks[own.block :]
            return run_blocks(blocks, own.rows, _attend_until(ends), edit=edit, keep=ends[:, None])[:, 0]

        return run, tuple(prompts.values())

    parts = [part(some) for some in spans(len(entered), entered.rows.shape[1] + count)]
    return tower.finish(torch.cat(run_parts(parts, tower)))


def _insert(prompts: Mapping[int, Tensor] | None, block: int, *, place: int, layers: int) -> tuple[int, Edit | None]:
    """How many rows are put in, and the `edit` of `run_blocks` that puts them in from row `place` on."""
    if not prompts:
        return 0, None
    _require_prompts(prompts, block, layers)
    count = len(prompts[block])

    def edit(index: int, rows: Tensor) -> Tensor:
        if block + index not in prompts:
            return rows
        new, behind = prompts[block + index].expand(len(rows), -1, -1), place + (count if index else 0)
        return torch.cat([rows[:, :place], new, rows[:, behind:]], dim=1)

    return count, edit


def _attend_until(ends: Tensor) -> Attend:
    """Every row sees itself and the rows before it; where the end rows alone have queries, they see as much."""

    def attend(index: int, block: Block, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        if query.shape[-2] == key.shape[-2]:
            return attend_earlier(index, block, query, key, value)
        seen = torch.arange(key.shape[-2], device=key.device) <= ends[:, None]
        query, key, value = (split_heads(rows, block.heads) for rows in (query, key, value))
        return join_heads(F.scaled_dot_product_attention(query, key, value, attn_mask=seen[:, None, None]))

    return attend


def _require_block(block: int, layers: int) -> None:
    if not 0 <= block < layers:
        raise OpenworldError(f"rows are to enter block {block}; this tower has blocks 0 to {layers - 1}.")


def _require_prompts(prompts: Mapping[int, Tensor], block: int, layers: int) -> None:
    shapes = {index: list(rows.shape) for index, rows in prompts.items()}
    outside = [index for index in prompts if not block <= index < layers]
    if outside or block not in prompts or len(set(map(tuple, shapes.values()))) > 1:
        raise OpenworldError(
            f"learned rows are given for blocks and of shapes {shapes}; expected one shape [N, W] at block {block}, "
            f"where they are put in, and at later ones up to {layers - 1}, where they take the place of the last ones."
        )
