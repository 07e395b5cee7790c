"""Where the rows of packed sentences lie, and in which order attention reads them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

import torch
from torch import Tensor

from openworld.backbones.gathering import Order, order_rows


@dataclass(frozen=True)
class Bucket:
    """`count` sentences from packed place `place` on, padded to `length` own rows each in attention."""

    place: int
    count: int
    length: int

    @property
    def places(self) -> slice:
        """The packed places of its sentences."""
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
        """How many rows there are, the shared ones included."""
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
