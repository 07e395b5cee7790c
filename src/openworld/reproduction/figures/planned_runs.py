"""The runs of tables and figures together: a figure that a table shares its runs with costs nothing more."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from openworld._errors import OpenworldError
from openworld.papers import PaperTable
from openworld.reproduction.figures.paper_figure import PaperFigure
from openworld.reproduction.settings import PlannedRun, ReproductionSetup

PlanRuns = Callable[[Sequence[PaperTable], ReproductionSetup], Iterable[PlannedRun]]


def runs_with_figures(
    plan_runs: PlanRuns, tables: Sequence[PaperTable], figures: Sequence[PaperFigure], setup: ReproductionSetup
) -> tuple[PlannedRun, ...]:
    """Return the runs that tables and figures are read from, each once, and each with what is read from it.

    Args:
        plan_runs: of the paper.
        tables: that are wanted.
        figures: that are wanted.
        setup: nothing left open.
    """
    wanted = {table.number for table in tables}
    beside = [table for figure in figures for table in figure.tables if table.number not in wanted]
    every = [*tables, *_united(beside)]
    planned = tuple(plan_runs(every, setup)) if every else ()
    runs = {run.name: replace(run, tables=tuple(table for table in run.tables if table in wanted)) for run in planned}
    for figure in figures:
        of_tables = tuple(plan_runs(figure.tables, setup)) if figure.tables else ()
        for run in planned:
            if figure.reads(run, of_tables):
                runs[run.name] = _with_figure(runs[run.name], figure)
        for run in figure.runs(setup):
            runs[run.name] = _with_figure(_same(runs.get(run.name, run), run), figure)
    return tuple(run for run in runs.values() if run.tables or run.figures)


def _united(tables: Iterable[PaperTable]) -> list[PaperTable]:
    """Return each table once, with the data sets that any figure needs of it."""
    united: dict[str, PaperTable] = {}
    for table in tables:
        known = united.get(table.number, table)
        united[table.number] = replace(known, datasets=tuple(dict.fromkeys((*known.datasets, *table.datasets))))
    return list(united.values())


def _with_figure(run: PlannedRun, figure: PaperFigure) -> PlannedRun:
    return replace(run, figures=tuple(dict.fromkeys((*run.figures, figure.number))))


def _same(known: PlannedRun, run: PlannedRun) -> PlannedRun:
    if known.spec != run.spec:
        raise OpenworldError(f"two different runs are planned as {run.name}; every run needs a name of its own.")
    return known
