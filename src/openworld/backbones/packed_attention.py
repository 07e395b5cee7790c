"""Causal attention of packed sentences, forward and backward written out in few large operations.

A sentence's rows see the start token and the shared rows, which all sentences have in common (the prefix), and their
own earlier rows. In a tower as narrow as 128 features, half of a training step went into cutting, copying and counting
references of small tensors. Here one gather brings everything into the order in which the products want it, head by
head: the prefix's keys and values, the shared rows' queries, then each bucket's queries, keys and values. One gather
brings the results back. The backward pass of scores S = Q K', weights A = softmax(S) and results R = A V is

    dV = A' dR,   dA = dR V',   dS = A * (dA - sum of dA * A),   dQ = dS K,   dK = dS' Q,

where the columns of S and A are the prefix's and then the sentence's own, and the prefix gets the sum over sentences.
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from openworld._errors import OpenworldError
from openworld.backbones.gathering import Gather
from openworld.backbones.packing import Packing


class Piece(NamedTuple):
    """Queries [lanes, C * Q, d] of C sentences in each lane (a group's head), and what they see.

    key, value: [lanes * C, L, d], the sentences' own. prefix_key, prefix_value: [lanes, P, d]. unseen: see `Plan`.
    """

    query: Tensor
    key: Tensor
    value: Tensor
    prefix_key: Tensor
    prefix_value: Tensor
    unseen: Tensor

    def attend(self) -> tuple[Tensor, Tensor]:
        """Results like the queries, and weights [lanes, C * Q, P + L]."""
        own = torch.baddbmm(self.unseen, self._apart(self.query), self.key.mT)
        weights = torch.cat([self.query @ self.prefix_key.mT, self._together(own)], -1).softmax(-1)
        before, own = self._columns(weights)
        return torch.baddbmm(self._together(self._apart(own) @ self.value), before, self.prefix_value), weights

    def differentiate(self, weights: Tensor, gradient: Tensor) -> tuple[Tensor, ...]:
        """Gradients [lanes, .., d] of query, key, value, prefix key and prefix value."""
        before, own = self._columns(weights)
        query, own, apart = self._apart(self.query), self._apart(own), self._apart(gradient)
        of_own = self._together(apart @ self.value.mT)
        of_weights = torch.cat([gradient @ self.prefix_value.mT, of_own], -1)
        of_scores = torch._softmax_backward_data(of_weights, weights, -1, weights.dtype)
        of_before, of_own = self._columns(of_scores)
        of_own = self._apart(of_own)
        of_query = torch.baddbmm(self._together(of_own @ self.key), of_before, self.prefix_key)
        of_key, of_value = self._together(of_own.mT @ query), self._together(own.mT @ apart)
        return of_query, of_key, of_value, of_before.mT @ self.query, before.mT @ gradient

    # Shapes in numbers and methods of the tensors' base class: hundreds of views a step, each a few microseconds less.

    def _apart(self, rows: Tensor) -> Tensor:
        """[lanes, C * n, ..] as [lanes * C, n, ..]."""
        return rows.reshape(self.key.shape[0], -1, rows.shape[2])

    def _together(self, rows: Tensor) -> Tensor:
        """[lanes * C, n, ..] as [lanes, C * n, ..]."""
        return rows.reshape(self.query.shape[0], -1, rows.shape[2])

    def _columns(self, weights: Tensor) -> tuple[Tensor, Tensor]:
        return weights.split_with_sizes((self.prefix_key.shape[1], self.key.shape[1]), -1)


class Plan(NamedTuple):
    """How the rows of a block attend.

    inputs: of the query rows, key rows, value rows, and the start token's key and value, in this order. outputs: of the
    query rows. shared: whether the shared rows have queries. counts: sentences in each bucket.
    unseen: for the shared rows, if they have queries, and for each bucket, what is added to its own scores
    [G * heads * count, Q, L], in a shape that expands to it: minus infinity where a key is not seen.
    """

    inputs: Gather
    outputs: Gather
    shared: bool
    counts: tuple[int, ...]
    unseen: tuple[Tensor, ...]

    def pieces(self, taken: Tensor) -> Iterator[Piece]:
        """Queries with the keys and values that they see: of the shared rows, then of each bucket."""
        key, value, *parts = self.inputs.parts(taken)
        lanes, _, width = key.shape
        masks = iter(self.unseen)
        if self.shared:
            # What precedes the shared rows is the start token; they are a sentence of their own.
            yield Piece(parts.pop(0), key[:, 1:], value[:, 1:], key[:, :1], value[:, :1], next(masks))
        for place, count in enumerate(self.counts):
            query, *own = parts[3 * place : 3 * place + 3]
            yield Piece(query, *(rows.reshape(lanes * count, -1, width) for rows in own), key, value, next(masks))

    def put_back(self, found: list[tuple[Tensor, ...]]) -> Tensor:
        """Rows [G, M, W] of each piece's gradients."""
        of_key, of_value = (sum(seen) for seen in list(zip(*found[self.shared :], strict=True))[3:])
        parts = []
        if self.shared:
            query, key, value, start_key, start_value = found[0]
            of_key, of_value = of_key + torch.cat([start_key, key], 1), of_value + torch.cat([start_value, value], 1)
            parts = [query]
        parts += [part for gradients in found[self.shared :] for part in gradients[:3]]
        return self.inputs.put_back([of_key, of_value, *parts])


def plan_attention(packing: Packing, only_ends: bool, groups: int, heads: int, like: Tensor) -> Plan:
    """The plan of G groups of sentences. only_ends: the end rows alone have queries. like: of the rows' type."""
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


class PackedAttention(torch.autograd.Function):
    """Results [G, Q, W] of rows [G, M, W] under a plan. The queries among the rows are scaled already."""

    generate_vmap_rule = True

    @staticmethod
    def forward(rows: Tensor, plan: Plan) -> tuple[Tensor, ...]:
        taken = plan.inputs.take(rows)
        results, weights = zip(*(piece.attend() for piece in plan.pieces(taken)), strict=True)
        return plan.outputs.put_back(results), taken, *weights

    @staticmethod
    def setup_context(context, inputs: tuple, outputs: tuple[Tensor, ...]) -> None:
        context.plan = inputs[1]
        context.save_for_backward(*outputs[1:])
        context.set_materialize_grads(False)

    @staticmethod
    def backward(context, gradient: Tensor | None, *of_kept: Tensor | None) -> tuple[Tensor | None, None]:
        # What is kept is a result, so that a second derivative arrives here instead of being lost in silence.
        if any(one is not None for one in of_kept):
            raise OpenworldError("packed sentences have no second derivative; run the text tower on whole sentences.")
        if gradient is None:
            return None, None
        # Views of what has a history cost twice as much, even where no gradient is taken.
        kept = context.saved_tensors if torch.is_grad_enabled() else (one.detach() for one in context.saved_tensors)
        plan, (taken, *weights) = context.plan, kept
        pieces = zip(plan.pieces(taken), weights, plan.outputs.parts(plan.outputs.take_once(gradient)), strict=True)
        return plan.put_back([piece.differentiate(*given) for piece, *given in pieces]), None
