"""Many sentences in one tensor: shared first rows once, then every sentence's own rows.

In a causal tower a row never sees later rows, so four exact savings follow: rows after the end token are left out; rows
that all sentences share (context, template) are computed once; the start token's keys and values are constants; and in
the last block only the pooled rows are computed. Sentences of like lengths make a bucket, which attends at once; the
shorter are padded, in attention alone, where more rows cost less than another bucket.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from openworld.backbones.blocks import Block, KeysAndValues, attend_all, run_blocks, run_parts, select_rows, spans
from openworld.backbones.packing import Packing, Plan, attend_packed, pack_lengths, plan_attention, unshare
from openworld.backbones.towers import TextTower

SPARE = 2**12  # divided by W: so many padded rows of width W cost less than a bucket (bench/steps.py)


@dataclass(frozen=True)
class PackedSentences:
    """Sentences prepared for many passes: their packing, own rows and the start token's keys and values."""

    packing: Packing
    rows: Tensor  # float[L, R, W], own rows with positions, in packed order; position alone where a slot is
    first: Tensor | None  # float[L, R, 3W], what they are projected to in the first block; None with slots
    start: KeysAndValues  # for each block the start token's (key, value), each float[1, W]
    slots: Tensor  # int64[C, S], for each packed place those rows of `rows` that a pass fills
    plans: dict[bool, Plan]  # of all rows, or (True) the end rows; made outside any transform of `torch.func`
    block: int = 0  # that the rows enter; `first` and `start` are of this block and the later ones

    def part(self, groups: slice, places: slice) -> "PackedSentences":
        packing, cut = self.packing, slice(None)
        some = groups if len(self.rows[groups]) < len(self.rows) > 1 else slice(None)
        if some != slice(None):
            packing = replace(packing, order=packing.order[some], ends=packing.ends[some])
        lengths, slots = packing.lengths, self.slots
        if lengths[places] != lengths:
            cut = slice(sum(lengths[: places.start]), sum(lengths[: places.stop]))
            packing, slots = packing.relaid(lengths[places], packing.shared, places), slots[places] - cut.start
        first = None if self.first is None else self.first[some, cut]
        plans = self.plans if packing is self.packing else {}
        return PackedSentences(packing, self.rows[some, cut], first, self.start, slots, plans, self.block)


def pack_sentences(
    tower: TextTower, lists: Sequence[Sequence[Sequence[int]]], shared: int, slots: Sequence[range] | None = None
) -> PackedSentences:
    """Prepare token ids (start token, `shared` rows, own rows, end token) for `encode_packed`.

    Args:
        lists: one list of C sentences for all passes, or one for each.
        shared: rows behind the start token that all sentences have in common.
        slots: for each sentence of a single list the positions, from the start token's 0, that a pass fills.
    """
    device = tower.positions.device
    lengths = [[len(sentence) - 1 - shared for sentence in sentences] for sentences in lists]
    packing = pack_lengths(lengths, shared, spare=SPARE // tower.config.width, device=device)
    order = packing.order.tolist()

    # Own tokens in packed order. A sentence that is shorter than its place repeats its end token, which nobody reads.
    tokens: list[list[int]] = [[] for _ in lists]
    for packed, sentences, sentence_at in zip(tokens, lists, order, strict=True):
        for place, length in zip(sentence_at, packing.lengths, strict=True):
            sentence_tokens = list(sentences[place][1 + shared :])
            packed += sentence_tokens + sentence_tokens[-1:] * (length - len(sentence_tokens))
    first_own = 1 + shared  # the position of a sentence's first own row, behind start token and shared rows
    positions = torch.cat([torch.arange(first_own, first_own + length, device=device) for length in packing.lengths])

    # What a slot holds comes with each pass; here it is its position alone.
    slot_positions = [list(slots[place]) if slots else [] for place in order[0]]
    own_starts = packing.starts[:, None] - shared
    filled = own_starts + torch.tensor(slot_positions, dtype=torch.int64, device=device) - first_own
    rows = tower.tokens(torch.tensor(tokens, device=device)).index_fill(1, filled.flatten(), 0)
    rows = rows + tower.positions[positions]

    start = (tower.tokens.weight[lists[0][0][0]] + tower.positions[0])[None]
    return keep_constants(tower, packing, rows, start, filled)


def keep_constants(
    tower: TextTower, packing: Packing, rows: Tensor, start: Tensor, slots: Tensor, block: int = 0
) -> PackedSentences:
    """Return packed rows [L, R, W] that enter a block behind the start token's row [1, W], for many passes.

    No pass changes the projections of the first block, who attends to whom, and keys and values of the start token,
    which sees only itself.
    """
    blocks, heads, pairs = tower.blocks[block:], tower.config.heads, []
    # Slots are filled later; and a last block projects queries of kept rows alone, so that nothing is known ahead.
    is_known = not slots.numel() and len(blocks) > 1
    first = blocks[0].qkv(blocks[0].norm_1(rows)) if is_known else None
    plans = {only_ends: plan_attention(packing, only_ends, len(rows), heads, rows) for only_ends in (False, True)}

    def remember(index: int, block: Block, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        pairs.append((key, value))
        return attend_all(index, block, query, key, value)

    run_blocks(blocks, start, remember)
    return PackedSentences(packing, rows, first, tuple(pairs), slots, plans, block)


@dataclass(frozen=True)
class Insertions:
    """What G passes put among C packed sentences."""

    shared: Tensor  # float[G, N, W], at positions 1..N, position embeddings included
    slots: Tensor  # float[G, S, W], fills the slots of every sentence, without position embeddings
    replace: dict[int, Tensor]  # block -> float[G, n, W], put at positions 1..n at its input
    per_class: dict[int, Tensor]  # block -> float[G, C, n, W], packed; from there on only the start token is shared

    def part(self, groups: slice, places: slice) -> "Insertions":
        return Insertions(
            self.shared[groups],
            self.slots[groups],
            {index: rows[groups] for index, rows in self.replace.items()},
            {index: rows[groups, places] for index, rows in self.per_class.items()},
        )

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return self.shared, self.slots, *self.replace.values(), *self.per_class.values()

    def over(self, shared: Tensor, slots: Tensor, *others: Tensor) -> "Insertions":
        """Return the insertions with other rows, in the order of `tensors`."""
        rows = iter(others)
        replace = {index: next(rows) for index in self.replace}
        return Insertions(shared, slots, replace, {index: next(rows) for index in self.per_class})


def encode_packed(
    tower: TextTower,
    shared_rows: Tensor,
    sentences: PackedSentences,
    slot_rows: Tensor | None = None,
    replace: dict[int, Tensor] | None = None,
    replace_per_class: dict[int, Tensor] | None = None,
) -> Tensor:
    """Return unnormalised joint embeddings float[G, C, D] of C sentences under each of G sets of shared rows."""
    # Rows are those of `Insertions`; replacements also without their G axis, those per class in the sentences' own
    # order.
    groups, order = len(shared_rows), sentences.packing.order
    count = order.shape[1]
    slot_rows = shared_rows[:, :0] if slot_rows is None else slot_rows
    replace = {index: rows.expand(groups, -1, -1) for index, rows in (replace or {}).items()}
    per_class = {
        index: rows.index_select(-3, order[0]).expand(groups, -1, -1, -1)
        for index, rows in (replace_per_class or {}).items()
    }
    whole = Insertions(shared_rows, slot_rows, replace, per_class)

    def part(some: slice, places: slice):
        insertions = whole.part(some, places)

        def run(*rows: Tensor) -> Tensor:
            # The sentences are cut inside, where no transform of `torch.func` has wrapped them yet.
            return _encode_part(tower, sentences.part(some, places), insertions.over(*rows))

        return run, insertions.tensors

    # Groups are cut first, because every further cut of the classes computes the shared rows again.
    rows = sentences.packing.rows + sentences.packing.shared * (count - 1 if per_class else 0)
    by_group, by_place = spans(groups, rows), spans(count, rows / count)
    pieces = iter(run_parts([part(some, places) for some in by_group for places in by_place], tower))
    pooled = torch.cat([torch.cat([next(pieces) for _ in by_place], dim=1) for _ in by_group])
    places = order.argsort(dim=1)
    return select_rows(pooled, places[0] if len(places) == 1 else places)


def _encode_part(tower: TextTower, sentences: PackedSentences, insertions: Insertions) -> Tensor:
    behind = sentences.rows.expand(len(insertions.shared), -1, -1)
    if sentences.slots.shape[1]:
        filling = insertions.slots.repeat(1, len(sentences.slots), 1)
        behind = behind.index_add(1, sentences.slots.flatten(), filling)
    journey = _Journey(sentences, insertions)
    rows = torch.cat([insertions.shared, behind], dim=1)
    first = None if sentences.first is None or 0 in insertions.per_class else sentences.first.expand(len(rows), -1, -1)
    blocks = tower.blocks[sentences.block :]
    rows = run_blocks(blocks, rows, journey.attend, edit=journey.edit, keep=journey.ends, first=first)
    return tower.finish(rows)


class _Journey:
    """One pass through the blocks: the packing in force, who sees whom under it, and the rows replaced on the way."""

    def __init__(self, sentences: PackedSentences, insertions: Insertions):
        self.packing, self.start, self.block = sentences.packing, sentences.start, sentences.block
        self.plans = dict(sentences.plans) if len(insertions.shared) == len(sentences.rows) else {}
        self.replace, self.per_class = insertions.replace, insertions.per_class
        ends = (unshare(self.packing) if self.per_class else self.packing).ends
        self.ends = ends[0] if len(ends) == 1 else ends

    def edit(self, index: int, rows: Tensor) -> Tensor:
        if self.block + index in self.replace:
            rows = self._put(rows, self.replace[self.block + index].unsqueeze(1))
        if self.block + index in self.per_class:
            rows = self._put(self._own_copies(rows), self.per_class[self.block + index])
        return rows

    def _own_copies(self, rows: Tensor) -> Tensor:
        """Every sentence with its own copy of the shared rows."""
        before, self.packing, self.plans = self.packing, unshare(self.packing), {}
        count, shared = len(before.lengths), before.shared
        copies = rows[:, None, :shared].expand(-1, count, -1, -1).flatten(1, 2)
        whole = torch.cat([copies, rows[:, shared:]], dim=1)
        # Sorted by sentence, and within a sentence as they come: copies first.
        sentence = torch.arange(count, device=rows.device)
        ids = sentence.repeat_interleave(torch.tensor(before.lengths, device=rows.device))
        sentence = torch.cat([sentence.repeat_interleave(shared), ids])
        return whole.index_select(1, sentence.argsort(stable=True))

    def _put(self, rows: Tensor, new: Tensor) -> Tensor:
        """Rows with new [G, C or 1, n, W] at positions 1..n."""
        count, packing = new.shape[2], self.packing
        if packing.shared:
            return torch.cat([new[:, 0], rows[:, count:]], dim=1)
        new = new.expand(-1, len(packing.lengths), -1, -1).flatten(1, 2)
        first = packing.starts[:, None] + torch.arange(count, device=rows.device)
        return rows.index_copy(1, first.flatten(), new)

    def attend(self, index: int, block: Block, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        only_ends = query.shape[1] != key.shape[1]
        if only_ends not in self.plans:
            self.plans[only_ends] = plan_attention(self.packing, only_ends, len(query), block.heads, query)
        start = [row.expand(len(key), 1, -1) for row in self.start[index]]
        scaled = query * (query.shape[-1] // block.heads) ** -0.5
        return attend_packed(torch.cat([scaled, key, value, *start], dim=1), self.plans[only_ends])
