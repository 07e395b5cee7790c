"""Sorted sweeps over two sets of scores: the integer counts behind every ranking metric.

Everything is exact under ties, because nothing is compared but the scores themselves and nothing is added but
integers (or the caller's weights). Two sorted runs are merged by NumPy's stable sort, which finds them by itself and
takes one pass; in blocks that fit the cache this takes about as long as the two sorts, half as long as `searchsorted`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

BLOCK = 2**15
MUCH = 16  # times as many ranked as queries: looking each up is cheaper than a pass over both


def count_wins(high: np.ndarray, low: np.ndarray) -> int:
    """Return twice the number of pairs with high[i] > low[j], ties counted once, an exact integer."""
    lost = sum(int(below.sum()) + int(upto.sum()) for below, upto in _places(np.sort(high), np.sort(low)))
    return 2 * high.size * low.size - lost


def place(ranked: np.ndarray, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Count for each query how many of `ranked` are below it, and how many are not above it; both inputs sorted."""
    empty = np.zeros(0, np.int64)
    below, upto = zip((empty, empty), *_places(ranked, queries), strict=True)
    return np.concatenate(below), np.concatenate(upto)


def _places(ranked: np.ndarray, queries: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for start in range(0, queries.size, BLOCK):
        block = queries[start : start + BLOCK]
        first, last = np.searchsorted(ranked, block[0], "left"), np.searchsorted(ranked, block[-1], "right")
        below, upto = _place_block(ranked[first:last], block)
        yield first + below, first + upto


def _place_block(ranked: np.ndarray, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if not 0 < ranked.size < MUCH * queries.size:
        return np.searchsorted(ranked, queries, "left"), np.searchsorted(ranked, queries, "right")
    order = np.argsort(np.concatenate([ranked, queries]), kind="stable")  # equal values: `ranked` stands first
    upto = np.flatnonzero(order >= ranked.size) - np.arange(queries.size)
    tied = np.flatnonzero(ranked.take(upto - 1) == queries)  # where upto is 0, ranked[-1] is larger, not equal
    below = upto.copy()
    below[tied] = np.searchsorted(ranked, queries[tied], "left")
    return below, upto


def win_shares(scores: np.ndarray, others: np.ndarray, weights: np.ndarray | None = None, total=None) -> np.ndarray:
    """Return what the `others` below each score weigh, ties one half, over `total` or the weight of all: float64[N]."""
    places = np.argsort(scores)
    if weights is None:
        ranked, mass = np.sort(others), None
    else:
        order = np.argsort(others)
        ranked, mass = others[order], np.concatenate([[0.0], np.cumsum(weights[order])])
    if total is None:
        total = others.size if mass is None else mass[-1]
    shares, start = np.empty(scores.size), 0
    for below, upto in _places(ranked, scores[places]):
        twice = below + upto if mass is None else mass[below] + mass[upto]
        shares[places[start : start + below.size]] = twice / (2 * total)  # one rounding, after all the adding
        start += below.size
    return shares


@dataclass(frozen=True, eq=False)
class Sweep:
    """How many in- and out-samples score at or above each distinct score, from the largest score down."""

    thresholds: np.ndarray  # float64[K], strictly decreasing
    in_kept: np.ndarray  # int64[K], rising to n_in
    out_kept: np.ndarray  # int64[K], rising to n_out

    @classmethod
    def of(cls, in_scores, out_scores) -> "Sweep":
        return cls.merged(np.sort(in_scores), np.sort(out_scores))

    @classmethod
    def merged(cls, in_scores, out_scores) -> "Sweep":
        """Return the sweep of sides that are sorted, from the smallest score up."""
        values = np.concatenate([in_scores, out_scores])
        order = np.argsort(values, kind="stable")[::-1]
        is_in = order < in_scores.size
        values = values[order]
        del order  # here and below: of ten million scores every column takes 80 MB
        ends = np.append(values[1:] != values[:-1], True)[: values.size]
        in_kept = np.cumsum(is_in)
        if ends.all():
            return cls(values, in_kept, np.arange(1, values.size + 1) - in_kept)
        values, in_kept = values[ends], in_kept[ends]
        return cls(values, in_kept, np.flatnonzero(ends) + 1 - in_kept)

    @property
    def n_in(self) -> int:
        return int(self.in_kept[-1]) if self.in_kept.size else 0

    @property
    def n_out(self) -> int:
        return int(self.out_kept[-1]) if self.out_kept.size else 0

    def double_wins(self) -> int:
        """Return twice the wins of in over out plus the ties: `count_wins` of the two sides."""
        wins, in_above, out_above = 0, 0, 0
        for start in range(0, self.in_kept.size, BLOCK):
            in_kept, out_kept = self.in_kept[start : start + BLOCK], self.out_kept[start : start + BLOCK]
            in_twice = in_kept + np.append(in_above, in_kept[:-1])
            wins += int((np.diff(out_kept, prepend=out_above) * in_twice).sum())
            in_above, out_above = in_kept[-1], out_kept[-1]
        return wins
