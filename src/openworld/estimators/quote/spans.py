"""A target in order, cut into spans that follow each other: a sample of each, one span in memory at a time."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

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
    opened: Span | None = None,  # the last of pieces that came before, which goes on where its key does
    before: int = 0,  # how many images came before
) -> Iterator[Span]:
    """Cut a target, in blocks each with keys int64[n] that never fall, such as days, where the key changes."""
    key, first, rows_before, sampler = None, 0, before, None
    if opened is not None:
        key, first, sampler = opened.key, opened.first, Sampler.after(opened.sample, rows, seed=seed)
    for block, keys in pieces:
        edges = [0, *(np.flatnonzero(np.diff(keys)) + 1).tolist(), len(keys)]
        for start, stop in pairwise(edges):
            value = int(keys[start])
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
