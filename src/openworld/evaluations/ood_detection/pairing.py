"""Two runs of incremental shift side by side: the same detectors on the same pool, number by number.

Differences are paired, seed against seed and picture against picture (`gaps`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from openworld._errors import OpenworldError
from openworld.evaluations.ood_detection.errors import Number
from openworld.evaluations.ood_detection.gaps import gap
from openworld.evaluations.ood_detection.numbers import means, overall, slope
from openworld.evaluations.ood_detection.run import Judged, ShiftRun
from openworld.metrics import holm
from openworld.report.shift_axes import AXES

PICTURES = ("pool", "test pictures")
"""What of a unit's inputs must be the same for two runs to be comparable."""


@dataclass(frozen=True)
class ShiftPair:
    """A detector in two runs.

    Args:
        title: what it is called, with both models where they differ.
        first, second: AUROC against the whole pool.
        difference: second - first; its p-value is corrected for all pairs (Holm).
        cells: mean difference over the cells that both have; None where there are none.
        slopes: by axis, slopes on common cells in the first and the second run.
    """

    title: str
    first: Number
    second: Number
    difference: Number
    cells: float | None
    slopes: dict[str, tuple[float | None, float | None]]


def compare_shifts(first: ShiftRun, second: ShiftRun, names: Sequence[str]) -> tuple[ShiftPair, ...]:
    """Pairs of detectors of one name and model; models of other names are paired where each run has a single one.

    Args:
        first, second: the runs. names: what errors call them.

    Raises:
        OpenworldError: other pictures, other cells, or no detector that both have.
    """
    if _pictures(first) != _pictures(second) or not np.array_equal(first.cells.counts, second.cells.counts):
        raise OpenworldError(
            f"{names[1]} judges other pictures, or other cells, than {names[0]}: their difference would be one of "
            "pictures too. Give runs of one pool, one id_part, one division and one id_kept."
        )
    alone = len(first.models) == len(second.models) == 1
    found = [(one, other) for one in first.judged for other in second.judged if _alike(one, other, alone)]
    if not found:
        raise OpenworldError(f"{names[0]} and {names[1]} have no detector of the same name and model in common.")
    pairs = [_pair((first, one), (second, other)) for one, other in found]
    corrected = holm([one.difference.p_value for one in pairs])
    return tuple(
        replace(one, difference=replace(one.difference, p_value=p_value))
        for one, p_value in zip(pairs, corrected, strict=True)
    )


def _alike(one: Judged, other: Judged, alone: bool) -> bool:
    return one.detector == other.detector and (alone or one.model == other.model)


def _pair(first: tuple[ShiftRun, Judged], second: tuple[ShiftRun, Judged]) -> ShiftPair:
    (before, one), (after, other) = first, second
    title = one.detector if one.model == other.model and not one.shared else f"{one.detector} of {one.model}"
    title += f" → {other.model}" * (one.model != other.model)
    apart = means(after.cells, other) - means(before.cells, one)
    both = before.cells.present & after.cells.present
    slopes = {
        axis: tuple(slope(run.cells, mine, axis, common=True).slope.value for run, mine in (first, second))
        for axis in AXES
    }
    cells = float(apart[both].mean()) if both.any() else None
    return ShiftPair(title, overall(before, one), overall(after, other), gap(second, first), cells, slopes)


def _pictures(run: ShiftRun) -> dict[str, str]:
    inputs = run.records[0].unit.inputs if run.records else {}
    return {name: inputs.get(name, "") for name in PICTURES} | {"id kept": str(run.cells.id_kept)}
