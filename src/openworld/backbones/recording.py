"""Read-only rows: they see a frozen tower's own rows, and nothing sees them (RPO, Lee et al., 2023, section 3).

What the tower's own rows do is then the same whatever the learned rows are. So the keys and values of every block are
recorded once, without gradient, and the learned rows alone run through the blocks, reading from the recording: the
masked pass over all rows, exactly, at the cost of a few rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from openworld.backbones.blocks import (
    Attend,
    Block,
    KeysAndValues,
    attend_all,
    join_heads,
    run_blocks,
    run_parts,
    spans,
    split_heads,
)
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


def record(blocks: Sequence[Block], rows: Tensor, attend: Attend) -> KeysAndValues:
    """Return keys and values [..., T, W] that rows [..., T, W] leave at every block."""
    memory = []

    def remember(index: int, block: Block, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        # Copies: the projections are views of one tensor, which would keep the queries too.
        memory.append((key.clone(), value.clone()))
        return attend(index, block, query, key, value) if query.shape[-2] else query

    # After the last block no row is wanted: it gives its keys and values only.
    run_blocks(blocks, rows, remember, keep=torch.empty(0, dtype=torch.int64, device=rows.device))
    return tuple(memory)


def read(blocks: Sequence[Block], prompts: Tensor, recording: Recording) -> Tensor:
    """Return learned rows float[K, W] that read a recording, float[N, K, W] after the last block, in parts if many."""

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
