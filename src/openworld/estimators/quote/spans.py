"""A target in order, cut into spans that follow each other: a sample of each, one span in memory at a time."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from openworld._errors import OpenworldError
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.streaming import Sample, Sampler

ROWS = 10_000  # of a span's sample: an accuracy is then known to a point


@dataclass(frozen=True, eq=False)
class Span:
    """Images of one key that follow each other. first: the place of the first of them in the target."""

    key: int
    first: int
    sample: Sample


def spans(
    pieces: Iterable[tuple[Outputs, np.ndarray]],
    *,
    rows: int = ROWS,
    seed: int = 0,
    opened: Span | None = None,
    before: int = 0,
) -> Iterator[Span]:
    """Cut a target where the key changes.

    Args:
        pieces: blocks of the target in order, each with keys int64[n] that never fall, such as days. rows: how many
            images of a span are held; a larger span is represented by a uniform sample. seed: of those draws.
        opened: the last span of pieces that came before these ones, which goes on where its key does. before: how many
            images came before.
    Raises:
        OpenworldError: keys that fall.

    >>> pieces = [(Outputs(np.eye(3)), np.array([0, 0, 2])), (Outputs(np.eye(3)), np.array([2, 2, 3]))]
    >>> [(one.key, one.first, one.sample.n) for one in spans(pieces)]
    [(0, 0, 2), (2, 2, 3), (3, 5, 1)]
    """
    key, first, rows_before, sampler = None, 0, before, None
    if opened is not None:
        key, first, sampler = opened.key, opened.first, Sampler.after(opened.sample, rows, seed=seed)
    for block, keys in pieces:
        for value, start, stop in _runs(keys):
            if value != key:
                if sampler is not None:
                    yield Span(key, first, sampler.sample)
                if key is not None and value < key:
                    raise OpenworldError(
                        f"image {rows_before - before + start:,} comes before the ones above it; sort them by time."
                    )
                key, first, sampler = value, rows_before + start, Sampler(rows, seed=seed)
            sampler.add(block.take(slice(start, stop)))
        rows_before += block.n
    if sampler is not None:
        yield Span(key, first, sampler.sample)


def _runs(keys: np.ndarray) -> Iterator[tuple[int, int, int]]:
    """Equal keys that follow each other: the key, where they begin and where they end."""
    edges = [0, *(np.flatnonzero(np.diff(keys)) + 1).tolist(), len(keys)]
    return ((int(keys[start]), start, stop) for start, stop in zip(edges, edges[1:], strict=False))
