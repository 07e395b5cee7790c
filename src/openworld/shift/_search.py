"""Candidates for the nearest reference rows of many queries: matrix products, of which only maxima are kept.

Products are made tile by tile, and of every `GROUP` neighbouring reference rows only the largest product is remembered.
The `count` largest products of a query lie in the `count` groups with the largest maxima, so that a running selection
over maxima, and over maxima of maxima, finds them at a fraction of what a selection over products costs; the rows of
those groups are the candidates. Memory does not grow with the reference: a tile of products and the maxima of `SLAB`
rows.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from openworld.shift._rows import CHUNK, unit

GROUP = 4
BUNCH = 16  # groups whose maxima are looked at together
TILE = 2048  # reference rows multiplied at a time; a multiple of GROUP
SLAB = 2**17  # reference rows whose maxima are kept before a selection; a multiple of TILE


@dataclass(frozen=True, eq=False)
class Reference:
    """Reference rows and their unit vectors in the arithmetic of the products.

    given: float[M, D]. dtype: of the products.
    units: dtype[M or a few more, D] made once, with zeros up to whole groups; or None to make them when asked.
    scratch: memory that searches write on and leave behind.
    """

    given: Tensor
    dtype: torch.dtype
    units: Tensor | None = None
    scratch: dict[str, Tensor] = field(default_factory=dict)

    @classmethod
    def kept(cls, given: Tensor, dtype: torch.dtype) -> "Reference":
        """With unit vectors made once."""
        units = given.new_zeros(-(-len(given) // GROUP) * GROUP, given.shape[1], dtype=dtype)
        for start in range(0, len(given), CHUNK):
            stop = min(start + CHUNK, len(given))
            units[start:stop] = unit(given[start:stop], dtype)
        return cls(given, dtype, units)

    def __len__(self) -> int:
        return len(self.given)

    def part(self, start: int, stop: int) -> Tensor:
        """Unit vectors of neighbouring rows."""
        return unit(self.given[start:stop], self.dtype) if self.units is None else self.units[start:stop]

    def take(self, places: Tensor, dtype: torch.dtype, run: int = 1) -> Tensor:
        """Unit vectors dtype[b, n, D] of the rows at int64[b, n], which stand in runs of `run` neighbours.

        Places behind the end of the reference get any vector.
        """
        shape = (*places.shape, self.given.shape[1])
        if self.units is None or self.dtype != dtype:
            return unit(self.given[places.flatten().clamp_max(len(self) - 1)], dtype).reshape(shape)
        # A run at a time: in half the time of a row at a time.
        return self.units.view(-1, run * shape[-1])[places[:, ::run].flatten() // run].reshape(shape)

    def room(self, name: str, rows: int, columns: int) -> Tensor:
        """An uninitialised [rows, columns] in the arithmetic of the products, the same memory at every call.

        Memory that is new at every block of queries took 10 % of the time, in page faults.
        """
        if name not in self.scratch or self.scratch[name].numel() < rows * columns:
            self.scratch[name] = self.given.new_empty(rows * columns, dtype=self.dtype)
        return self.scratch[name][: rows * columns].view(rows, columns)


@dataclass(frozen=True, eq=False)
class Candidates:
    """Where the largest products of b queries are.

    places: int64[b, n] of reference rows; those at or behind the end of the reference stand for none. They come in
        runs of `run` neighbours, the first a multiple of it.
    rest: float64[b], no row that is missing in `places` has a larger product, as the engine computed it.
    """

    places: Tensor
    rest: Tensor
    run: int = 1


Engine = Callable[[Tensor, Reference, int], Candidates]


def matrix_search(queries: Tensor, reference: Reference, count: int) -> Candidates:
    """Candidates that hold the `count` largest products.

    Args:
        queries: unit vectors [b, D] in the reference's arithmetic. reference: M >= 1 rows. count: at least 1.
    """
    best = queries.new_empty(0, len(queries))
    groups = torch.zeros(0, len(queries), dtype=torch.int64, device=queries.device)
    rest = torch.full((len(queries),), -torch.inf, dtype=torch.float64, device=queries.device)
    for start in range(0, len(reference), SLAB):
        maxima = _maxima(queries, reference, start, min(start + SLAB, len(reference)))
        chosen, left = _largest(maxima, count)
        best = torch.cat([best, maxima.gather(0, chosen)])
        groups = torch.cat([groups, chosen + start // GROUP])
        chosen, dropped = _select(best, count)
        best, groups = best.gather(0, chosen), groups.gather(0, chosen)
        rest = torch.maximum(rest, torch.maximum(left, dropped))
    return Candidates(_members(groups, GROUP).T.contiguous(), rest, GROUP)


def _maxima(queries: Tensor, reference: Reference, start: int, stop: int) -> Tensor:
    """The largest product of each query in every group of the rows from start to stop: [groups, b]."""
    maxima = reference.room("maxima", -(-(stop - start) // GROUP), len(queries))
    products = reference.room("products", TILE, len(queries))
    for first in range(start, stop, TILE):
        rows = reference.part(first, min(first + TILE, stop))
        groups = -(-len(rows) // GROUP)
        tile = products[: groups * GROUP]
        tile[len(rows) :] = -torch.inf
        _multiply(rows, queries, tile[: len(rows)])
        place = (first - start) // GROUP
        torch.amax(tile.view(groups, GROUP, -1), dim=1, out=maxima[place : place + groups])
    return maxima


def _multiply(rows: Tensor, queries: Tensor, out: Tensor) -> None:
    """out[i, j] = rows[i] . queries[j]."""
    if rows.is_cuda or rows.dtype not in (torch.float32, torch.float64):
        torch.mm(rows, queries.T, out=out)
    else:
        # NumPy's OpenBLAS took 6.0 ns for 256 products and sums where torch's MKL took 6.5 to 10 (AMD EPYC, AVX2).
        np.matmul(rows.numpy(), queries.numpy().T, out=out.numpy())


def _largest(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """As `_select` for tall matrices: first the largest among maxima of maxima, then those among their members."""
    whole = len(values) // BUNCH
    if whole <= 4 * count:
        return _select(values, count)
    bunched = values[: whole * BUNCH].view(whole, BUNCH, -1).amax(dim=1)
    bunches, left = _select(bunched, count)
    loose = torch.arange(whole * BUNCH, len(values), device=values.device)[:, None].expand(-1, values.shape[1])
    members = torch.cat([_members(bunches, BUNCH), loose])
    chosen, dropped = _select(values.gather(0, members), count)
    return members.gather(0, chosen), torch.maximum(left, dropped)


def _select(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Places of the `count` largest of each column, and the largest of the others (-inf for none)."""
    found, chosen = values.T.topk(min(count + 1, len(values)), dim=1)
    if found.shape[1] <= count:
        return chosen.T, found.new_full((len(found),), -torch.inf, dtype=torch.float64)
    return chosen[:, :count].T, found[:, count].to(torch.float64)


def _members(groups: Tensor, size: int) -> Tensor:
    """Places of the members of groups of neighbours: int64[n, b] to int64[n * size, b]."""
    offsets = torch.arange(size, device=groups.device)
    return (groups[:, None] * size + offsets[:, None]).flatten(0, 1)
