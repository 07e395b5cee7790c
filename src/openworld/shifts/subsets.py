"""Subsets of equal size from the cells of a grid, as Syn-IS takes prompts for its images (Long et al., 2024, IS-OOD).

There the images do not exist yet: degrees are those of prompts, text features against the reference images
(`shift_degrees` with texts in the place of images), whose distances are larger than those of images, so that texts need
cuts of their own. Sparse cells repeat prompts, and how many are unique is part of the result.
"""

from dataclasses import dataclass

import numpy as np

from openworld._arrays import MANY, require_at_least, require_at_most
from openworld._short_repr import short_repr
from openworld._types import checked
from openworld.shifts.grid import ShiftGrid


@dataclass(frozen=True, eq=False)
class EqualSubsets:
    """A subset of every cell that is present.

    members: (covariate level, semantic level) -> int64[count], which images or prompts, ascending; repeats stand
    beside each other. unique: int64[R, C], how many different ones. repeats: int64[R, C], how often the commonest is
    in; both 0 in cells that are N/A.
    """

    members: dict[tuple[int, int], np.ndarray]
    unique: np.ndarray
    repeats: np.ndarray

    __repr__ = short_repr


@checked
def equal_subsets(grid: ShiftGrid, count: int, *, seed: int = 0) -> EqualSubsets:
    """Draw `count` of every present cell, without replacement while there are enough, else all about equally often.

    Args:
        grid: of images or prompts. count: size of each subset, at least 1. seed: of the draws, one per cell.

    >>> cell = ShiftGrid([0, 0, 0], [0, 0, 0], shape=(1, 1), least=1)
    >>> drawn = equal_subsets(cell, 7)
    >>> drawn.unique.tolist(), drawn.repeats.tolist(), len(drawn.members[0, 0])
    ([[3]], [[3]], 7)
    """
    require_at_least(1, count=count)
    require_at_most(MANY, count=count)
    members, unique, repeats = {}, np.zeros(grid.shape, np.int64), np.zeros(grid.shape, np.int64)
    for row, column in np.argwhere(grid.present).tolist():
        there = grid.cell(row, column)
        times, more = divmod(count, len(there))
        generator = np.random.default_rng((seed, row, column))  # so that no cell's draw depends on the other cells
        extra = generator.choice(there, more, replace=False)
        members[row, column] = np.sort(np.concatenate([np.repeat(there, times), extra]))
        unique[row, column], repeats[row, column] = min(count, len(there)), times + bool(more)
    return EqualSubsets(members, unique, repeats)
