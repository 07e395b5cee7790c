"""How far one's own pictures are from a reference, in meaning and in looks: what `openworld shift` computes.

Degrees, levels and cells as IS-OOD has them (Long et al., 2024). Beside them a yardstick that the paper does not have:
the degrees of a sample of the reference's own pictures, each measured against all the others; what lies above the 95 %
quantile of those is called far.

A picture that is itself in the reference is measured against the others, as if it were not there.

Memory does not grow with the pictures but for some 100 bytes of each: features are read from disk in blocks of `BLOCK`
pictures, two blocks at a time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from openworld._arrays import require_at_least
from openworld._errors import OpenworldError
from openworld.applications.shift.images import Gathered, Reader
from openworld.shift import (
    HALVES,
    PUBLISHED_QUANTILES,
    Decomposition,
    Levels,
    ShiftGrid,
    equal_width_levels,
    merge_degrees,
    shift_degrees,
)

SAMPLE = 1000  # reference pictures that are measured against the others
USUAL = 0.95
SAME = 1e-6  # distance in both halves below which a picture is one of the reference


@dataclass(frozen=True)
class ShiftOptions:
    """What is wanted.

    k: which neighbour, from 1. levels: of each axis, at least 3. least: cells with fewer pictures are N/A. seed: of
    the sample of the reference. cuts: levels by half that were cut before; None to cut them by these pictures.
    """

    k: int = 10
    levels: int = 8
    least: int = 10
    seed: int = 0
    cuts: Mapping[str, Levels] | None = None

    def __post_init__(self):
        require_at_least(1, neighbour=self.k, smallest_cell=self.least)
        require_at_least(3, levels=self.levels)


@dataclass(frozen=True, eq=False)
class ImageDegrees:
    """Degrees of n test pictures.

    Args:
        test: int64[n], which set; row: int64[n], which picture of it.
        degrees: float64[n] by half; nearest: int64[n] by half, the nearest reference picture.
        usual: by half, float64 of the sampled reference pictures.
        grid: levels of the n; cuts: Levels by half.
        known: how many reference pictures were read; shared: how many test pictures are in the reference, too.
        k: which neighbour the degrees are the distance to.
    """

    test: np.ndarray
    row: np.ndarray
    degrees: dict[str, np.ndarray]
    nearest: dict[str, np.ndarray]
    usual: dict[str, np.ndarray]
    grid: ShiftGrid
    cuts: dict[str, Levels]
    known: int
    shared: int
    k: int

    def bound(self, half: str) -> float:
        """What 95 % of the reference's own pictures stay below."""
        return float(np.quantile(self.usual[half], USUAL))

    def far(self, half: str) -> np.ndarray:
        """bool[n]: which pictures lie beyond the bound."""
        return self.degrees[half] > self.bound(half)


def measure(
    reference: Gathered, tests: Sequence[Gathered], decomposition: Decomposition, options: ShiftOptions, reader: Reader
) -> ImageDegrees:
    """Degrees of all test pictures against all reference pictures, and their grid.

    Raises:
        OpenworldError: a reference of too few pictures, a single test picture, pictures that cannot be read.
    """
    _require_enough(reference, tests, options)
    known = sum(len(features) for _, features in reader.blocks(reference))
    if known < options.k + 2:
        raise _too_few(reference, known, options)
    parts = [
        (np.full(len(rows), place), rows, *_against(reference, features.embeddings, decomposition, options.k, reader))
        for place, test in enumerate(tests)
        for rows, features in reader.blocks(test)
    ]
    test, row, semantic, covariate, near, near_looks, same = (np.concatenate(one) for one in zip(*parts, strict=True))
    degrees = dict(zip(HALVES, (semantic, covariate), strict=True))
    cuts = options.cuts or {half: _cut(half, degrees[half], options) for half in HALVES}
    levels = {half: cuts[half].of(degrees[half]) for half in HALVES}
    shape = len(cuts["covariate"]), len(cuts["semantic"])
    return ImageDegrees(
        test,
        row,
        degrees,
        dict(zip(HALVES, (near, near_looks), strict=True)),
        _usual(reference, known, decomposition, options, reader),
        ShiftGrid(levels["semantic"], levels["covariate"], shape, options.least),
        cuts,
        known,
        int(same.sum()),
        options.k,
    )


def _require_enough(reference: Gathered, tests: Sequence[Gathered], options: ShiftOptions) -> None:
    if len(reference.images) < options.k + 2:
        raise _too_few(reference, len(reference.images), options)
    count = sum(len(test.images) for test in tests)
    if count < 2 and options.cuts is None:
        names = " and ".join(test.name for test in tests)
        raise OpenworldError(
            f"{names} holds {count} picture(s), expected two or more: levels divide pictures. To measure a single one, "
            "give the levels of an earlier run with --levels-of."
        )


def _too_few(reference: Gathered, count: int, options: ShiftOptions) -> OpenworldError:
    return OpenworldError(
        f"{reference.name} holds {count} picture(s) that can be read, and the distance to neighbour {options.k} needs "
        f"{options.k + 2} or more: give more reference pictures, or a smaller --neighbour."
    )


def _against(reference: Gathered, features, decomposition: Decomposition, k: int, reader: Reader) -> tuple:
    """Both degrees, the nearest pictures in both halves, and whether a picture is in the reference: [n] each."""
    shards, rows = [], []
    for own, block in reader.blocks(reference):
        shards.append(shift_degrees(decomposition, features, block.embeddings, k=k + 1, first=sum(map(len, rows))))
        rows.append(own)
        if len(shards) > 1:
            shards = [merge_degrees(shards)]
    found, rows = [getattr(shards[0], half) for half in HALVES], np.concatenate(rows)
    same = np.logical_and(*(near.distances[:, 0] < SAME for near in found))
    first = same.astype(np.int64)  # a picture of the reference is its own first neighbour, which does not count
    each = np.arange(len(same))
    degrees = (near.distances[each, first + k - 1] for near in found)
    return *degrees, *(rows[near.places[each, first]] for near in found), same


def _usual(
    reference: Gathered, known: int, decomposition: Decomposition, options: ShiftOptions, reader: Reader
) -> dict:
    """Degrees of a sample of the reference against the rest of it."""
    drawn = np.sort(np.random.default_rng(options.seed).choice(known, min(SAMPLE, known), replace=False))
    kept, first = [], 0
    for _, block in reader.blocks(reference):
        own = drawn[(drawn >= first) & (drawn < first + len(block))] - first
        kept.append(np.asarray(block.embeddings[own]))
        first += len(block)
    semantic, covariate, *_ = _against(reference, np.concatenate(kept), decomposition, options.k, reader)
    return {"semantic": semantic, "covariate": covariate}


def _cut(half: str, degrees: np.ndarray, options: ShiftOptions) -> Levels:
    try:
        return equal_width_levels(degrees, PUBLISHED_QUANTILES[half], options.levels)
    except OpenworldError as error:
        raise OpenworldError(
            f"the pictures cannot be divided into {half} levels, because their degrees hardly differ; give more, or "
            "such as differ, or the levels of an earlier run with --levels-of."
        ) from error
