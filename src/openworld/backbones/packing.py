"""Many sentences in one tensor without padding: shared first rows once, then every sentence's own rows.

In a causal tower a row never sees later rows, so four exact savings follow, and this file is where they live:
rows after the end token are left out; rows that all sentences share (context, template) are computed once and their
keys and values broadcast; the start token's keys and values are constants, computed once per block; and in the last
block only the pooled rows are computed (`keep` of `run_blocks`). Sentences are sorted by length, so that equally long
ones lie side by side and attention needs neither padding nor gathering.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from openworld.backbones.blocks import Block, attend_all, join_heads, run_blocks, split_heads
from openworld.backbones.towers import TextTower

KeysAndValues = tuple[tuple[Tensor, Tensor], ...]


@dataclass(frozen=True)
class Bucket:
    """`count` sentences with `length` own rows each; the first of their rows is row `start` of the packed tensor."""

    start: int
    count: int
    length: int

    @property
    def stop(self) -> int:
        return self.start + self.count * self.length

    def view(self, rows: Tensor) -> Tensor:
        """The bucket's rows of [G, T, W] as [G, count, length, W]."""
        return rows[:, self.start : self.stop].unflatten(1, (self.count, self.length))


@dataclass(frozen=True)
class Packing:
    """Where the rows of C sentences lie: `shared` rows, then buckets of ascending length.

    order: int64[C], the sentence that stands at each packed place. ends: int64[C], the row of the end token of the
    sentence at each packed place.
    """

    shared: int
    buckets: tuple[Bucket, ...]
    order: Tensor
    ends: Tensor

    def unpack(self, pooled: Tensor) -> Tensor:
        """Pooled rows [G, C, W] from packed places back to the sentences' own order."""
        return pooled[:, self.order.argsort()]


def pack_lengths(lengths: Sequence[int], shared: int, device: torch.device | None = None) -> Packing:
    """The packing of sentences with `lengths` own rows (each at least 1) after `shared` common rows.

    >>> pack_lengths([3, 2, 3], shared=4).buckets
    (Bucket(start=4, count=1, length=2), Bucket(start=6, count=2, length=3))
    """
    lengths = torch.tensor(lengths, device=device)
    ordered, order = lengths.sort(stable=True)
    buckets, start = [], shared
    for length, count in zip(*(x.tolist() for x in ordered.unique_consecutive(return_counts=True)), strict=True):
        buckets.append(Bucket(start, count, length))
        start = buckets[-1].stop
    return Packing(shared, tuple(buckets), order, shared + ordered.cumsum(0) - 1)


@dataclass(frozen=True)
class PackedSentences:
    """Sentences prepared for many passes: their packing, own rows and the start token's keys and values.

    rows: float[R, W], token and position embeddings of the sentences' own rows, in packed order.
    start: for each block the start token's (key, value), each float[1, W].
    """

    packing: Packing
    rows: Tensor
    start: KeysAndValues


def pack_sentences(tower: TextTower, sentences: Sequence[Sequence[int]], shared: int) -> PackedSentences:
    """Prepare token ids (start token, `shared` rows, own rows, end token) for `encode_packed`.

    sentences: C lists of token ids of at least shared + 2 entries, each ending with its end token.
    """
    device = tower.positions.device
    own = [list(sentence[1 + shared :]) for sentence in sentences]
    packing = pack_lengths([len(tokens) for tokens in own], shared, device)
    own = [own[place] for place in packing.order.tolist()]
    tokens = torch.tensor([token for one in own for token in one], device=device)
    places = torch.cat([torch.arange(len(one), device=device) for one in own]) + 1 + shared
    return PackedSentences(
        packing, tower.tokens(tokens) + tower.positions[places], start_keys_and_values(tower, sentences[0][0])
    )


def start_keys_and_values(tower: TextTower, token: int) -> KeysAndValues:
    """Keys and values of the start token at every block: constants, because it sees only itself."""
    seen = []

    def remember(index: int, block: Block, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        seen.append((key, value))
        return attend_all(index, block, query, key, value)

    row = tower.tokens.weight[token] + tower.positions[0]
    run_blocks(tower.blocks, row[None], remember)
    return tuple(seen)


def encode_packed(
    tower: TextTower,
    shared_rows: Tensor,
    sentences: PackedSentences,
    replace: dict[int, Tensor] | None = None,
    replace_per_class: dict[int, Tensor] | None = None,
) -> Tensor:
    """Unnormalised joint embeddings float[G, C, D] of C sentences under each of G sets of shared rows.

    shared_rows: float[G, N, W], what stands at positions 1..N, position embeddings included.
    replace: block index -> float[n, W] or [G, n, W], rows that replace positions 1..n at that block's input.
    replace_per_class: block index -> float[C, N, W], rows that replace positions 1..N of each sentence at that
    block's input; from there on nothing but the start token is shared.
    """
    own = sentences.rows.expand(len(shared_rows), -1, -1)
    journey = _Journey(sentences, replace or {}, replace_per_class or {})
    rows = torch.cat([shared_rows, own], dim=1)
    pooled = run_blocks(
        tower.blocks,
        rows,
        journey.attend,
        edit=journey.edit,
        keep=journey.final_packing(len(tower.blocks)).ends,
    )
    return tower.finish(sentences.packing.unpack(pooled))


class _Journey:
    """One pass through the blocks: the packing in force, who sees whom under it, and the rows replaced on the way."""

    def __init__(self, sentences: PackedSentences, replace: dict[int, Tensor], per_class: dict[int, Tensor]):
        self.packing, self.start = sentences.packing, sentences.start
        self.replace, self.per_class = replace, per_class

    def final_packing(self, blocks: int) -> Packing:
        return unshare(self.packing) if any(index < blocks for index in self.per_class) else self.packing

    def edit(self, index: int, rows: Tensor) -> Tensor:
        if index in self.replace:
            new = self.replace[index].expand(len(rows), -1, -1)
            rows = torch.cat([new, rows[:, new.shape[1] :]], dim=1)
        if index in self.per_class:
            rows = self._to_own_rows(rows, self.per_class[index][self.packing.order])
        return rows

    def _to_own_rows(self, rows: Tensor, new: Tensor) -> Tensor:
        new, pieces, first = new.expand(len(rows), -1, -1, -1), [], 0
        for bucket in self.packing.buckets:
            own = torch.cat([new[:, first : first + bucket.count], bucket.view(rows)], dim=2)
            pieces.append(own.flatten(1, 2))
            first += bucket.count
        self.packing = unshare(self.packing)
        return torch.cat(pieces, dim=1)

    def attend(self, index: int, block: Block, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return attend_packed(self.packing, self.start[index], block, (query, key, value))


def unshare(packing: Packing) -> Packing:
    """The packing once every sentence owns a copy of the formerly shared rows.

    >>> unshare(pack_lengths([3, 2], shared=4)).buckets
    (Bucket(start=0, count=1, length=6), Bucket(start=6, count=1, length=7))
    """
    lengths = [bucket.length + packing.shared for bucket in packing.buckets for _ in range(bucket.count)]
    return replace(pack_lengths(lengths, 0, packing.order.device), order=packing.order)


def attend_packed(
    packing: Packing, start: tuple[Tensor, Tensor], block: Block, projections: tuple[Tensor, Tensor, Tensor]
) -> Tensor:
    """Causal attention under a packing: start token, shared rows, then each sentence's own rows.

    projections: query, key, value float[G, N + R, W]; queries may also be those of the end rows alone, [G, C, W].
    """
    query, key, value = projections
    groups, shared = len(key), packing.shared
    only_ends = query.shape[1] != key.shape[1]
    prefix = [torch.cat([s.expand(groups, 1, -1), x[:, :shared]], 1) for s, x in zip(start, (key, value), strict=True)]
    pieces, first = [], 0
    if shared and not only_ends:
        pieces.append(_causal(block.heads, query[:, :shared], *prefix))
    for bucket in packing.buckets:
        own_query = query[:, first : first + bucket.count].unsqueeze(2) if only_ends else bucket.view(query)
        seen = [_with_prefix(p, bucket.view(x)) for p, x in zip(prefix, (key, value), strict=True)]
        mixed = _causal(block.heads, own_query.flatten(0, 1), *seen)
        pieces.append(mixed.unflatten(0, (groups, bucket.count)).flatten(1, 2))
        first += bucket.count
    return torch.cat(pieces, dim=1)


def _with_prefix(prefix: Tensor, own: Tensor) -> Tensor:
    """Prefix [G, P, W] in front of every sentence of [G, C, L, W], as [G * C, P + L, W]."""
    prefix = prefix.unsqueeze(1).expand(-1, own.shape[1], -1, -1)
    return torch.cat([prefix, own], dim=2).flatten(0, 1)


def _causal(heads: int, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention [B, Q, W] over keys [B, K, W] in which the queries are the last Q of the K positions."""
    queries, keys = query.shape[1], key.shape[1]
    mask = None
    if queries > 1:
        mask = torch.ones(queries, keys, dtype=torch.bool, device=query.device).tril(keys - queries)
    query, key, value = (split_heads(rows, heads) for rows in (query, key, value))
    return join_heads(F.scaled_dot_product_attention(query, key, value, attn_mask=mask))
