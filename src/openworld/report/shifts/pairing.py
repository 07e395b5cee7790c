"""Two runs of incremental shift side by side: the same detectors on the same pool, number by number.

Differences have Student's interval over the seeds that both runs have, seed against seed; nothing is tested over
pictures, for records do not tell which of them belong together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from openworld._errors import OpenworldError
from openworld.report.shifts.numbers import Number, averaged, means, overall, slope
from openworld.report.shifts.run import AXES, Judged, ShiftRun

PICTURES = ("pool", "test pictures")
"""What of a unit's inputs must be the same for two runs to be comparable."""


@dataclass(frozen=True)
class ShiftPair:
    """A detector in two runs.

    Args:
        title: what it is called, with both models where they differ.
        first, second: AUROC against the whole pool. difference: second - first.
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
    return tuple(_pair((first, one), (second, other)) for one, other in found)


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
    return ShiftPair(title, overall(before, one), overall(after, other), _difference(first, second), cells, slopes)


def _difference(first: tuple[ShiftRun, Judged], second: tuple[ShiftRun, Judged]) -> Number:
    """Of the means of all seeds; its interval over the common seeds, where there are several and no others."""
    subset = "all" if first[0].cells.id_kept else "unknown"
    by_seed = [
        {seed: told["value"] for seed, told in zip(run.seeds(one.model), run.areas(one, subset), strict=True)}
        for run, one in (first, second)
    ]
    if by_seed[0].keys() == by_seed[1].keys():
        values = [by_seed[1][seed] - by_seed[0][seed] for seed in by_seed[0]]
        return averaged(values, (-1.0, 1.0))
    means_of = [averaged(list(one.values())).value for one in by_seed]
    return Number(None if None in means_of else means_of[1] - means_of[0])


def _pictures(run: ShiftRun) -> dict[str, str]:
    inputs = run.records[0].unit.inputs if run.records else {}
    return {name: inputs.get(name, "") for name in PICTURES} | {"id kept": str(run.cells.id_kept)}
