"""From records of accuracy estimation to the numbers of FRAP's tables: mean absolute errors, and calibration errors.

"Bridging Domain Expertise and Generalization for Performance Estimation" (FRAP). A row pools its conditions with all
models, checkpoints and seeds; the last row is the unweighted mean of the rows. Table 2 is taken to be the mean
calibration error of a reference over all conditions of a source data set.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from openworld._errors import OpenworldError
from openworld.evaluations.accuracy_estimation.chance import Chance
from openworld.evaluations.accuracy_estimation.run import EstimateRun, load_estimates
from openworld.papers import METRICS, PaperTable, published_numbers
from openworld.papers.measured import Measured, StandsFor, average_of, several_datasets
from openworld.results import Interval
from openworld.results.seeds import student

CALIBRATIONS = {"raw": "unscaled", "TTC": "ttc"}
"""How a method of Table 2 ends -> where records keep it, by reference. The paper's raw probabilities are the softmax of
bare similarities: its section 4.1 finds them nearly uniform."""


def read(wanted: PaperTable, runs: Sequence[StandsFor]) -> tuple[Measured, ...]:
    """Our numbers of a table.

    Args:
        wanted: the table.
        runs: whole runs; their methods beyond the table's are left out, and so are rows, unless all are.

    Raises:
        OpenworldError: when no run holds a method of the table.
    """
    methods = tuple(dict.fromkeys(one.method for one in published_numbers(wanted.paper, wanted.number)))
    of_one = _calibration if wanted.tasks == ("calibration",) else _errors
    found = [number for run in runs for number in of_one(run, methods)]
    found = [number for number in found if number.dataset in wanted.datasets] or found
    if not found:
        raise OpenworldError(
            f"{wanted.short_heading} is read from runs of accuracy estimation with {', '.join(methods)}; none of the "
            f"{len(runs)} given holds any of them."
        )
    groups = {method: [one for one in found if one.method == method] for method in methods}
    averages = [average_of(group) for group in groups.values() if wanted.rows == "dataset" and several_datasets(group)]
    return tuple(averages if wanted.number == "4" else (*found, *averages))


def _errors(run: StandsFor, methods: Sequence[str]) -> Iterator[Measured]:
    told = run.read(load_estimates)
    chance = Chance(told)
    for place, method in enumerate(told.methods):
        if run.method(method.label) in methods:
            backbone = _backbones(told).get(method.reference, "")
            sizes = np.abs(told.off[place])
            for row in told.rows:
                named = (run.dataset(row), run.method(method.label), "MAE")
                yield _measured(told, named, sizes, (chance, row), backbone)


def _calibration(run: StandsFor, methods: Sequence[str]) -> Iterator[Measured]:
    told = run.read(load_estimates)
    dataset, chance = run.dataset(_source(told)), Chance(told)
    for method in methods:
        reference, _, kind = method.rpartition(" ")
        if reference in told.references:
            found = told.read(lambda target, at=(reference, CALIBRATIONS[kind]): target["ece"][at[0]].get(at[1]))
            backbone = _backbones(told).get(reference, "")
            yield _measured(told, (dataset, method, "ECE"), found, (chance, None), backbone)


def _measured(told: EstimateRun, named, values: np.ndarray, drawn: tuple[Chance, str | None], backbone) -> Measured:
    """The mean of `values`, float[M, C], over a row, or over everything for row None; None where one is missing."""
    (dataset, method, metric), (chance, row) = named, drawn
    chosen = np.isfinite(told.accuracy) & (told.of_row(row) if row else True)
    facts = {"datasets": (dataset,), "backbone": backbone}
    if not np.isfinite(values[chosen]).all():
        return Measured(dataset, "", method, metric, None, **facts)
    unit, seeds = METRICS[metric].per_one, np.array([model.seed for model in told.models])
    per_seed = tuple(unit * float(values[chosen & (seeds == one)[:, None]].mean()) for one in told.seeds)
    shown = np.where(chosen, values, np.nan)
    ends = chance.interval(shown, row) if row or len(told.rows) == 1 else None
    pairs = chance.shifts(row) * chance.trainings
    over = (Interval(unit * ends[0], unit * ends[1], "pairs of a shift and a training", pairs),) if ends else ()
    intervals = (*over, *student(per_seed, METRICS[metric]))
    return Measured(dataset, "", method, metric, unit * float(values[chosen].mean()), intervals, per_seed, **facts)


def _source(told: EstimateRun) -> str:
    """The data set that the models were trained on; several that were pooled are told by the first."""
    return told.told[0]["sources"][0]["dataset"]


def _backbones(told: EstimateRun) -> dict[str, str]:
    """Reference -> the model behind it; those without one are left out."""
    resolved = told.resolved if isinstance(told.resolved, dict) else {}
    listed = resolved.get("references") or ()
    return {one["name"]: one["backbone"] for one in listed if one.get("backbone")}
