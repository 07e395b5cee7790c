"""OpenworldAUC and its parts as functions of measured shift: base test images against the new images of each cell.

Joins "OpenworldAUC" (Hua et al., 2025) with the shift grid of "Rethinking the Evaluation of Out-of-Distribution
Detection: A Sorites Paradox" (Long et al., 2024): the scores of any learner, and the degrees of its test images.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from openworld.core.arrays import ArrayLike, as_correct, as_groups, as_labels, as_scores, require_length
from openworld.core.representation import short_repr
from openworld.core.types import checked
from openworld.metrics import OpenworldAUC, openworld_auc
from openworld.shifts.grid import ShiftGrid

Groups = ArrayLike | None
Pair = tuple[Any, Any]  # scores, and whether each was named right


@dataclass(frozen=True, eq=False)
class OpenWorldByShift:
    """Of R covariate by C semantic levels.

    cells: (covariate level, semantic level) -> result, for the cells that are present.
    semantic, covariate: the results against all new images of each level; None for a level of fewer than `least`.
    """

    cells: Mapping[tuple[int, int], OpenworldAUC]
    semantic: tuple[OpenworldAUC | None, ...]
    covariate: tuple[OpenworldAUC | None, ...]

    __repr__ = short_repr


@checked
def open_world_by_shift(
    base: Pair,
    new: Pair,
    grid: ShiftGrid,
    *,
    base_covariate: ArrayLike | None = None,
    base_groups: Groups = None,
    new_groups: Groups = None,
) -> OpenWorldByShift:
    """Hold all base images against the new images of each cell, of each semantic and of each covariate level.

    Args:
        base: scores float[n], larger = more base-like, and bool[n], whether each was named right.
        new: the same of the N new images.
        grid: where the N new images stand.
        base_covariate: int64[n], the covariate level of each base image; only those of the same level are then held
            against new images, so that the looks change for both sides alike, as they do when a camera changes. Levels
            of fewer than `grid.least` are None. There are no semantic levels then: they would mix looks.
        base_groups, new_groups: as for `openworld.metrics.openworld_auc`.
    Raises:
        OpenworldError: lengths that differ, and what `openworld_auc` raises.

    >>> grid = ShiftGrid([0, 1], [0, 0], shape=(1, 2), least=1)
    >>> found = open_world_by_shift(([3, 1], [1, 1]), ([2, 0], [1, 1]), grid)
    >>> [one.value for one in found.semantic], found.covariate[0].value
    ([0.5, 1.0], 0.75)
    """
    sides = []
    for name, (scores, correct), groups in (("base", base, base_groups), ("new", new, new_groups)):
        scores = as_scores(scores, f"{name} scores")
        require_length(scores, f"{name} scores", len(grid) if name == "new" else len(scores))
        correct = as_correct(correct, f"{name} correct", len(scores))
        sides.append((scores, correct, None if groups is None else as_groups(groups, f"{name}_groups", len(scores))))

    def held(*chosen: np.ndarray) -> OpenworldAUC | None:
        """Return the metric of some base images, int64 places, against some new ones; None of too few."""
        if min(map(len, chosen)) < grid.least:
            return None
        (scores, correct, groups), (new_scores, new_correct, new_groups) = (
            (scores[places], correct[places], None if groups is None else groups[places])
            for (scores, correct, groups), places in zip(sides, chosen, strict=True)
        )
        return openworld_auc(scores, correct, new_scores, new_correct, base_groups=groups, new_groups=new_groups)

    everyone, (rows, columns) = np.arange(len(sides[0][0])), grid.shape
    base_of = [everyone] * rows  # by covariate level
    if base_covariate is not None:
        levels, columns = as_labels(base_covariate, "base_covariate", len(everyone)), 0
        base_of = [np.flatnonzero(levels == level) for level in range(rows)]
    cells = {
        (row, column): held(base_of[row], grid.cell(row, column)) for row, column in np.argwhere(grid.present).tolist()
    }
    return OpenWorldByShift(
        {place: cell for place, cell in cells.items() if cell is not None},
        tuple(held(everyone, np.flatnonzero(grid.semantic == level)) for level in range(columns)),
        tuple(held(places, np.flatnonzero(grid.covariate == level)) for level, places in enumerate(base_of)),
    )
