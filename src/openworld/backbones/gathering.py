"""Rows of a tensor in another order, part by part and head by head: one gather there, one gather back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor


@dataclass(frozen=True)
class Order:
    """An order of the rows of a tensor [G, M, W] in parts; every row stands in one part, and may repeat as padding."""

    rows: Tensor  # int64[X], the row at each place
    sizes: tuple[int, ...]  # places of each part
    places: Tensor  # int64[M], where each row stands

    def gather(self, groups: int, heads: int) -> "Gather":
        """Gather for every head of tensors of G groups."""
        device = self.rows.device
        group, head = torch.arange(groups, device=device)[:, None], torch.arange(heads, device=device)
        # Rows [G, M, heads * d] as flat rows [G * M * heads, d]: one index for every group, row and head.
        source = (group * len(self.places) + self.rows[:, None, None]) * heads + head
        source = source.flatten(1).T
        there = torch.cat([part.flatten() for part in source.split(self.sizes, dim=1)])
        lanes = groups * heads
        places = torch.arange(lanes * len(self.rows), device=device).split([lanes * size for size in self.sizes])
        taken = torch.cat([part.unflatten(0, (lanes, -1)).T for part in places])
        back = taken[self.places].unflatten(1, (groups, heads)).transpose(0, 1)
        return Gather(there, back.flatten(), self.sizes, groups, heads)


def order_rows(parts: Sequence[Tensor], padding: Sequence[Tensor | None]) -> Order:
    """Return the order with these rows in its parts; `padding` says bool for each part which places are padding."""
    rows = torch.cat(list(parts))
    pairs = zip(parts, padding, strict=True)
    padded = torch.cat([torch.zeros_like(part, dtype=torch.bool) if mask is None else mask for part, mask in pairs])
    kept = (~padded).nonzero()[:, 0]
    return Order(rows, tuple(map(len, parts)), kept[rows[kept].argsort()])


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
