"""What a frozen tower computes once, and the passes that go on from it, all exact.

Read-only rows (RPO, Lee et al., 2023, section 3) see a frozen tower's own rows, and nothing sees them. What the tower's
own rows do is then the same whatever the learned rows are: the keys and values of every block are recorded once,
without gradient, and the learned rows alone run through the blocks, reading from the recording. That is the masked pass
over all rows at the cost of a few.

What frozen lower blocks make of an image or of a sentence does not change in training either. Skip Tuning (Wu et al.,
2025) tunes the weights of the upper blocks and calls this layer-wise skipping; MMRL (Guo and Gu, 2025) puts learned
rows into the upper blocks, and gains as much.
"""

from collections.abc import Mapping, Sequence
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
from openworld.backbones.packed_sentences import SPARE, PackedSentences, encode_packed, keep_constants
from openworld.backbones.packing import pack_lengths
from openworld.backbones.towers import TextTower
from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr

NEEDED = "passes through upper blocks need"


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


@dataclass(frozen=True)
class EnteredText:
    """Rows of C sentences where they enter a block.

    Args:
        rows: float[C, T, W], T the tokens of the longest sentence, start and end token included.
        lengths: tokens of each sentence; rows behind them are never seen.
        shared: how many tokens behind the start token all sentences have in common.
        block: the block that the rows enter, counted from 0.
    """

    rows: Tensor
    lengths: tuple[int, ...]
    shared: int
    block: int

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.rows)

    def select(self, places: Tensor) -> "EnteredText":
        """Return some of the sentences, at int64[K], at least one."""
        lengths = tuple(self.lengths[place] for place in places.tolist())
        return EnteredText(self.rows[places], lengths, self.shared, self.block)

    def pack(self, tower: TextTower, room: int = 0) -> "PackedText":
        """The rows that a pass needs, once each, with room for so many learned rows behind the start token.

        What is made once here serves any number of passes through blocks that stay as they are; for weights that learn
        (which a gradient has to reach) it is made anew for every pass, as `leave_text` does by itself.
        """
        device, longest, shared = self.rows.device, self.rows.shape[1], self.shared
        lengths = [length - 1 - shared for length in self.lengths]
        packing = pack_lengths([lengths], shared + room, spare=SPARE // tower.config.width, device=device)
        order = packing.order[0].tolist()
        places = [place * longest + 1 + shared + token for place in order for token in range(lengths[place])]
        rows = self.rows.flatten(0, 1)[torch.tensor(places, device=device)][None]
        no_slots = torch.zeros((len(self), 0), dtype=torch.int64, device=device)
        sentences = keep_constants(tower, packing, rows, self.rows[0, :1], no_slots, self.block)
        return PackedText(self.rows[0, 1 : 1 + shared], sentences, room)


@dataclass(frozen=True)
class PackedText:
    """Sentences that have entered a block, packed.

    shared: float[n, W], the rows that they have in common. room: for how many learned rows; see `EnteredText.pack`.
    """

    shared: Tensor
    sentences: PackedSentences
    room: int

    __repr__ = short_repr


def leave_text(tower: TextTower, text: EnteredText | PackedText, prompts: Mapping[int, Tensor] | None = None) -> Tensor:
    """Unnormalised joint embeddings float[C, D] of sentences that have entered; see `TwoTower.leave_text`."""
    prompts = dict(prompts or {})
    count = len(next(iter(prompts.values()))) if prompts else 0
    packed = text.pack(tower, count) if isinstance(text, EnteredText) else text
    block, shared = packed.sentences.block, packed.shared
    if prompts:
        require_prompts(prompts, block, len(tower.blocks))
        shared = torch.cat([prompts.pop(block), shared])
    if count != packed.room:
        raise OpenworldError(f"got {count} learned rows for sentences that are packed with room for {packed.room}.")
    return encode_packed(tower, shared[None], packed.sentences, replace=prompts)[0]


def require_block(block: int, layers: int) -> None:
    if not 0 <= block < layers:
        raise OpenworldError(f"rows are to enter block {block}; this tower has blocks 0 to {layers - 1}.")


def require_prompts(prompts: Mapping[int, Tensor], block: int, layers: int) -> None:
    shapes = {index: list(rows.shape) for index, rows in prompts.items()}
    outside = [index for index in prompts if not block <= index < layers]
    if outside or block not in prompts or len(set(map(tuple, shapes.values()))) > 1:
        raise OpenworldError(
            f"learned rows are given for blocks and of shapes {shapes}; expected one shape [N, W] at block {block}, "
            f"where they are put in, and at later ones up to {layers - 1}, where they take the place of the last ones."
        )
