"""OpenPL's tables: which rows of dynamic scenarios they hold, curves by data set and averages with ranks."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from openworld.evaluations.dynamic.curves import SCENARIOS, ScenarioCurves, scenario_curves
from openworld.evaluations.dynamic.report import Average
from openworld.papers import AVERAGE, PaperTable
from openworld.papers.results import Cells, PaperRow, PaperRun
from openworld.results import Result, RunFolder

CELLS = {scenario: (Cells(),) for scenario in SCENARIOS}

PlacedRun = tuple[str, ScenarioCurves, PaperRun]
"""What a paper calls the data set whose images or classes are new; its curves; the run."""


def scenario_runs(runs: Sequence[PaperRun], wanted: PaperTable) -> tuple[PlacedRun, ...]:
    """Return every run of a table's scenario on its own data sets, in order of appearance; all where none is."""
    placed = []
    for run in runs:
        for curves in run.read(_load):
            if curves.where["scenario"] in wanted.tasks:
                name, _, domain = curves.where.get("target", curves.where["images"]).partition(", ")
                placed.append((run.dataset(name, domain or None), curves, run))
    return tuple([each for each in placed if each[0] in wanted.datasets] or placed)


def rows(wanted: PaperTable, runs: Sequence[PaperRun]) -> Iterator[PaperRow]:
    """Yield the numbers of the mean curve over the seeds, and ranks over its levels, run by run."""
    # Of a table of several data sets (Tables 6 to 9): their averages, and ranks over all pairs of data set and level.
    placed = scenario_runs(runs, wanted)
    if len(wanted.datasets) > 1 and placed:
        datasets = tuple(dataset for dataset, _, _ in placed)
        yield from _rows(Average(tuple(curves for _, curves, _ in placed)), AVERAGE, placed[0][2], datasets)
        return
    for dataset, curves, run in placed:
        yield from _rows(Average((curves,)), dataset, run, ())


def _rows(average: Average, dataset: str, run: PaperRun, datasets: tuple[str, ...]) -> Iterator[PaperRow]:
    """What is defined of the whole curve."""
    for row in average.rows():
        if "level" not in row.where and row.value.value is not None:
            number = Result(row.entity, row.metric, row.value, {}, row.seeds, row.per_seed)
            yield PaperRow(number, dataset, run.method(row.entity), run.backbone, datasets)


def _load(folder: Path) -> tuple[ScenarioCurves, ...]:
    return scenario_curves(RunFolder.read(folder))
