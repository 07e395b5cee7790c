"""What a paper's figure is: the runs that it needs, shared with tables, and how it is drawn once they are finished."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from openworld.core.errors import OpenworldError
from openworld.papers import PaperTable
from openworld.papers.results import PaperRun
from openworld.report.figure import Figure
from openworld.reproduction.settings import PlannedRun, ReproductionSetup

PlanRuns = Callable[[Sequence[PaperTable], ReproductionSetup], Iterable[PlannedRun]]


@dataclass(frozen=True)
class FigureRuns:
    """The finished runs that a figure is drawn from."""

    paper: str  # a key of `openworld.papers.PAPERS`
    setup: ReproductionSetup
    runs: tuple[PaperRun, ...]  # in the order of the plan; they may hold more data sets and methods than it shows


@dataclass(frozen=True)
class PaperFigure:
    """A figure of a paper that can be made again."""

    number: str  # as printed, with the letter of a panel that stands for itself; "5" means "5a", "5b" and so on
    title: str
    # Name, title and colours are set afterwards; what cannot be drawn has no chart, and its caption says why.
    draw: Callable[[FigureRuns], Figure]
    tables: tuple[PaperTable, ...] = ()  # read from the same runs; one with fewer data sets needs only these
    runs: Callable[[ReproductionSetup], Iterable[PlannedRun]] = lambda setup: ()  # of its own
    refused: Callable[[ReproductionSetup], str] = lambda setup: ""  # why it cannot be made of the data; "": it can

    @property
    def heading(self) -> str:
        """Number and title."""
        return f"Figure {self.number}: {self.title}"


def by_number(figures: Iterable[PaperFigure]) -> Mapping[str, PaperFigure]:
    """Return figures by number, in the order of the numbers; those without one last."""
    return {figure.number: figure for figure in sorted(figures, key=lambda figure: _place(figure.number))}


def _place(number: str) -> tuple[float, str]:
    digits = number.rstrip("abcdefgh")
    return float(digits) if digits.isdigit() else float("inf"), number


def runs_with_figures(
    plan_runs: PlanRuns, tables: Sequence[PaperTable], figures: Sequence[PaperFigure], setup: ReproductionSetup
) -> tuple[PlannedRun, ...]:
    """Return the runs that tables and figures are read from, each once, and each with what is read from it."""
    wanted = {table.number for table in tables}
    united: dict[str, PaperTable] = {}  # tables beside, each with the data sets that any figure needs of it
    for table in (table for figure in figures for table in figure.tables if table.number not in wanted):
        runs_of = united.get(table.number, table)
        united[table.number] = replace(runs_of, datasets=tuple(dict.fromkeys((*runs_of.datasets, *table.datasets))))
    every = [*tables, *united.values()]
    planned = tuple(plan_runs(every, setup)) if every else ()
    runs = {run.name: replace(run, tables=tuple(table for table in run.tables if table in wanted)) for run in planned}
    for figure in figures:
        numbers = {table.number for table in figure.tables}
        data = [set(run.data) for run in plan_runs(figure.tables, setup)] if figure.tables else []
        read = [run for run in planned if numbers & {*run.tables} and any(part <= {*run.data} for part in data)]
        for run in (*read, *figure.runs(setup)):
            runs_of = runs.setdefault(run.name, run)
            if runs_of.spec != run.spec:
                raise OpenworldError(f"two different runs are planned as {run.name}; every run needs its own name.")
            runs[run.name] = replace(runs_of, figures=tuple(dict.fromkeys((*runs_of.figures, figure.number))))
    return tuple(run for run in runs.values() if run.tables or run.figures)
