"""OpenworldAUC and its parts as functions of measured shift: base test images against the new images of each cell.

Joins "OpenworldAUC" (Hua et al., 2025) with the shift grid of "Rethinking the Evaluation of Out-of-Distribution
Detection: A Sorites Paradox" (Long et al., 2024): the scores of any learner, and the degrees of its test images.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from openworld._arrays import require_length
from openworld.metrics import OpenworldAUC, openworld_auc
from openworld.shift import ShiftGrid

PARTS = ("openworld_auc", "base_accuracy", "new_accuracy", "auroc")


@dataclass(frozen=True, eq=False)
class OpenWorldByShift:
    """Of R covariate by C semantic levels.

    cells: (covariate level, semantic level) -> result, for the cells that are present.
    semantic, covariate: the results against all new images of each level; None for a level of fewer than `least`.
    """

    cells: Mapping[tuple[int, int], OpenworldAUC]
    semantic: tuple[OpenworldAUC | None, ...]
    covariate: tuple[OpenworldAUC | None, ...]


def open_world_by_shift(
    base: tuple, new: tuple, grid: ShiftGrid, *, base_groups=None, new_groups=None
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
    scores, correct = (np.asarray(part) for part in new)
    require_length(scores, "new scores", len(grid))
    require_length(correct, "new correct", len(grid))
    groups = None if new_groups is None else np.asarray(new_groups)

    def against(members: np.ndarray) -> OpenworldAUC | None:
        if len(members) < grid.least:
            return None
        own = None if groups is None else groups[members]
        return openworld_auc(*base, scores[members], correct[members], base_groups=base_groups, new_groups=own)

    places = map(tuple, np.argwhere(grid.present).tolist())
    rows, columns = grid.shape
    return OpenWorldByShift(
        {place: against(grid.cell(*place)) for place in places},
        tuple(against(np.flatnonzero(grid.semantic == level)) for level in range(columns)),
        tuple(against(np.flatnonzero(grid.covariate == level)) for level in range(rows)),
    )


def parts_told(found: OpenworldAUC | None) -> dict | None:
    """A result as a record holds it: `PARTS`, counts, and the interval of the first; None for none.

    >>> told = parts_told(openworld_auc([3, 1], [1, 1], [2, 0], [1, 0]))
    >>> told["openworld_auc"], told["new_accuracy"], told["auroc"]
    (0.25, 0.5, 0.75)
    """
    if found is None:
        return None
    told = {name: found.value if name == "openworld_auc" else getattr(found, name) for name in PARTS}
    interval = found.estimate("openworld_auc").interval()
    return told | {"interval": interval, "n_base": found.n_base, "n_new": found.n_new}
