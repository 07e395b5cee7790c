"""Images that threads read and prepare ahead of the work on those before them, in bounded memory."""

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import torch

AHEAD = 2
"""Batches that wait, or are being read, beside the one that is worked on."""

_TOGETHER = 16  # images that a thread takes at a time: to hand over a small image costs as much as to read it


def count_readers(device: str | torch.device) -> int:
    """Return how many threads read: on a CPU as many as torch may use, beside a GPU one per core."""
    return torch.get_num_threads() if torch.device(device).type == "cpu" else os.cpu_count() or 1


def read_ahead(
    read: Callable[[int], np.ndarray],
    rows: np.ndarray,
    shape: tuple[int, ...],
    *,
    batch_size: int,
    readers: int = 1,
    pinned: bool = False,
) -> Iterator[torch.Tensor]:
    """Yield images uint8[B, *shape] in order, in batches that were read while the caller worked on those before.

    `read` is called by several threads; at most `AHEAD` + 1 batches are held at a time.

    >>> batches = read_ahead(lambda row: np.full(1, row, np.uint8), np.arange(5), (1,), batch_size=2)
    >>> [batch.flatten().tolist() for batch in batches]
    [[0, 1], [2, 3], [4]]
    """
    waiting: deque[tuple[torch.Tensor, list[Future]]] = deque()
    with ThreadPoolExecutor(readers, thread_name_prefix="reading") as pool:
        try:
            for start in range(0, len(rows), batch_size):
                chunk = rows[start : start + batch_size]
                batch = torch.empty((len(chunk), *shape), dtype=torch.uint8, pin_memory=pinned)
                places = range(0, len(chunk), _TOGETHER)
                parts = ((chunk[at : at + _TOGETHER], batch[at : at + _TOGETHER].numpy()) for at in places)
                waiting.append((batch, [pool.submit(_fill, read, *part) for part in parts]))
                if len(waiting) > AHEAD:
                    yield _whole(*waiting.popleft())
            while waiting:
                yield _whole(*waiting.popleft())
        finally:
            for _, futures in waiting:
                for future in futures:
                    future.cancel()


def _fill(read: Callable[[int], np.ndarray], rows: np.ndarray, place: np.ndarray) -> None:
    for number, row in enumerate(rows.tolist()):
        place[number] = read(row)


def _whole(batch: torch.Tensor, futures: list[Future]) -> torch.Tensor:
    for future in futures:
        future.result()
    return batch
