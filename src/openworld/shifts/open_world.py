"""OpenworldAUC and its parts as functions of measured shift: base test images against the new images of each cell.

Joins "OpenworldAUC" (Hua et al., 2025) with the shift grid of "Rethinking the Evaluation of Out-of-Distribution
Detection: A Sorites Paradox" (Long et al., 2024): the scores of any learner, and the degrees of its test images.
"""

from collections.abc import Callable, Mapping
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
    base: Pair, new: Pair, grid: ShiftGrid, *, base_groups: Groups = None, new_groups: Groups = None
) -> OpenWorldByShift:
    """Hold all base images against the new images of each cell, of each semantic and of each covariate level.

    Args:
        base: scores float[n], larger = more base-like, and bool[n], whether each was named right.
        new: the same of the N new images.
        grid: where the N new images stand.
        base_groups, new_groups: as for `openworld.metrics.openworld_auc`.
    Raises:
        OpenworldError: lengths that differ, and what `openworld_auc` raises.

    >>> grid = ShiftGrid([0, 1], [0, 0], shape=(1, 2), least=1)
    >>> found = open_world_by_shift(([3, 1], [1, 1]), ([2, 0], [1, 1]), grid)
    >>> [one.value for one in found.semantic], found.covariate[0].value
    ([0.5, 1.0], 0.75)
    """
    held = _holding(base, base_groups, new, new_groups, grid)
    everyone, (rows, columns) = np.arange(len(base[0])), grid.shape
    return OpenWorldByShift(
        {place: cell for place in _present(grid) if (cell := held(everyone, grid.cell(*place))) is not None},
        tuple(held(everyone, np.flatnonzero(grid.semantic == level)) for level in range(columns)),
        tuple(held(everyone, np.flatnonzero(grid.covariate == level)) for level in range(rows)),
    )


@checked
def open_world_in_same_looks(
    base: Pair,
    base_covariate: ArrayLike,
    new: Pair,
    grid: ShiftGrid,
    *,
    base_groups: Groups = None,
    new_groups: Groups = None,
) -> OpenWorldByShift:
    """Hold the base images of each covariate level against the new images of the same level, whole and cell by cell.

    The looks change for both sides alike then, as they do when a camera changes. There are no semantic levels: they
    would mix looks.

    Args:
        base, new, grid, base_groups, new_groups: as for `open_world_by_shift`.
        base_covariate: int64[n], the covariate level of each base image; levels of fewer than `grid.least` are None.
    Raises:
        OpenworldError: lengths that differ, and what `openworld_auc` raises.

    >>> grid = ShiftGrid([0, 0], [0, 1], shape=(2, 1), least=1)
    >>> found = open_world_in_same_looks(([3, 1], [1, 1]), [0, 1], ([2, 2], [1, 1]), grid)
    >>> [one.value for one in found.covariate], found.semantic
    ([1.0, 0.0], ())
    """
    held = _holding(base, base_groups, new, new_groups, grid)
    levels = as_labels(base_covariate, "base_covariate", len(base[0]))
    rows = [np.flatnonzero(levels == level) for level in range(grid.shape[0])]
    return OpenWorldByShift(
        {place: cell for place in _present(grid) if (cell := held(rows[place[0]], grid.cell(*place))) is not None},
        (),
        tuple(held(base, np.flatnonzero(grid.covariate == level)) for level, base in enumerate(rows)),
    )


def _holding(
    base: Pair, base_groups, new: Pair, new_groups, grid: ShiftGrid
) -> Callable[[np.ndarray, np.ndarray], OpenworldAUC | None]:
    """Return what finds OpenworldAUC of some base images against some new ones, int64 places; None of too few."""
    sides = []
    for name, (scores, correct), groups in (("base", base, base_groups), ("new", new, new_groups)):
        scores = as_scores(scores, f"{name} scores")
        require_length(scores, f"{name} scores", len(grid) if name == "new" else len(scores))
        correct = as_correct(correct, f"{name} correct", len(scores))
        sides.append((scores, correct, None if groups is None else as_groups(groups, f"{name}_groups", len(scores))))

    def held(base: np.ndarray, new: np.ndarray) -> OpenworldAUC | None:
        if min(len(base), len(new)) < grid.least:
            return None
        (scores, correct, groups), (new_scores, new_correct, new_groups) = (
            (scores[chosen], correct[chosen], None if groups is None else groups[chosen])
            for (scores, correct, groups), chosen in zip(sides, (base, new), strict=True)
        )
        return openworld_auc(scores, correct, new_scores, new_correct, base_groups=groups, new_groups=new_groups)

    return held


def _present(grid: ShiftGrid) -> list[tuple[int, int]]:
    return [(row, column) for row, column in np.argwhere(grid.present).tolist()]
