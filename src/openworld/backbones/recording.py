"""Read-only rows: they see a frozen tower's own rows, and nothing sees them (RPO, Lee et al., 2023, section 3).

What the tower's own rows do is then the same whatever the learned rows are. So the keys and values of every block are
recorded once, without gradient, and the learned rows alone run through the blocks, reading from the recording: the
masked pass over all rows, exactly, at the cost of a few rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from openworld.backbones.blocks import Attend, Block, KeysAndValues, attend_all, join_heads, run_blocks, split_heads
from openworld.backbones.bounded import run_parts, spans
from openworld.backbones.prompts import CHUNK, pad_tokens
from openworld.backbones.towers import ImageTower, TextTower
from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr


@dataclass(frozen=True)
class Recording:
    """Keys and values that the rows of N images or sentences left at every block of a frozen tower.

    memory: for each block (key, value), each float[N, M, W]. visible: bool[N, M], False where a shorter sentence is
    padded; None where all rows count.
    """

    memory: KeysAndValues
    visible: Tensor | None = None

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.memory[0][0])

    @property
    def length(self) -> int:
        """Recorded rows of each image, or of the longest sentence."""
        return self.memory[0][0].shape[1]

    def part(self, some: slice) -> "Recording":
        """The recording of some of the images or sentences."""
        visible = None if self.visible is None else self.visible[some]
        return Recording(tuple((key[some], value[some]) for key, value in self.memory), visible)


@torch.no_grad()
def record_image(tower: ImageTower, pixels: Tensor) -> Recording:
    """Record class token and patches of pixels float[B, 3, H, W]; see `TwoTower.record_image`."""
    return Recording(_record(tower.blocks, tower.embed(pixels), attend_all))


@torch.no_grad()
def record_text(tower: TextTower, sentences: Sequence[Sequence[int]]) -> Recording:
    """Record C sentences, given as token ids, up to their end tokens; see `TwoTower.record_text`."""
    device = tower.positions.device
    tokens = pad_tokens(sentences).to(device)
    lengths = torch.tensor([len(sentence) for sentence in sentences], device=device)
    parts = []
    for first in range(0, len(tokens), CHUNK):
        rows = tower.tokens(tokens[first : first + CHUNK]) + tower.positions[: tokens.shape[1]]
        parts.append(_record(tower.blocks, rows, tower.attend))
    memory: Any = tuple(tuple(map(torch.cat, zip(*block, strict=True))) for block in zip(*parts, strict=True))
    return Recording(memory, torch.arange(tokens.shape[1], device=device) < lengths[:, None])


def read_image(tower: ImageTower, prompts: Tensor, recording: Recording) -> Tensor:
    """Embeddings float[B, K, D] of K read-only rows [K, W]; see `TwoTower.read_image`."""
    _require_rows(prompts, tower.config.width)
    return tower.finish(_read(tower.blocks, tower.norm_in(prompts), recording))


def read_text(tower: TextTower, prompts: Tensor, recording: Recording) -> Tensor:
    """Embeddings float[C, K, D] of K read-only rows [K, W]; see `TwoTower.read_text`."""
    _require_rows(prompts, tower.config.width)
    longest = tower.config.positions - recording.length
    if len(prompts) > longest:
        raise OpenworldError(
            f"{len(prompts)} read-only prompts stand behind a sentence of {recording.length} tokens, and this model "
            f"reads {tower.config.positions} positions; use at most {max(longest, 0)} prompts, or shorter names."
        )
    return tower.finish(_read(tower.blocks, prompts, recording))


def _record(blocks: Sequence[Block], rows: Tensor, attend: Attend) -> KeysAndValues:
    memory = []

    def remember(index: int, block: Block, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        # Copies: the projections are views of one tensor, which would keep the queries too.
        memory.append((key.clone(), value.clone()))
        return attend(index, block, query, key, value) if query.shape[-2] else query

    # After the last block no row is wanted: it gives its keys and values only.
    run_blocks(blocks, rows, remember, keep=torch.empty(0, dtype=torch.int64, device=rows.device))
    return tuple(memory)


def _read(blocks: Sequence[Block], prompts: Tensor, recording: Recording) -> Tensor:
    """Rows float[N, K, W] after the last block, in parts where they are many."""

    def part(some: slice):
        def run(rows: Tensor) -> Tensor:
            seen = recording.part(some)
            rows = rows.expand(len(seen), -1, -1)

            def attend(index: int, block: Block, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
                query, key, value = (split_heads(rows, block.heads) for rows in (query, key, value))
                counting = None if seen.visible is None else seen.visible[:, None, None]
                return join_heads(F.scaled_dot_product_attention(query, key, value, attn_mask=counting))

            return run_blocks(blocks, rows, attend_all if seen.visible is None else attend, memory=seen.memory)

        return run, (prompts,)

    return torch.cat(run_parts([part(some) for some in spans(len(recording), rows_each=len(prompts))]))


def _require_rows(prompts: Tensor, width: int) -> None:
    if prompts.dim() != 2 or not len(prompts) or prompts.shape[1] != width:
        raise OpenworldError(
            f"expected read-only prompts of shape [K, {width}] with K at least 1, got {list(prompts.shape)}."
        )
