"""Causal attention of packed sentences in few large operations.

A sentence's rows see the start token and the shared rows (the prefix), and their own earlier rows. In a tower as narrow
as 128 features, half of a training step went into cutting and copying small tensors: here one gather brings everything
into the order in which the products want it, head by head, and another brings the results back.
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from openworld.backbones.gathering import Gather
from openworld.backbones.packing import Packing


class Piece(NamedTuple):
    """Queries of C sentences in each lane (a group's head), and what they see."""

    query: Tensor  # [lanes, C * Q, d]
    key: Tensor  # [lanes * C, L, d], the sentences' own, as the values
    value: Tensor
    prefix_key: Tensor  # [lanes, P, d], as the values
    prefix_value: Tensor
    unseen: Tensor  # see `Plan`

    def attend(self) -> Tensor:
        """Results like the queries."""
        behind = torch.baddbmm(self.unseen, self._apart(self.query), self.key.mT)
        weights = torch.cat([self.query @ self.prefix_key.mT, self._together(behind)], -1).softmax(-1)
        before, behind = weights.split_with_sizes((self.prefix_key.shape[1], self.key.shape[1]), -1)
        return torch.baddbmm(self._together(self._apart(behind) @ self.value), before, self.prefix_value)

    # Shapes in numbers and methods of the tensors' base class: hundreds of views a step, each a few microseconds less.

    def _apart(self, rows: Tensor) -> Tensor:
        """[lanes, C * n, ..] as [lanes * C, n, ..]."""
        return rows.reshape(self.key.shape[0], -1, rows.shape[2])

    def _together(self, rows: Tensor) -> Tensor:
        """[lanes * C, n, ..] as [lanes, C * n, ..]."""
        return rows.reshape(self.query.shape[0], -1, rows.shape[2])


class Plan(NamedTuple):
    """How the rows of a block attend."""

    inputs: Gather  # query rows, key rows, value rows, and the start token's key and value, in this order
    outputs: Gather  # query rows
    shared: bool  # whether the shared rows have queries
    counts: tuple[int, ...]  # sentences in each bucket
    unseen: tuple[Tensor, ...]  # per query set, what is added to its own scores: minus infinity where a key is not seen

    def pieces(self, taken: Tensor) -> Iterator[Piece]:
        """Queries with the keys and values that they see: of the shared rows, then of each bucket."""
        key, value, *parts = self.inputs.parts(taken)
        lanes, _, width = key.shape
        masks = iter(self.unseen)
        if self.shared:
            # What precedes the shared rows is the start token; they are a sentence of their own.
            yield Piece(parts.pop(0), key[:, 1:], value[:, 1:], key[:, :1], value[:, :1], next(masks))
        for place, count in enumerate(self.counts):
            query, *behind = parts[3 * place : 3 * place + 3]
            yield Piece(query, *(rows.reshape(lanes * count, -1, width) for rows in behind), key, value, next(masks))


def plan_attention(packing: Packing, only_ends: bool, groups: int, heads: int, like: Tensor) -> Plan:
    """Return the plan of G groups of sentences; with `only_ends` the end rows alone have queries."""
    inputs, outputs = (order.gather(groups, heads) for order in (packing.end_rows if only_ends else packing.all_rows))
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
    taken = plan.inputs.take(rows)
    return plan.outputs.put_back([piece.attend() for piece in plan.pieces(taken)])
