"""Training features kept one by one, all or a seeded sample that is balanced over classes; and those nearest to images.

Every image has one draw, by its place among all training images, and the smallest draws of every class stay. So neither
the cut into batches nor that into shards changes what is kept, as long as a shard knows how many images come before it.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor

from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.detectors.engine.activations import Activations

PRODUCTS = 2**24  # inner products alive at a time, 64 MiB in float32


@dataclass(frozen=True, eq=False)
class Rows:
    """Features float[M, D], labels int[M] and draws float64[M]; places of the first image and of the next to come."""

    features: Tensor
    labels: Tensor | None
    draws: Tensor
    first: int
    offered: int

    __repr__ = short_repr


@dataclass(frozen=True)
class Bank:
    """Features kept one by one: all, or a seeded sample that is balanced over classes where labels are known."""

    rows: int | None = None  # how many to keep at most; None for no limit
    share: float = 1.0  # of the images, each drawn with this chance before the limit is looked at
    seed: int = 0  # of the draws
    of: Literal["features", "logits"] = "features"  # what is kept of an image
    labelled: bool = False  # whether labels must come with it

    @property
    def needs(self) -> tuple[str, ...]:
        """What it looks at."""
        return (self.of, "bank", *["labels"] * self.labelled)

    def __post_init__(self):
        if not 0 < self.share <= 1 or (self.rows is not None and self.rows < 1):
            raise OpenworldError(
                f"a bank of rows={self.rows} and share={self.share:g} was asked for; expected rows of 1 or more, or "
                "None, and a share in (0, 1]."
            )

    def kept(self, images: int) -> int:
        """How many of so many training images it will hold, known before any is seen."""
        drawn = int((np.random.default_rng(self.seed).random(images) < self.share).sum())
        return drawn if self.rows is None else min(drawn, self.rows)

    by_place: ClassVar[bool] = True

    def add(self, total: Rows | int | None, activations: Activations) -> Rows:
        start = total.offered if isinstance(total, Rows) else total or 0
        values = getattr(activations, self.of)
        draws = draws_by_place(self.seed, start, len(activations)).to(values.device)
        drawn = draws < self.share
        labels = None if activations.labels is None else activations.labels.to(drawn.device)[drawn]
        rows = Rows(values[drawn], labels, draws[drawn], start, start + len(activations))
        return self._trim(_join(total, rows) if isinstance(total, Rows) else rows)

    def merge(self, first: Rows, second: Rows) -> Rows:
        """The total of two shards, the images of `first` before those of `second`; a sample's must be neighbours."""
        if second.first != first.offered and (self.rows is not None or self.share < 1):
            raise OpenworldError(
                f"the first shard ends before image {first.offered}, the next begins with image {second.first}, and a "
                f"sample draws by an image's place; merge shards in order, that one gathered with "
                f"start={first.offered}."
            )
        return self._trim(_join(first, second))

    def _trim(self, rows: Rows) -> Rows:
        if self.rows is None or len(rows.features) <= self.rows:
            return rows
        ranks = _rank_in_class(rows.labels, rows.draws)
        # By rank within the class, then by draw: every class keeps as many as the rarest can match, then more.
        order = np.lexsort((rows.draws.cpu().numpy(), ranks))[: self.rows]
        places = torch.from_numpy(np.sort(order)).to(rows.features.device)
        labels = None if rows.labels is None else rows.labels[places]
        return Rows(rows.features[places], labels, rows.draws[places], rows.first, rows.offered)


def draws_by_place(seed: int, start: int, count: int) -> Tensor:
    """Return one draw for each image, float64[count], of which `start` come before: the cut does not matter."""
    return torch.from_numpy(np.random.Generator(np.random.PCG64(seed).advance(start)).random(count))


def _join(first: Rows, second: Rows) -> Rows:
    if (first.labels is None) != (second.labels is None):
        raise OpenworldError("some training batches have labels and some have none; give labels with all or with none.")
    device = first.features.device
    features, draws = (
        torch.cat([first.features, second.features.to(device)]),
        torch.cat([first.draws, second.draws.to(device)]),
    )
    labels = None
    if first.labels is not None and second.labels is not None:
        labels = torch.cat([first.labels, second.labels.to(device)])
    return Rows(features, labels, draws, first.first, second.offered)


def _rank_in_class(labels: Tensor | None, draws: Tensor) -> np.ndarray:
    """How many images of the same class have a smaller draw; 0 for all without labels."""
    if labels is None:
        return np.zeros(len(draws))
    classes = labels.cpu().numpy()
    order = np.lexsort((draws.cpu().numpy(), classes))
    starts = np.searchsorted(classes[order], classes[order])
    ranks = np.empty(len(order))
    ranks[order] = np.arange(len(order)) - starts
    return ranks


def largest_products(queries: Tensor, bank: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Values float[N, count] and places int64[N, count] of the largest inner products with float[M, D], descending."""
    size = max(count, PRODUCTS // max(len(queries), 1))
    best, where = queries.new_empty(len(queries), 0), torch.empty(len(queries), 0, dtype=torch.int64)
    where = where.to(queries.device)
    for start in range(0, len(bank), size):
        products = queries @ bank[start : start + size].mT
        values, places = products.topk(min(count, products.shape[1]), dim=1)
        values, places = torch.cat([best, values], dim=1), torch.cat([where, places + start], dim=1)
        best, chosen = values.topk(min(count, values.shape[1]), dim=1)
        where = places.gather(1, chosen)
    return best, where


def require_neighbours(detector: Any, kept: int, images: int) -> None:
    """Raise where a bank that keeps `kept` of the training images has no k-th neighbour."""
    if kept < detector.k:
        raise OpenworldError(
            f"{detector.name} asks for {detector.k} neighbour(s), but its bank holds {kept} of {images} training "
            "image(s); lower k, or keep more."
        )
