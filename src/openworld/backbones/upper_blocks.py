"""The upper blocks of both towers alone, on rows kept from where they enter them.

What frozen lower blocks make of an image or of a sentence does not change in training, so it is computed once. Skip
Tuning (Wu et al., 2025) tunes the weights of the upper blocks and calls this layer-wise skipping; MMRL (Guo and Gu,
2025) puts learned rows into the upper blocks, and gains as much. Both are exact.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from openworld.backbones.packed_sentences import SPARE, PackedSentences, encode_packed, record_keys_and_values
from openworld.backbones.packing import pack_lengths, plan_attention
from openworld.backbones.towers import TextTower
from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr

NEEDED = "passes through upper blocks need"


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
        blocks = tower.blocks[self.block :]
        # A last block projects queries of kept rows alone, so that nothing is known of it ahead.
        first = blocks[0].qkv(blocks[0].norm_1(rows)) if len(blocks) > 1 else None
        start = record_keys_and_values(blocks, self.rows[0, :1])
        slots = torch.zeros((len(self), 0), dtype=torch.int64, device=device)
        heads = tower.config.heads
        plans = {only_ends: plan_attention(packing, only_ends, 1, heads, rows) for only_ends in (False, True)}
        sentences = PackedSentences(packing, rows, first, start, slots, plans, self.block)
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
