"""From results of dynamic scenarios to the numbers of OpenPL's tables: curves by data set, and ranks."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from openworld._errors import OpenworldError
from openworld.evaluations.dynamic.averages import Average
from openworld.evaluations.dynamic.curves import ScenarioCurves, ScenarioKey, scenario_curves
from openworld.papers import AVERAGE, METRICS, PaperTable
from openworld.papers.results import PaperResult, PaperRun, paper_result
from openworld.results import Result, RunFolder

PlacedRun = tuple[str, ScenarioCurves, PaperRun]
"""What a paper calls the data set whose images or classes are new; its curves; the run."""


def scenario_runs(runs: Sequence[PaperRun], scenario: str) -> tuple[PlacedRun, ...]:
    """Return every run of a scenario, in order of appearance."""
    return tuple(
        (_dataset(run, curves.key), curves, run)
        for run in runs
        for curves in run.read(_load)
        if curves.key.scenario == scenario
    )


def read(wanted: PaperTable, runs: Sequence[PaperRun]) -> tuple[PaperResult, ...]:
    """Return every number of every run of a table's scenario; only averages where the table has several data sets.

    Where any run is on a data set of the table, those on others are left out: a table averages its own data sets.

    Raises:
        OpenworldError: when no run has the scenario.
    """
    placed_runs = scenario_runs(runs, wanted.tasks[0])
    placed_runs = tuple(placed for placed in placed_runs if placed[0] in wanted.datasets) or placed_runs
    if not placed_runs:
        raise OpenworldError(f"no run has {wanted.tasks[0]}; give a finished one that does.")
    if len(wanted.datasets) > 1:
        return tuple(_averages(placed_runs, wanted.metrics))
    return tuple(number for placed in placed_runs for number in numbers_of(placed, wanted.metrics))


def numbers_of(placed: PlacedRun, metrics: Sequence[str]) -> Iterator[PaperResult]:
    """Yield the numbers of one scenario run: of the mean curve over the seeds, and ranks over its levels."""
    dataset, curves, run = placed
    yield from _measured(Average((curves,)).rows(), metrics, dataset, run)


def _averages(placed_runs: Sequence[PlacedRun], metrics: Sequence[str]) -> Iterator[PaperResult]:
    """Tables 6 to 9: deltas averaged over the data sets, ranks over all (data set, level) pairs."""
    datasets = tuple(dataset for dataset, _, _ in placed_runs)
    rows = Average(tuple(curves for _, curves, _ in placed_runs)).rows()
    for number in _measured(rows, metrics, AVERAGE, placed_runs[0][2]):
        yield replace(number, datasets=datasets)


def _measured(rows: Iterable[Result], metrics: Sequence[str], dataset: str, run: PaperRun) -> Iterator[PaperResult]:
    """The results that a table has, learner by learner, in its order of metrics; undefined ones have no row."""
    by_place = {(row.entity, row.metric.key): row for row in rows if "level" not in row.where}
    for learner in dict.fromkeys(learner for learner, _ in by_place):
        for metric in metrics:
            row = by_place[learner, METRICS[metric].key]
            if row.value.value is not None:
                yield paper_result(row, metric, dataset=dataset, method=run.method(learner), backbone=run.backbone)


def _dataset(run: PaperRun, key: ScenarioKey) -> str:
    name, _, domain = (key.against or key.source).partition(", ")
    return run.dataset(name, domain or None)


def _load(folder: Path) -> tuple[ScenarioCurves, ...]:
    return scenario_curves(RunFolder.read(folder))
