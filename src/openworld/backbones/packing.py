"""Many sentences in one tensor: shared first rows once, then every sentence's own rows.

In a causal tower a row never sees later rows, so four exact savings follow, and this file is where they live:
rows after the end token are left out; rows that all sentences share (context, template) are computed once and their
keys and values are seen by all; the start token's keys and values are constants, computed once per block; and in the
last block only the pooled rows are computed (`keep` of `run_blocks`). Sentences are sorted by length, so that equally
long ones lie side by side in a bucket, and attention needs no gathering. Every bucket costs a launch of a dozen small
operations in every block; where a tower is so narrow that some more rows cost less, shorter sentences are lengthened to
the next bucket by rows behind their end token, which nothing ever sees.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import torch
from torch import Tensor

from openworld.backbones.blocks import (
    Block,
    KeysAndValues,
    attend_all,
    join_heads,
    run_blocks,
    select_rows,
    split_heads,
)
from openworld.backbones.bounded import run_parts, spans
from openworld.backbones.towers import TextTower

SPARE = 2**18  # divided by W^2: so many rows of width W cost less than the launches of a bucket (bench/steps.py)


@dataclass(frozen=True)
class Bucket:
    """`count` sentences with `length` own rows each, from packed place `place` and row `start` of the packed tensor."""

    place: int
    start: int
    count: int
    length: int

    @property
    def places(self) -> slice:
        """The packed places of its sentences."""
        return slice(self.place, self.place + self.count)

    @property
    def stop(self) -> int:
        """The row after its last."""
        return self.start + self.count * self.length

    def view(self, rows: Tensor) -> Tensor:
        """The bucket's rows of [G, T, W] as [G, count, length, W]."""
        return rows[:, self.start : self.stop].unflatten(1, (self.count, self.length))


@dataclass(frozen=True)
class Packing:
    """Where the rows of C sentences lie: `shared` rows, then buckets of ascending length.

    order, ends: int64[L, C] for L lists of C sentences, the sentence that stands at each packed place and the row of
    its end token. One list serves any number of passes; several serve one pass each.
    """

    shared: int
    buckets: tuple[Bucket, ...]
    order: Tensor
    ends: Tensor

    @property
    def lengths(self) -> list[int]:
        """Rows that each packed place has."""
        return [bucket.length for bucket in self.buckets for _ in range(bucket.count)]

    @property
    def starts(self) -> Tensor:
        """int64[C], the first row of each packed place."""
        lengths = torch.tensor(self.lengths, device=self.ends.device)
        return self.shared + lengths.cumsum(0) - lengths

    def behind_ends(self, bucket: Bucket) -> Tensor:
        """bool[L, 1, count, 1, length], which rows of a bucket's sentences lie behind their end token."""
        rows = torch.arange(bucket.length, device=self.ends.device)
        return rows > (self.ends - self.starts)[:, None, bucket.places, None, None]

    def relaid(self, lengths: Sequence[int], shared: int, places: slice = slice(None)) -> "Packing":
        """The same sentences, or those at some places, with other rows before their own: end tokens stay last."""
        laid = Packing(shared, _buckets(lengths, shared), self.order[:, places], self.ends[:, places])
        before = [after - rows for after, rows in zip(lengths, self.lengths[places], strict=True)]
        moved = laid.starts - self.starts[places] + torch.tensor(before, device=self.ends.device)
        return replace(laid, ends=laid.ends + moved)


def pack_lengths(
    lists: Sequence[Sequence[int]], shared: int, *, spare: int = 0, device: torch.device | None = None
) -> Packing:
    """The packing of lists of sentences with so many own rows (each at least 1) after `shared` common rows.

    spare: rows that may be added to a bucket's sentences for one bucket less.

    >>> pack_lengths([[3, 2, 3]], shared=4).buckets
    (Bucket(place=0, start=4, count=1, length=2), Bucket(place=1, start=6, count=2, length=3))
    >>> pack_lengths([[3, 2, 3]], shared=4, spare=1).buckets
    (Bucket(place=0, start=4, count=3, length=3),)
    """
    own = torch.tensor(lists, dtype=torch.int64)
    own, order = own.sort(dim=1, stable=True)
    room = lengthen(own.amax(dim=0).tolist(), spare)
    packing = Packing(shared, _buckets(room, shared), order.to(device), own.to(device))
    return replace(packing, ends=packing.starts + packing.ends - 1)


def lengthen(lengths: Sequence[int], spare: int) -> list[int]:
    """Ascending lengths, the shorter ones raised to the next where that adds at most `spare` rows.

    >>> lengthen([2, 3, 3, 5], spare=1)
    [3, 3, 3, 5]
    """
    room, last = [], lengths[-1]
    for length, alike in reversed([(length, len(list(alike))) for length, alike in groupby(lengths)]):
        last = last if alike * (last - length) <= spare else length
        room = [last] * alike + room
    return room


def unshare(packing: Packing) -> Packing:
    """The packing once every sentence owns a copy of the formerly shared rows; places stay.

    >>> unshare(pack_lengths([[3, 2]], shared=4)).buckets
    (Bucket(place=0, start=0, count=1, length=6), Bucket(place=1, start=6, count=1, length=7))
    """
    return packing.relaid([length + packing.shared for length in packing.lengths], 0)


def _buckets(lengths: Sequence[int], shared: int) -> tuple[Bucket, ...]:
    buckets, place, start = [], 0, shared
    for length, alike in groupby(lengths):
        buckets.append(Bucket(place, start, len(list(alike)), length))
        place, start = buckets[-1].places.stop, buckets[-1].stop
    return tuple(buckets)


@dataclass(frozen=True)
class PackedSentences:
    """Sentences prepared for many passes: their packing, own rows and the start token's keys and values.

    rows: float[L, R, W], token and position embeddings of the sentences' own rows, in packed order; position alone
    where a slot is. start: for each block the start token's (key, value), each float[1, W].
    slots: int64[C, S], for each packed place those rows of `rows` that a pass fills.
    """

    packing: Packing
    rows: Tensor
    start: KeysAndValues
    slots: Tensor

    def part(self, groups: slice, places: slice) -> "PackedSentences":
        """The sentences of some passes at some packed places."""
        packing, rows = self.packing, self.rows
        if len(rows) > 1:
            packing = replace(packing, order=packing.order[groups], ends=packing.ends[groups])
            rows = rows[groups]
        lengths = packing.lengths
        if lengths[places] != lengths:
            first, stop = sum(lengths[: places.start]), sum(lengths[: places.stop])
            packing, rows = packing.relaid(lengths[places], packing.shared, places), rows[:, first:stop]
            return PackedSentences(packing, rows, self.start, self.slots[places] - first)
        return PackedSentences(packing, rows, self.start, self.slots)


def pack_sentences(
    tower: TextTower,
    lists: Sequence[Sequence[Sequence[int]]],
    shared: int,
    slots: Sequence[range] | None = None,
) -> PackedSentences:
    """Prepare token ids (start token, `shared` rows, own rows, end token) for `encode_packed`.

    lists: one list of C sentences for all passes, or one for each; a sentence has token ids, at least shared + 2, and
    ends with its end token.
    slots: of each sentence of one list, the positions behind the shared rows that a pass fills, equally many.
    """
    device = tower.positions.device
    own = [[len(sentence) - 1 - shared for sentence in sentences] for sentences in lists]
    packing = pack_lengths(own, shared, spare=SPARE // tower.config.width**2, device=device)
    room, order = packing.lengths, packing.order.tolist()
    padded = [
        [token for pair in zip(places, room, strict=True) for token in _own_tokens(sentences, *pair, shared)]
        for sentences, places in zip(lists, order, strict=True)
    ]
    positions = torch.cat([torch.arange(1 + shared, 1 + shared + length, device=device) for length in room])
    rows = tower.tokens(torch.tensor(padded, device=device))
    inside = torch.tensor([list(slots[place]) if slots else [] for place in order[0]], dtype=torch.int64, device=device)
    filled = packing.starts[:, None] - shared + inside - 1 - shared
    rows = rows.index_fill(1, filled.flatten(), 0) + tower.positions[positions]
    return PackedSentences(packing, rows, start_keys_and_values(tower, lists[0][0][0]), filled)


def _own_tokens(sentences: Sequence[Sequence[int]], place: int, length: int, shared: int) -> list[int]:
    """A sentence's own tokens, and as many end tokens behind them as are missing."""
    own = list(sentences[place][1 + shared :])
    return own + own[-1:] * (length - len(own))


def start_keys_and_values(tower: TextTower, token: int) -> KeysAndValues:
    """Keys and values of the start token at every block: constants, because it sees only itself."""
    seen = []

    def remember(index: int, block: Block, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        seen.append((key, value))
        return attend_all(index, block, query, key, value)

    row = tower.tokens.weight[token] + tower.positions[0]
    run_blocks(tower.blocks, row[None], remember)
    return tuple(seen)


@dataclass(frozen=True)
class Insertions:
    """What G passes put among C packed sentences.

    shared: float[G, N, W], what stands at positions 1..N, position embeddings included.
    slots: float[G, S, W], what fills the slots of every sentence, without position embeddings.
    replace: block index -> float[G, n, W], rows that replace positions 1..n at that block's input.
    per_class: block index -> float[G, C, n, W], in packed order, the same for every sentence by itself; from there on
    nothing but the start token is shared.
    """

    shared: Tensor
    slots: Tensor
    replace: dict[int, Tensor]
    per_class: dict[int, Tensor]

    def part(self, groups: slice, places: slice) -> "Insertions":
        """Some of the passes over some of the sentences."""
        return Insertions(
            self.shared[groups],
            self.slots[groups],
            {index: rows[groups] for index, rows in self.replace.items()},
            {index: rows[groups, places] for index, rows in self.per_class.items()},
        )

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """All rows, one after the other."""
        return self.shared, self.slots, *self.replace.values(), *self.per_class.values()

    def over(self, shared: Tensor, slots: Tensor, *others: Tensor) -> "Insertions":
        """The same insertions with other rows, in the order of `tensors`."""
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
    """Unnormalised joint embeddings float[G, C, D] of C sentences under each of G sets of shared rows.

    sentences: one list of C for all sets, or one for each.
    shared_rows, slot_rows, replace, replace_per_class: see `Insertions`; the last two also without their G axis, and
    the last in the sentences' own order, and with one list alone.
    """
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
    rows = sum(sentences.packing.lengths) + sentences.packing.shared * (count if per_class else 1)
    by_group, by_place = spans(groups, rows), spans(count, rows / count)
    pieces = iter(run_parts([part(some, places) for some in by_group for places in by_place]))
    pooled = torch.cat([torch.cat([next(pieces) for _ in by_place], dim=1) for _ in by_group])
    places = order.argsort(dim=1)
    return select_rows(pooled, places[0] if len(places) == 1 else places)


def _encode_part(tower: TextTower, sentences: PackedSentences, insertions: Insertions) -> Tensor:
    """Embeddings float[G, C, D] in packed order."""
    own = sentences.rows.expand(len(insertions.shared), -1, -1)
    if sentences.slots.shape[1]:
        filling = insertions.slots.repeat(1, len(sentences.slots), 1)
        own = own.index_add(1, sentences.slots.flatten(), filling)
    journey = _Journey(sentences, insertions)
    rows = torch.cat([insertions.shared, own], dim=1)
    return tower.finish(run_blocks(tower.blocks, rows, journey.attend, edit=journey.edit, keep=journey.ends))


class _Journey:
    """One pass through the blocks: the packing in force, who sees whom under it, and the rows replaced on the way."""

    def __init__(self, sentences: PackedSentences, insertions: Insertions):
        self.packing, self.start = sentences.packing, sentences.start
        self.replace, self.per_class = insertions.replace, insertions.per_class
        ends = (unshare(self.packing) if self.per_class else self.packing).ends
        self.ends = ends[0] if len(ends) == 1 else ends

    def edit(self, index: int, rows: Tensor) -> Tensor:
        if index in self.replace:
            rows = self._put(rows, self.replace[index].unsqueeze(1))
        if index in self.per_class:
            rows = self._put(self._own_copies(rows), self.per_class[index])
        return rows

    def _own_copies(self, rows: Tensor) -> Tensor:
        """Every sentence with its own copy of the shared rows."""
        before, self.packing = self.packing, unshare(self.packing)
        shared = rows[:, None, : before.shared]
        copies = [(shared.expand(-1, bucket.count, -1, -1), bucket.view(rows)) for bucket in before.buckets]
        return torch.cat([torch.cat(pair, dim=2).flatten(1, 2) for pair in copies], dim=1)

    def _put(self, rows: Tensor, new: Tensor) -> Tensor:
        """Rows with new [G, C or 1, n, W] at positions 1..n."""
        count, packing = new.shape[2], self.packing
        if packing.shared:
            return torch.cat([new[:, 0], rows[:, count:]], dim=1)
        new = new.expand(-1, packing.order.shape[1], -1, -1)
        pieces = [(new[:, bucket.places], bucket.view(rows)[:, :, count:]) for bucket in packing.buckets]
        return torch.cat([torch.cat(pair, dim=2).flatten(1, 2) for pair in pieces], dim=1)

    def attend(self, index: int, block: Block, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return attend_packed(self.packing, self.start[index], block, (query, key, value))


def attend_packed(
    packing: Packing, start: tuple[Tensor, Tensor], block: Block, projections: tuple[Tensor, Tensor, Tensor]
) -> Tensor:
    """Causal attention under a packing: start token, shared rows, then each sentence's own rows.

    projections: query, key, value float[G, N + R, W]; queries may also be those of the end rows alone, [G, C, W].
    """
    query, key, value = projections
    shared, only_ends = packing.shared, query.shape[1] != key.shape[1]
    start = [row.expand(len(key), 1, -1) for row in start]
    prefix = [torch.cat([row, rows[:, :shared]], dim=1) for row, rows in zip(start, (key, value), strict=True)]
    pieces = []
    if shared and not only_ends:
        unseen = _later(shared, key.device)
        pieces.append(_attend_behind(start, *(rows[:, None, :shared] for rows in projections), unseen, block.heads))
    for bucket in packing.buckets:
        own_query = query[:, bucket.places].unsqueeze(2) if only_ends else bucket.view(query)
        unseen = packing.behind_ends(bucket) if only_ends else _later(bucket.length, key.device)
        pieces.append(_attend_behind(prefix, own_query, bucket.view(key), bucket.view(value), unseen, block.heads))
    return torch.cat(pieces, dim=1)


def _later(rows: int, device: torch.device) -> Tensor | None:
    """bool[rows, rows], which rows are later than a row."""
    return torch.ones(rows, rows, dtype=torch.bool, device=device).triu(1) if rows > 1 else None


def _attend_behind(
    prefix: Sequence[Tensor], query: Tensor, key: Tensor, value: Tensor, unseen: Tensor | None, heads: int
) -> Tensor:
    """Attention of [G, C, Q, W] over a prefix's keys and values [G, P, W], then over own ones [G, C, L, W].

    unseen: own rows that a query does not see, bool[..., Q, L]. Returns [G, C * Q, W]. Written out: a fused kernel
    would need a copy of the prefix for every sentence, and has no rule for `torch.func.vmap`.
    """
    shape, own = query.shape[1:3], key.shape[2]
    query, key, value = (rows.unflatten(-1, (heads, -1)).permute(0, 3, 1, 2, 4) for rows in (query, key, value))
    query = query * query.shape[-1] ** -0.5
    prefix_key, prefix_value = (split_heads(rows, heads) for rows in prefix)
    scores = query @ key.mT
    if unseen is not None:
        scores = scores.masked_fill(unseen, -torch.inf)
    before = (query.flatten(2, 3) @ prefix_key.mT).unflatten(2, shape)
    before, scores = torch.cat([before, scores], -1).softmax(-1).split([prefix_key.shape[2], own], -1)
    mixed = before.flatten(2, 3) @ prefix_value + (scores @ value).flatten(2, 3)
    return join_heads(mixed)
