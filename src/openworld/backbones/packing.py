"""Packed sentences: where their rows lie, in which order attention reads them, and causal attention in few operations.

A sentence's rows see the start token and the shared rows (the prefix), and their own earlier rows. In a tower as narrow
as 128 features, half of a training step went into cutting and copying small tensors: here one gather brings everything
into the order in which the products want it, part by part and head by head, and another brings the results back.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

import torch
from torch import Tensor

Order = tuple[Tensor, tuple[int, ...], Tensor]
"""Rows of a tensor [G, M, W] in parts: the row at each place, int64[X]; places of each part; where each row stands."""


def order_rows(parts: Sequence[Tensor], padding: Sequence[Tensor | None]) -> Order:
    """Return the order with these rows in its parts; `padding` says bool for each part which places are padding."""
    # Every row stands in one part, and may repeat as padding.
    rows = torch.cat(list(parts))
    pairs = zip(parts, padding, strict=True)
    padded = torch.cat([torch.zeros_like(part, dtype=torch.bool) if mask is None else mask for part, mask in pairs])
    real = (~padded).nonzero()[:, 0]
    return rows, tuple(map(len, parts)), real[rows[real].argsort()]


def gather_rows(order: Order, groups: int, heads: int) -> "Gather":
    """Return the indices of an order for G groups, head by head."""
    rows, sizes, places_of_rows = order
    device, lanes = rows.device, groups * heads
    group, head = torch.arange(groups, device=device)[:, None], torch.arange(heads, device=device)
    # Rows [G, M, heads * d] as flat rows [G * M * heads, d]: one index for every group, row and head.
    source = (group * len(places_of_rows) + rows[:, None, None]) * heads + head
    source = source.flatten(1).T
    there = torch.cat([part.flatten() for part in source.split(sizes, dim=1)])
    places = torch.arange(lanes * len(rows), device=device).split([lanes * size for size in sizes])
    taken = torch.cat([part.unflatten(0, (lanes, -1)).T for part in places])
    back = taken[places_of_rows].unflatten(1, (groups, heads)).transpose(0, 1)
    return Gather(there, back.flatten(), sizes, groups, heads)


class Gather(NamedTuple):
    """Indices between rows [G, M, W] and parts [G * heads, size, d] of an `Order`."""

    there: Tensor
    back: Tensor
    sizes: tuple[int, ...]
    groups: int
    heads: int

    def take(self, rows: Tensor) -> Tensor:
        """Rows [G, M, W] in parts, one after the other: [.., d]."""
        return rows.reshape(-1, rows.shape[-1] // self.heads).index_select(0, self.there)

    def parts(self, taken: Tensor) -> list[Tensor]:
        """The parts [G * heads, size, d] of what `take` returned."""
        lanes, width = self.groups * self.heads, taken.shape[1]
        return [
            part.reshape(lanes, -1, width) for part in taken.split_with_sizes([lanes * size for size in self.sizes])
        ]

    def put_back(self, parts: Sequence[Tensor]) -> Tensor:
        """Parts [G * heads, size, d] as rows [G, M, W]."""
        width = parts[0].shape[2]
        rows = torch.cat([part.reshape(-1, width) for part in parts]).index_select(0, self.back)
        return rows.reshape(self.groups, -1, self.heads * width)


@dataclass(frozen=True)
class Bucket:
    """`count` sentences from packed place `place` on, padded to `length` own rows each in attention."""

    place: int
    count: int
    length: int

    @property
    def places(self) -> slice:
        return slice(self.place, self.place + self.count)


@dataclass(frozen=True)
class Packing:
    """Where the rows of C sentences lie: `shared` rows, then those of each sentence, ascending in length."""

    shared: int
    lengths: tuple[int, ...]  # own rows at each packed place
    spare: int  # see `pack_lengths`
    order: Tensor  # int64[L, C] for L lists, the sentence at each packed place
    ends: Tensor  # int64[L, C], the row of its end token

    @property
    def rows(self) -> int:
        return self.shared + sum(self.lengths)

    @cached_property
    def starts(self) -> Tensor:
        """int64[C], the first row of each packed place."""
        lengths = torch.tensor(self.lengths, device=self.order.device)
        return self.shared + lengths.cumsum(0) - lengths

    @cached_property
    def buckets(self) -> tuple[Bucket, ...]:
        """Sentences that attend at once."""
        buckets, place = [], 0
        for length, alike in groupby(lengthen(self.lengths, self.spare)):
            buckets.append(Bucket(place, len(list(alike)), length))
            place = buckets[-1].places.stop
        return tuple(buckets)

    @cached_property
    def all_rows(self) -> tuple[Order, Order]:
        """Orders of query, key and value rows and the start token's key and value, and of the query rows alone."""
        return self._orders(only_ends=False)

    @cached_property
    def end_rows(self) -> tuple[Order, Order]:
        """The same where the end rows alone have queries."""
        return self._orders(only_ends=True)

    def _orders(self, only_ends: bool) -> tuple[Order, Order]:
        prefix = torch.arange(self.shared, device=self.order.device)
        key = len(self.lengths) if only_ends else self.rows
        value, start = key + self.rows, key + 2 * self.rows
        first = torch.tensor([start], device=prefix.device)
        parts, padding = [torch.cat([first, key + prefix]), torch.cat([first + 1, value + prefix])], [None, None]
        queries, padded = ([prefix], [None]) if self.shared and not only_ends else ([], [])
        parts, padding = parts + queries, padding + padded
        for bucket in self.buckets:
            places = torch.arange(bucket.place, bucket.places.stop, device=prefix.device)
            starts, within = self.starts[bucket.places, None], torch.arange(bucket.length, device=prefix.device)
            lengths = torch.tensor(self.lengths[bucket.places], device=prefix.device)[:, None]
            rows, behind = (starts + within.minimum(lengths - 1)).flatten(), (within >= lengths).flatten()
            queries.append(places if only_ends else rows)
            padded.append(None if only_ends else behind)
            parts += [queries[-1], key + rows, value + rows]
            padding += [padded[-1], behind, behind]
        return order_rows(parts, padding), order_rows(queries, padded)

    def behind_ends(self, bucket: Bucket) -> Tensor:
        """bool[L, 1, count, 1, length], which rows of a bucket's sentences lie behind their end token."""
        rows = torch.arange(bucket.length, device=self.ends.device)
        return rows > (self.ends - self.starts)[:, None, bucket.places, None, None]

    def relaid(self, lengths: Sequence[int], shared: int, places: slice = slice(None)) -> "Packing":
        """Return the sentences, or those at some places, with other rows before their own: end tokens stay last."""
        laid = Packing(shared, tuple(lengths), self.spare, self.order[:, places], self.ends[:, places])
        before = [after - rows for after, rows in zip(lengths, self.lengths[places], strict=True)]
        moved = laid.starts - self.starts[places] + torch.tensor(before, device=self.ends.device)
        return replace(laid, ends=laid.ends + moved)


def pack_lengths(
    lists: Sequence[Sequence[int]], shared: int, *, spare: int = 0, device: torch.device | None = None
) -> Packing:
    """Return the packing of lists of sentences with so many own rows (each at least 1) after `shared` ones."""
    # `spare`: rows that padding may add to a bucket's sentences for one bucket less.
    lengths = torch.tensor(lists, dtype=torch.int64)
    lengths, order = lengths.sort(dim=1, stable=True)
    packing = Packing(shared, tuple(lengths.amax(dim=0).tolist()), spare, order.to(device), lengths.to(device))
    return replace(packing, ends=packing.starts + packing.ends - 1)


def lengthen(lengths: Sequence[int], spare: int) -> list[int]:
    """Return ascending lengths, the shorter ones raised to the next where that adds at most `spare` rows."""
    room, last = [], lengths[-1]
    for length, alike in reversed([(length, len(list(alike))) for length, alike in groupby(lengths)]):
        last = last if alike * (last - length) <= spare else length
        room = [last] * alike + room
    return room


def unshare(packing: Packing) -> Packing:
    """Return the packing once every sentence owns a copy of the formerly shared rows; places stay."""
    return packing.relaid([length + packing.shared for length in packing.lengths], 0)


class Plan(NamedTuple):
    """How the rows of a block attend."""

    inputs: Gather  # query rows, key rows, value rows, and the start token's key and value, in this order
    outputs: Gather  # query rows
    shared: bool  # whether the shared rows have queries
    counts: tuple[int, ...]  # sentences in each bucket
    unseen: tuple[Tensor, ...]  # per query set, what is added to its own scores: minus infinity where a key is not seen


def plan_attention(packing: Packing, only_ends: bool, groups: int, heads: int, like: Tensor) -> Plan:
    """Return the plan of G groups of sentences; with `only_ends` the end rows alone have queries."""
    orders = packing.end_rows if only_ends else packing.all_rows
    inputs, outputs = (gather_rows(order, groups, heads) for order in orders)
    shared = bool(packing.shared) and not only_ends
    buckets = packing.buckets
    if only_ends:
        every = (groups, heads, -1, -1, -1)
        hidden = [packing.behind_ends(bucket).expand(every).flatten(0, 2) for bucket in buckets]
    else:
        lengths = [packing.shared] * shared + [bucket.length for bucket in buckets]
        hidden = [torch.ones(rows, rows, dtype=torch.bool, device=like.device).triu(1) for rows in lengths]
    zero = torch.zeros((), dtype=like.dtype, device=like.device)
    unseen = tuple(zero.masked_fill(mask, -torch.inf) for mask in hidden)
    return Plan(inputs, outputs, shared, tuple(bucket.count for bucket in buckets), unseen)


def attend_packed(rows: Tensor, plan: Plan) -> Tensor:
    """Return the results [G, Q, W] of rows [G, M, W] under a plan; the queries among the rows are scaled already."""
    key, value, *parts = plan.inputs.parts(plan.inputs.take(rows))
    lanes, _, width = key.shape
    masks, results = iter(plan.unseen), []
    if plan.shared:
        # What precedes the shared rows is the start token; they are a sentence of their own.
        query = parts.pop(0)
        results.append(_attend(query, key[:, 1:], value[:, 1:], key[:, :1], value[:, :1], next(masks)))
    for place, count in enumerate(plan.counts):
        query, *behind = parts[3 * place : 3 * place + 3]
        behind = [part.reshape(lanes * count, -1, width) for part in behind]
        results.append(_attend(query, *behind, key, value, next(masks)))
    return plan.outputs.put_back(results)


def _attend(
    query: Tensor, key: Tensor, value: Tensor, prefix_key: Tensor, prefix_value: Tensor, unseen: Tensor
) -> Tensor:
    """Queries [lanes, C * Q, d] of C sentences over a prefix [lanes, P, d] and their own rows [lanes * C, L, d]."""
    # A lane is a group's head. Shapes in numbers and methods of the tensors' base class: hundreds of views a step, each
    # a few microseconds less.
    lanes, sentences, width = query.shape[0], key.shape[0], query.shape[2]
    behind = torch.baddbmm(unseen, query.reshape(sentences, -1, width), key.mT)
    scores = torch.cat([query @ prefix_key.mT, behind.reshape(lanes, -1, key.shape[1])], -1)
    before, behind = scores.softmax(-1).split_with_sizes((prefix_key.shape[1], key.shape[1]), -1)
    result = (behind.reshape(sentences, -1, key.shape[1]) @ value).reshape(lanes, -1, width)
    return torch.baddbmm(result, before, prefix_value)
