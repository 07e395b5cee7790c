"""From results of accuracy estimation to the numbers of FRAP's tables: mean absolute errors, and calibration errors.

"Bridging Domain Expertise and Generalization for Performance Estimation" (FRAP). A row pools its conditions with all
models, checkpoints and seeds; the last row is the unweighted mean of the rows. Table 2 is taken to be the mean
calibration error of a reference over all conditions of a source data set.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from openworld._errors import OpenworldError
from openworld.evaluations.accuracy_estimation.cards import CALIBRATION, ERROR
from openworld.evaluations.accuracy_estimation.measurements import Measurements
from openworld.evaluations.accuracy_estimation.record import TTC, UNSCALED
from openworld.evaluations.accuracy_estimation.reference_results import ALL, CALIBRATIONS
from openworld.evaluations.accuracy_estimation.results import is_complete, read_results
from openworld.papers import PaperTable, published_numbers
from openworld.papers.results import PaperResult, PaperRun, average_of, paper_result, several_datasets
from openworld.results import Result, Results, RunFolder, Value

KINDS = {"raw": CALIBRATIONS[UNSCALED], "TTC": CALIBRATIONS[TTC]}
"""How a method of Table 2 ends -> its kind of calibration. The paper's raw probabilities are the softmax of bare
similarities: its section 4.1 finds them nearly uniform."""


def read(wanted: PaperTable, runs: Sequence[PaperRun]) -> tuple[PaperResult, ...]:
    """Return our numbers of a table.

    Args:
        wanted: the table.
        runs: whole runs; their methods beyond the table's are left out, and so are rows, unless all are.

    Raises:
        OpenworldError: when no run holds a method of the table.
    """
    methods = tuple(dict.fromkeys(number.method for number in published_numbers(wanted.paper, wanted.number)))
    numbers_of = _calibration if wanted.tasks == ("calibration",) else _errors
    numbers = [number for run in runs for number in numbers_of(run, *run.read(_load), methods)]
    numbers = [number for number in numbers if number.dataset in wanted.datasets] or numbers
    if not numbers:
        raise OpenworldError(
            f"{wanted.short_heading} is read from runs of accuracy estimation with {', '.join(methods)}; none of the "
            f"{len(runs)} given holds any of them."
        )
    groups = [[number for number in numbers if number.method == method] for method in methods]
    averages = [average_of(group) for group in groups if wanted.rows == "dataset" and several_datasets(group)]
    return tuple(averages if wanted.number == "4" else (*numbers, *averages))


def _errors(run: PaperRun, results: Results, measured: Measurements, methods: Sequence[str]) -> Iterator[PaperResult]:
    backbones = _backbones(measured)
    for method in measured.methods:
        if run.method(method.label) in methods:
            names = {"method": run.method(method.label), "backbone": backbones.get(method.reference, "")}
            for row in measured.rows:
                result = results.result(method.label, ERROR.key, images=row)
                if not is_complete(results, method.label, row):
                    result = Result(method.label, ERROR, Value(None, reason="an estimate is missing"))
                yield paper_result(result, "MAE", dataset=run.dataset(row), **names)


def _calibration(
    run: PaperRun, results: Results, measured: Measurements, methods: Sequence[str]
) -> Iterator[PaperResult]:
    """Yield calibration errors; of several sources that were pooled the first names the data set."""
    dataset, backbones = run.dataset(measured.records[0].sources[0].dataset), _backbones(measured)
    for method in methods:
        reference, _, kind = method.rpartition(" ")
        if reference in results.where(metric=CALIBRATION.key, images=ALL, calibration=KINDS[kind]).entities:
            result = results.result(reference, CALIBRATION.key, images=ALL, calibration=KINDS[kind])
            yield paper_result(result, "ECE", dataset=dataset, method=method, backbone=backbones.get(reference, ""))


def _backbones(measured: Measurements) -> dict[str, str]:
    """Reference -> the model behind it; those without one are left out."""
    references = measured.records[0].reference_models
    return {reference.name: reference.backbone for reference in references if reference.backbone}


def _load(folder: Path) -> tuple[Results, Measurements]:
    return read_results(RunFolder.read(folder))
