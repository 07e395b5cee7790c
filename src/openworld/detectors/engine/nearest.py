"""The largest inner products of many queries with a large bank, exact, in chunks with a running top-k."""

import torch
from torch import Tensor

from openworld._errors import OpenworldError
from openworld.detectors.engine.fitted import OODDetector

PRODUCTS = 2**24  # inner products alive at a time, 64 MiB in float32


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


def require_neighbours(detector: OODDetector, kept: int, images: int) -> None:
    """Raise where a bank that keeps `kept` of the training images has no k-th neighbour."""
    if kept < detector.k:
        raise OpenworldError(
            f"{detector.name} asks for {detector.k} neighbour(s), but its bank holds {kept} of {images} training "
            "image(s); lower k, or keep more."
        )
