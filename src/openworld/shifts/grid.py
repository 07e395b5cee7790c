"""The shift grid: images in cells of covariate (rows) and semantic (columns) level; cells with few images are no cells.

IS-OOD (Long et al., 2024; qqwsad5/IS-OOD @ e771abb) leaves out subsets of fewer than 10 images and writes 0 for their
results, which its analysis then drops; here a mask says which cells are there.
"""

from dataclasses import dataclass

import numpy as np

from openworld._arrays import as_labels, require_at_least, require_length
from openworld._errors import OpenworldError
from openworld._short_repr import short_repr
from openworld._types import checked
from openworld.shifts.degrees import ShiftDegrees
from openworld.shifts.levels import Levels

LEAST = 10


@checked
@dataclass(frozen=True, eq=False)
class ShiftGrid:
    """N images in R x C cells.

    Args:
        semantic: int64[N], column of each image, from 0. covariate: int64[N], its row.
        shape: (R, C), numbers of covariate and of semantic levels.
        least: cells with fewer images are N/A; at least 1.

    Raises:
        OpenworldError: levels outside the shape, lengths that differ.

    >>> grid = ShiftGrid([0, 1, 1], [0, 0, 0], shape=(2, 2), least=2)
    >>> grid.counts.tolist(), grid.present.tolist(), grid.cell(0, 1).tolist()
    ([[1, 2], [0, 0]], [[False, True], [False, False]], [1, 2])
    """

    semantic: np.ndarray
    covariate: np.ndarray
    shape: tuple[int, int]
    least: int = LEAST

    __repr__ = short_repr

    def __post_init__(self):
        require_at_least(1, rows=self.shape[0], columns=self.shape[1], images_in_a_cell=self.least)
        for name, count in (("covariate", self.shape[0]), ("semantic", self.shape[1])):
            levels = as_labels(getattr(self, name), f"{name} levels")
            if levels.size and levels.max() >= count:
                raise OpenworldError(f"{name} levels go up to {levels.max()}, but there are {count}, counted from 0.")
            object.__setattr__(self, name, levels)
        require_length(self.covariate, "covariate levels", len(self.semantic))

    def __len__(self) -> int:
        return len(self.semantic)

    @property
    def counts(self) -> np.ndarray:
        """Images per cell: int64[R, C]."""
        cells = self.covariate * self.shape[1] + self.semantic
        return np.bincount(cells, minlength=self.shape[0] * self.shape[1]).reshape(self.shape)

    @property
    def present(self) -> np.ndarray:
        """bool[R, C], False where a cell is N/A."""
        return self.counts >= self.least

    @checked
    def cell(self, covariate: int, semantic: int) -> np.ndarray:
        """Which images are in a cell: int64[n], ascending."""
        for name, level, count in (("covariate", covariate, self.shape[0]), ("semantic", semantic, self.shape[1])):
            if not 0 <= level < count:
                raise OpenworldError(f"there is no {name} level {level}; levels go from 0 to {count - 1}.")
        return np.flatnonzero((self.covariate == covariate) & (self.semantic == semantic))


@checked
def shift_grid(degrees: ShiftDegrees, semantic: Levels, covariate: Levels, *, least: int = LEAST) -> ShiftGrid:
    """The grid of images with these degrees.

    Args:
        degrees: of N images. semantic, covariate: where the levels are cut, such as `equal_width_levels` gives.
        least: as for `ShiftGrid`.
    """
    columns, rows = semantic.of(degrees.semantic_degree), covariate.of(degrees.covariate_degree)
    return ShiftGrid(columns, rows, (len(covariate), len(semantic)), least)
