"""From records of incremental shift to the numbers of IS-OOD's tables: trends over cells, and labelling issues.

"Rethinking the Evaluation of Out-of-Distribution Detection: A Sorites Paradox" (Long et al., 2024). FPR@95 is that of
OpenOOD v1.5 and AUPR has in-distribution as the positive side, as in its released code. A number of several seeds is
the mean of the seeds' numbers. Of runs with several models the classifier that was judged first is read.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from openworld._errors import OpenworldError
from openworld.metrics import ShiftTrend, shift_trend
from openworld.papers import METRICS, PaperTable, published_numbers
from openworld.papers.measured import Measured, StandsFor
from openworld.results import Interval
from openworld.results.seeds import mean, student
from openworld.runs import Record, RunStore

PROTOCOL = "incremental-shift"
GIVEN = "given cells"
"""What a run calls its pool where the division was given."""

KEYS = {"AUROC": "auroc", "FPR@95": "fpr_openood", "AUPR": "aupr_in"}
"""The paper's metric -> where a record's cells keep it."""

AXES = {"semantic shift": "semantic", "covariate shift": "covariate"}
SUBSETS = {
    "entire ImageNet-21K (with labeling issues)": "all",
    "subsets with larger semantic shift (fewer labeling issues)": "far",
}
"""Columns of Table 8 -> the subsets of a record; the paper does not say which levels are larger."""

Told = Mapping[str, Any]


def read(wanted: PaperTable, runs: Sequence[StandsFor]) -> tuple[Measured, ...]:
    """Our numbers of a table.

    Args:
        wanted: a table of IS-OOD but 3; see `decomposed_zero_shot.paper`.
        runs: whole runs; detectors beyond the table's are left out.

    Raises:
        OpenworldError: when no run holds a detector of the table.
    """
    methods = tuple(dict.fromkeys(one.method for one in published_numbers(wanted.paper, wanted.number)))
    of_one = _labelling if wanted.tasks == ("labelling issues",) else _trends
    found = [number for run in runs for number in of_one(run, wanted.metrics, methods)]
    found = [number for number in found if number.dataset in wanted.datasets] or found
    if not found:
        raise OpenworldError(
            f"{wanted.short_heading} is read from runs of incremental shift with {', '.join(methods)}; none of the "
            f"{len(runs)} given holds any of them."
        )
    return tuple(found)


def _trends(run: StandsFor, metrics: Sequence[str], methods: Sequence[str]) -> Iterator[Measured]:
    told = _judged(run)
    for label in _labels(told, run, methods):
        for setting, axis in AXES.items():
            for metric in metrics:
                kind, _, of = metric.removesuffix(")").partition("(")
                along = [getattr(_trend(one["detectors"][label], KEYS[of]), axis) for one in told]
                yield _measured(run, told, (setting, label, metric), [getattr(one, kind) for one in along])


def _trend(detector: Told, key: str) -> ShiftTrend:
    """Over the cells that are there; a cell of a metric without interval is a bare number."""
    cells = [[_value(cell[key]) if cell else None for cell in row] for row in detector["cells"]]
    table = np.array(cells, dtype=np.float64)
    return shift_trend(table, np.isfinite(table))


def _labelling(run: StandsFor, metrics: Sequence[str], methods: Sequence[str]) -> Iterator[Measured]:
    told = _judged(run)
    for label in _labels(told, run, methods):
        for setting, subset in SUBSETS.items():
            areas = [one["labelling"]["detectors"][label][subset] for one in told]
            yield _measured(run, told, (setting, label, metrics[0]), [_value(one) for one in areas], areas)


def _measured(run: StandsFor, told: Sequence[Told], named, values, areas: Sequence[Told] = ()) -> Measured:
    """The mean over the seeds; with one seed, its interval over images where there is one."""
    (setting, label, metric), dataset = named, run.dataset(_pool(told[0]))
    unit = METRICS[metric].per_one
    per_seed = () if None in values else tuple(unit * value for value in values)
    intervals = student(per_seed, METRICS[metric])
    if len(told) == 1 and areas and areas[0].get("interval"):
        low, high = areas[0]["interval"]
        intervals = (Interval(unit * low, unit * high, "images", int(told[0]["pool"]["n"])),)
    return Measured(
        *(dataset, setting, run.method(label), metric, mean(per_seed), intervals, per_seed),
        datasets=(dataset,),
        backbone=str(told[0]["model"]),
    )


def _records(folder: Path) -> tuple[Record, ...]:
    return tuple(RunStore(folder).records())


def _judged(run: StandsFor) -> list[Told]:
    """Metrics of every seed of the first classifier, or of the first model where there is none; seeds increase."""
    told = [one.metrics for one in run.read(_records)]
    odd = sorted({str(one.get("protocol")) for one in told} - {PROTOCOL})
    if odd or not told:
        raise OpenworldError(f"{run.folder} is a run of {', '.join(odd) or 'nothing'}, expected {PROTOCOL}.")
    classifiers = [one for one in told if one.get("kind", "classifier") == "classifier"] or told
    first = classifiers[0]["model"]
    return sorted((one for one in classifiers if one["model"] == first), key=lambda one: one["seed"])


def _labels(told: Sequence[Told], run: StandsFor, methods: Sequence[str]) -> list[str]:
    """Detectors of the table that every seed has."""
    return [
        label
        for label in told[0]["detectors"]
        if run.method(label) in methods and all(label in one["detectors"] for one in told)
    ]


def _pool(told: Told) -> str:
    sources = told["source"].get("sources") or ()
    return str(sources[0]["dataset"]) if told.get("decomposition") and sources else GIVEN


def _value(told: Any) -> float | None:
    return told["value"] if isinstance(told, Mapping) else told
