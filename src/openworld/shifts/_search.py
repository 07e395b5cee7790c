"""Candidates for the nearest reference rows of many queries: matrix products, most of which are looked at once.

Products are made tile by tile. Of every `GROUP` of them one maximum is taken and compared with the smallest of the
best so far; only groups that hold something better are opened. After the first tile few do: for rows in random order
some `count` ln(M / TILE) of each query. Memory does not grow with the reference.
"""

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from openworld.shifts._rows import CHUNK, unit

GROUP = 32
TILE = 2048  # reference rows multiplied at a time on a CPU, whose cache the products should not leave
TILE_ON_GPU = 2**16
_CROWDED = 4  # where more than one group in so many holds something better, all products are sorted instead
_ROOM = 4  # finds of a query that may wait to be merged, for each that is wanted
_IN_FLOAT32 = 2.0**-19  # a product that is wrong by more was not made in float32: users can ask oneDNN for less
_STALE = 4  # as soon as one in so many of the kept may be replaced, finds are merged


@dataclass(frozen=True, eq=False)
class SearchReference:
    """Reference rows float[M, D] and their unit vectors in the arithmetic `dtype` of the products."""

    given: Tensor
    dtype: torch.dtype
    units: Tensor | None = None  # made once, or None to make them when asked
    # what searches leave behind for the next: memory to write on
    scratch: dict = field(default_factory=dict)

    @classmethod
    def kept(cls, given: Tensor, dtype: torch.dtype) -> "SearchReference":
        """Return the reference with unit vectors made once."""
        units = given.new_empty(given.shape, dtype=dtype)
        for start in range(0, len(given), CHUNK):
            units[start : start + CHUNK] = unit(given[start : start + CHUNK], dtype)
        return cls(given, dtype, units)

    def __len__(self) -> int:
        return len(self.given)

    def part(self, start: int, stop: int) -> Tensor:
        """Return unit vectors of neighbouring rows."""
        return unit(self.given[start:stop], self.dtype) if self.units is None else self.units[start:stop]

    def room(self, name: str, rows: int, columns: int) -> Tensor:
        """Return an uninitialised [rows, columns], the same memory at every call of a name."""
        # Memory that is new at every block of queries took 10 % of the time, in page faults.
        buffer = self.scratch.get(name)
        if buffer is None or buffer.numel() < rows * columns:
            buffer = self.scratch[name] = self.given.new_empty(rows * columns, dtype=self.dtype)
        return buffer[: rows * columns].view(rows, columns)


Candidates = tuple[Tensor, Tensor]
"""Where the largest products of b queries are: places int64[b, n] of reference rows, in any order; and float64[b], no
row that is missing there has a larger product, as it was computed."""


def matrix_search(queries: Tensor, reference: SearchReference, count: int) -> Candidates:
    """Return the `count` largest products of each query (unit vectors [b, D]); of equal ones any."""
    best = _Best(queries, count)
    size = TILE_ON_GPU if queries.is_cuda else TILE
    for start in range(0, len(reference), size):
        rows = reference.part(start, min(start + size, len(reference)))
        groups = -(-len(rows) // GROUP)
        tile = _products(queries, rows, reference, groups * GROUP)
        # A group is every `groups`-th product: maxima are then taken of whole vectors.
        highest = reference.room("maxima", len(queries), groups)
        torch.amax(tile.view(-1, GROUP, groups), dim=1, out=highest)
        best.look(tile, highest, start)
    best.merge()
    rest = best.products[:, -1].to(torch.float64)
    return best.places, rest if len(reference) > count else torch.full_like(rest, -torch.inf)


class _Best:
    """The largest products [b, count] of b queries so far, descending; behind, a waiting room for better ones."""

    def __init__(self, queries: Tensor, count: int):
        self._count, self._room = count, _ROOM * count
        self._products = queries.new_full((len(queries), count + self._room), -torch.inf)
        self._places = torch.zeros_like(self._products, dtype=torch.int64)
        self._waiting = self._places.new_zeros(len(queries))
        self._least = self.products[:, -1:].contiguous()  # only larger products are looked for

    @property
    def products(self) -> Tensor:
        return self._products[:, : self._count]

    @property
    def places(self) -> Tensor:
        return self._places[:, : self._count]

    def look(self, tile: Tensor, highest: Tensor, start: int) -> None:
        """Take what is better in products [b, rows] with the reference rows from `start`; [b, groups] are maxima."""
        if not start and self._count <= highest.shape[1]:
            # So many groups hold so large a product: what is smaller than the last of them is not among the best.
            last = highest.topk(self._count, dim=1).values[:, -1:]
            self._least = last - torch.finfo(last.dtype).eps
        better = self._better(tile, highest)
        if better is None or not self._store(*better, start):
            products, rows = tile.topk(min(self._count, tile.shape[1]), dim=1)
            products = torch.cat([self._products, products], dim=1)
            self._set(products, torch.cat([self._places, rows + start], dim=1))

    def merge(self) -> None:
        """Empty the waiting room."""
        used = self._count + int(self._waiting.max())
        self._set(self._products[:, :used], self._places[:, :used])

    def _better(self, tile: Tensor, highest: Tensor) -> tuple[Tensor, Tensor, Tensor] | None:
        """Return query, row and product of all above the least kept, in order of queries; None if it is much."""
        groups = highest.shape[1]
        opened = _places_where(highest > self._least)
        if _CROWDED * len(opened) > highest.numel():
            return None
        query = opened // groups
        members = (opened + query * (tile.shape[1] - groups))[:, None]
        members = members + groups * torch.arange(GROUP, device=tile.device)
        products = tile.view(-1).take(members)
        better = _places_where(products > self._least.index_select(0, query))
        query = query.index_select(0, better // GROUP)
        return query, members.view(-1).take(better) - query * tile.shape[1], products.view(-1).take(better)

    def _store(self, query: Tensor, rows: Tensor, products: Tensor, start: int) -> bool:
        """Put finds in order of queries in the waiting room; False if they are too many for it."""
        more = torch.bincount(query, minlength=len(self._waiting))
        if int((self._waiting + more).max()) > self._room:
            self.merge()
            if int(more.max()) > self._room:
                return False
        first = self._count + self._waiting - (more.cumsum(0) - more)
        at = first.index_select(0, query) + torch.arange(len(query), device=query.device)
        at += query * self._products.shape[1]
        self._products.view(-1).scatter_(0, at, products)
        self._places.view(-1).scatter_(0, at, rows + start)
        self._waiting += more
        if _STALE * int(self._waiting.sum()) > self.products.numel():
            self.merge()
        return True

    def _set(self, products: Tensor, places: Tensor) -> None:
        products, chosen = products.topk(self._count, dim=1)
        places = places.gather(1, chosen)
        self._products[:, : self._count], self._products[:, self._count :] = products, -torch.inf
        self._places[:, : self._count] = places
        self._waiting.zero_()
        self._least = products[:, -1:].contiguous()


def _places_where(mask: Tensor) -> Tensor:
    """Return the flat places int64[n] where a mask holds, ascending."""
    if mask.is_cuda:
        return torch.nonzero(mask.flatten()).flatten()
    return torch.from_numpy(np.flatnonzero(mask.numpy()))  # ten times as fast


def _products(queries: Tensor, rows: Tensor, reference: SearchReference, columns: int) -> Tensor:
    """Return queries[i] . rows[j], [b, columns]; -inf behind the last row."""
    if columns == len(rows) and reference.scratch.setdefault("oneDNN", _has_onednn(queries)):
        tile = torch.ops.mkldnn._linear_pointwise(queries, rows, None, "none", [], "")
        few = queries[:1].double() @ rows[:GROUP].double().T
        if float((tile[:1, :GROUP] - few).abs().max()) < _IN_FLOAT32:
            return tile
        reference.scratch["oneDNN"] = False
    tile = reference.room("products", len(queries), columns)
    _multiply(queries, rows, tile[:, : len(rows)])
    tile[:, len(rows) :] = -torch.inf
    return tile


def _has_onednn(queries: Tensor) -> bool:
    """Return whether oneDNN's products are the fastest."""
    # It looks at what the processor can, OpenBLAS at which one it is. On a processor with AVX-512 that its OpenBLAS did
    # not know, NumPy took 4.4 ns for 256 products and sums, torch's MKL 5.2 and oneDNN 2.3; OpenBLAS that is made to
    # use AVX-512 takes 2.3 too.
    if queries.is_cuda or queries.dtype != torch.float32 or torch.backends.cpu.get_cpu_capability() != "AVX512":
        return False
    return hasattr(torch.ops.mkldnn, "_linear_pointwise")


def _multiply(queries: Tensor, rows: Tensor, out: Tensor) -> None:
    if rows.is_cuda or rows.dtype not in (torch.float32, torch.float64):
        torch.mm(queries, rows.T, out=out)
    else:
        # NumPy's OpenBLAS took 5.6 ns for 256 products and sums where torch's MKL took 5.9 to 8.5 (AMD EPYC, AVX2).
        np.matmul(queries.numpy(), rows.numpy().T, out=out.numpy())
