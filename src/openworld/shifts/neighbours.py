"""The k nearest rows of a reference by cosine distance: exact, in bounded memory, mergeable over shards.

Candidates are found by fast products, and how wrong those products can be is known. The candidates are
measured in float64, and the k-th is believed only if no row that was left out can be as near, whatever the rounding;
the few queries for which that cannot be said are searched again, for more candidates and in finer arithmetic. A
distance is computed from its pair of rows alone, and of equally near rows the first are taken, so that the answer is
one and the same whatever the shards, the blocks and the machine.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from openworld.core.arrays import ArrayLike
from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.core.types import Count, Positive, checked
from openworld.shifts._rows import as_rows, exact_unit, sum_in_order, unit
from openworld.shifts._search import SearchReference, matrix_search

# Candidates beyond k: with too few, the k-th neighbour and those left out are too close to be told apart.
_SPARE = {torch.float16: 22, torch.float32: 2, torch.float64: 2}
_MORE = 8  # times as many candidates where that was too few
QUERIES = 2048  # queries searched at a time on a CPU
QUERIES_ON_GPU = 8192
_MEASURED = 2**17  # numbers of candidates that are measured at a time

# Unit roundoffs: the most by which rounding changes a number, relative to its size.
_ROUNDING = {torch.float16: 2.0**-11, torch.bfloat16: 2.0**-9, torch.float32: 2.0**-24, torch.float64: 2.0**-53}


@dataclass(frozen=True, eq=False)
class Nearest:
    """Nearest reference rows of N queries, the nearest first.

    Args:
        distances: float64[N, k], cosine distances in [0, 2], ascending.
        places: int64[N, k], which rows of the reference; of equally near ones the first.
    Both have fewer columns than were asked for where the reference, or this shard of it, has fewer rows.
    """

    distances: np.ndarray
    places: np.ndarray

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.distances)

    @checked
    def kth(self, k: Positive) -> np.ndarray:
        """Distance to the k-th nearest row, counted from 1: float64[N]."""
        if k > self.distances.shape[1]:
            raise OpenworldError(
                f"asked for neighbour {k}, but only {self.distances.shape[1]} are known; lower k, or give a reference "
                "of more images."
            )
        return self.distances[:, k - 1]


@checked
def nearest(
    queries: ArrayLike,
    reference: ArrayLike,
    k: Positive = 10,
    *,
    first: Count = 0,
    half: bool = False,
) -> Nearest:
    """The k rows of a reference with the smallest cosine distance to each query.

    Memory beyond the two arrays: 4 bytes per number of the reference (2 with `half`), 16 k bytes of each query, and
    some 100 MB on a CPU (4 GB on a GPU, which searches more at a time), however many queries and rows there are.

    Args:
        queries: float[N, D], any lengths; NumPy arrays or tensors, on the device of the reference.
        reference: float[M, D], M >= 1; where it is, the products are made.
        k: how many, from 1.
        first: place of the reference's first row in the whole, for a shard of it; see `merge_nearest`.
        half: find candidates in float16 (for a GPU); changes the speed and nothing else.
    Returns:
        Nearest, with min(k, M) columns.
    Raises:
        OpenworldError: NaN, infinity, a row of zeros, widths that differ, an empty reference.

    >>> near = nearest([[2.0, 0.0]], [[0.0, 1.0], [1.0, 0.0], [-3.0, 0.0]], k=3)
    >>> near.distances.round(6).tolist(), near.places.tolist()  # itself, a right angle, the opposite
    ([[0.0, 1.0, 2.0]], [[1, 0, 2]])
    """
    rows = as_rows(reference, "reference")
    queries = as_rows(queries, "queries", width=rows.shape[1]).to(rows.device)
    if not len(rows):
        raise OpenworldError("the reference is empty; shift is measured against at least one image.")
    size, k = QUERIES_ON_GPU if rows.is_cuda else QUERIES, min(k, len(rows))
    distances = queries.new_empty(len(queries), k, dtype=torch.float64)
    places = torch.empty_like(distances, dtype=torch.int64)
    unsure = torch.arange(len(queries), device=queries.device)
    searches = _searches(SearchReference.kept(rows, torch.float16 if half else torch.float32), k)
    while len(unsure):
        known, count = next(searches)
        left = []
        # Many candidates are sought for fewer queries, so that memory does not grow with the number of equal rows.
        for block in unsure.split(max(1, min(size, size * _MORE * k // count))):
            some = queries[block]
            candidates, rest = matrix_search(unit(some, known.dtype), known, min(count, len(rows)))
            candidates = candidates.sort(dim=1).values  # so that of equally near rows the first comes first
            ordered, order = _distances(some, rows, candidates).sort(dim=1, stable=True)
            distances[block], places[block] = ordered[:, :k], candidates.gather(1, order)[:, :k]
            # whether no other row can be as near
            sure = 1 - ordered[:, k - 1] > rest + _error(known.dtype, some)
            left.append(block[~sure])
        unsure = torch.cat(left)
    return Nearest(distances.cpu().numpy(), places.cpu().numpy() + first)


@checked
def merge_nearest(parts: Sequence[Nearest], k: int = 10) -> Nearest:
    """The k nearest of the whole reference from those of its shards, in any order.

    Args:
        parts: at least one, of the same N queries, each asked for k neighbours or more.
    Raises:
        OpenworldError: no part, or numbers of queries that differ.

    >>> shards = [nearest([[1.0, 0.0]], [row], k=1, first=i) for i, row in enumerate([[0.0, 1.0], [1.0, 0.0]])]
    >>> merge_nearest(shards, k=1).places.tolist()
    [[1]]
    """
    if len({len(part) for part in parts}) != 1:
        raise OpenworldError(f"got shards of {[len(part) for part in parts]} queries, expected the same in each.")
    distances = np.concatenate([part.distances for part in parts], axis=1)
    places = np.concatenate([part.places for part in parts], axis=1)
    order = np.lexsort((places, distances), axis=1)[:, :k]
    return Nearest(np.take_along_axis(distances, order, axis=1), np.take_along_axis(places, order, axis=1))


def _searches(whole: SearchReference, k: int) -> Iterator[tuple[SearchReference, int]]:
    """Yield in which arithmetic to look for how many candidates, until all answers are sure; with all rows they are."""
    count = k + _SPARE[whole.dtype]
    yield whole, count
    yield whole, count * _MORE
    finest, count = SearchReference(whole.given, torch.float64), k + _SPARE[torch.float64]
    while True:
        yield finest, count
        count *= _MORE


def _distances(queries: Tensor, given: Tensor, places: Tensor) -> Tensor:
    """Return cosine distances float64[b, n], each from its pair of rows alone."""
    # 1 - cos = |u - v|^2 / 2, which keeps all digits of a near duplicate
    units = exact_unit(queries)
    some = max(1, _MEASURED // (places.shape[1] * queries.shape[1]))
    parts = []
    for start in range(0, len(queries), some):
        near = places[start : start + some]
        known = exact_unit(given.index_select(0, near.flatten())).view(*near.shape, -1)
        parts.append(sum_in_order(known.sub_(units[start : start + some, None]).square_()) / 2)
    return torch.cat(parts)


def _error(dtype: torch.dtype, queries: Tensor) -> float:
    """Return the most by which a product of unit vectors can be wrong in this arithmetic, and a distance with it."""
    # Both inputs are rounded and so is the result; sums are kept in float32 or better. A third more for what a GPU may
    # round in between.
    width, coarse = queries.shape[1], dtype
    if dtype == torch.float32 and queries.is_cuda and torch.get_float32_matmul_precision() != "highest":
        coarse = torch.bfloat16  # the user lets matrix products be made in less than float32
    summing = 2 * (width + 8) * min(_ROUNDING[dtype], _ROUNDING[torch.float32])
    return summing + 4 * _ROUNDING[coarse] + 4 * (width + 8) * _ROUNDING[torch.float64]
