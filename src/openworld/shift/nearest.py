"""The k nearest rows of a reference by cosine distance: exact, in bounded memory, mergeable over shards.

An engine proposes candidates from fast products, and how wrong those products can be is known. The candidates' products
are made again in float32, the best of them measured in float64, and the k-th is believed only if no row that was left
out can be nearer, whatever the rounding; the few queries for which that cannot be said are searched again in finer
arithmetic. A distance is computed from its pair of rows alone, so that neither engine nor shards nor batches change it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from openworld._arrays import require_at_least
from openworld._errors import OpenworldError, unknown_name
from openworld.shift._faiss import faiss_search
from openworld.shift._rows import as_rows, unit
from openworld.shift._search import Candidates, Engine, Reference, matrix_search

ENGINES: dict[str, Engine] = {"matrix": matrix_search, "faiss": faiss_search}
"""How candidates are found, by name."""

# Candidates beyond k: with too few, the k-th neighbour and those left out are too close to be told apart.
_SPARE = {torch.float16: 22, torch.float32: 2, torch.float64: 2}
QUERIES = 1024  # queries searched at a time on a CPU
QUERIES_ON_GPU = 8192
CHECKED = 256  # queries whose candidates are measured again at a time on a CPU

# Unit roundoffs: the most by which rounding changes a number, relative to its size.
_ROUNDING = {torch.float16: 2.0**-11, torch.bfloat16: 2.0**-9, torch.float32: 2.0**-24, torch.float64: 2.0**-53}


@dataclass(frozen=True, eq=False)
class Nearest:
    """Nearest reference rows of N queries, the nearest first.

    Args:
        distances: float64[N, k], cosine distances in [0, 2], ascending.
        places: int64[N, k], which rows of the reference; of equally near ones any may stand here.
    Both have fewer columns than were asked for where the reference, or this shard of it, has fewer rows.
    """

    distances: np.ndarray
    places: np.ndarray

    def __len__(self) -> int:
        return len(self.distances)

    def kth(self, k: int) -> np.ndarray:
        """Distance to the k-th nearest row, counted from 1: float64[N]."""
        require_at_least(1, k=k)
        if k > self.distances.shape[1]:
            raise OpenworldError(
                f"asked for neighbour {k}, but only {self.distances.shape[1]} are known; lower k, or give a reference "
                "of more images."
            )
        return self.distances[:, k - 1]


def nearest(queries, reference, k: int = 10, *, first: int = 0, engine: str = "matrix", half: bool = False) -> Nearest:
    """The k rows of a reference with the smallest cosine distance to each query.

    Memory beyond the two arrays: 4 bytes per number of the reference (2 with `half`), and some 300 MB on a CPU (4 GB on
    a GPU, which searches more queries at a time), however many queries and rows there are.

    Args:
        queries: float[N, D], any lengths; NumPy arrays or tensors, on the device of the reference.
        reference: float[M, D], M >= 1; where it is, the products are made.
        k: how many, from 1.
        first: place of the reference's first row in the whole, for a shard of it; see `merge_nearest`.
        engine: a name in `ENGINES`.
        half: find candidates in float16 (for a GPU); changes the speed and nothing else.
    Returns:
        Nearest, with min(k, M) columns.
    Raises:
        OpenworldError: NaN, infinity, a row of zeros, widths that differ, an empty reference, an unknown engine.

    >>> near = nearest([[2.0, 0.0]], [[0.0, 1.0], [1.0, 0.0], [-3.0, 0.0]], k=3)
    >>> near.distances.round(6).tolist(), near.places.tolist()  # itself, a right angle, the opposite
    ([[0.0, 1.0, 2.0]], [[1, 0, 2]])
    """
    if engine not in ENGINES:
        raise unknown_name("engine", engine, ENGINES)
    require_at_least(1, k=k)
    require_at_least(0, first=first)
    rows = as_rows(reference, "reference")
    asked = as_rows(queries, "queries", width=rows.shape[1]).to(rows.device)
    if not len(rows):
        raise OpenworldError("the reference is empty; shift is measured against at least one image.")
    coarse = torch.float16 if half else torch.float32
    whole = Reference.kept(rows, coarse)
    size = QUERIES_ON_GPU if rows.is_cuda else QUERIES
    parts = [_of_block(part, whole, k, ENGINES[engine]) for part in asked.split(size)]
    distances, places = (torch.cat(found).cpu().numpy() for found in zip(*parts, strict=True))
    return Nearest(distances, places + first)


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


def _of_block(queries: Tensor, reference: Reference, k: int, engine: Engine) -> tuple[Tensor, Tensor]:
    """Distances float64[b, k] and places int64[b, k] of a block of queries."""
    distances, places, sure = _measured(queries, reference, k, engine)
    for finer in (torch.float32, torch.float64):
        unsure = torch.nonzero(~sure).flatten()
        if not len(unsure):
            break
        if _ROUNDING[finer] < _ROUNDING[reference.dtype]:
            again = _measured(queries[unsure], Reference(reference.given, finer), k, matrix_search)
            distances[unsure], places[unsure], sure[unsure] = again
    return distances, places


def _measured(queries: Tensor, reference: Reference, k: int, engine: Engine) -> tuple[Tensor, Tensor, Tensor]:
    """Distances and places of the best candidates, ascending, and whether none can be nearer: bool[b]."""
    k = min(k, len(reference))
    found = engine(unit(queries, reference.dtype), reference, k + _SPARE[reference.dtype])
    size = len(queries) if queries.is_cuda else CHECKED
    starts = range(0, max(len(queries), 1), size)
    chosen = [_checked(queries[at : at + size], reference, _rows_of(found, at, size), k) for at in starts]
    distances, places, left_out = (torch.cat(tensors) for tensors in zip(*chosen, strict=True))
    slack = found.rest + _error(reference.dtype, queries)
    return distances, places, 1 - distances[:, -1] > torch.maximum(slack, left_out)


def _checked(queries: Tensor, reference: Reference, found: Candidates, k: int) -> tuple[Tensor, Tensor, Tensor]:
    """Candidates' products again, in float32 at least; the best few of them measured; k kept.

    The third is the most that a product of a candidate outside those few can be.
    """
    dtype = torch.promote_types(reference.dtype, torch.float32)
    products = _products(unit(queries, dtype), reference.take(found.places, dtype, found.run))
    products = products.masked_fill_(found.places >= len(reference), -torch.inf)
    ordered, order = products.topk(min(k + _SPARE[dtype], products.shape[1]), dim=1)
    # In the order of the reference, so that of equally near rows the first comes first.
    places = found.places.gather(1, order).sort(dim=1).values
    known = reference.given[places.clamp_max(len(reference) - 1)]
    distances = _distances(queries, known).masked_fill_(places >= len(reference), torch.inf)
    distances, order = distances.sort(dim=1, stable=True)
    left_out = ordered[:, -1].to(torch.float64) + _error(dtype, queries)
    if ordered.shape[1] == products.shape[1]:
        left_out = torch.full_like(left_out, -torch.inf)
    return distances[:, :k], places.gather(1, order)[:, :k], left_out


def _rows_of(found: Candidates, start: int, size: int) -> Candidates:
    return replace(found, places=found.places[start : start + size], rest=found.rest[start : start + size])


def _products(queries: Tensor, rows: Tensor) -> Tensor:
    """Products [b, n] of queries [b, D] with rows [b, n, D]."""
    if queries.is_cuda:  # not as a matrix product, which may run in TF32
        return (queries[:, None] * rows).sum(dim=2)
    return torch.from_numpy(np.matmul(rows.numpy(), queries.numpy()[:, :, None])[:, :, 0])


def _distances(queries: Tensor, rows: Tensor) -> Tensor:
    """Cosine distances float64[b, n]: 1 - cos = |u - v|^2 / 2, which keeps all digits of a near duplicate."""
    apart = unit(queries, torch.float64)[:, None] - unit(rows, torch.float64)
    return apart.square().sum(dim=2) / 2


def _error(dtype: torch.dtype, queries: Tensor) -> float:
    """The most by which a product of two unit vectors can be wrong in this arithmetic.

    Both inputs are rounded and so is the result; sums are kept in float32 or better. A third more for what a GPU may
    round in between.
    """
    width, coarse = queries.shape[1], dtype
    if dtype == torch.float32 and queries.is_cuda and torch.get_float32_matmul_precision() != "highest":
        coarse = torch.bfloat16  # the user lets matrix products be made in less than float32
    summing = 2 * (width + 8) * min(_ROUNDING[dtype], _ROUNDING[torch.float32])
    return summing + 4 * _ROUNDING[coarse]
