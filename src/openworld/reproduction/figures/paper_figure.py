"""What a paper's figure is: the runs that it needs, and how it is drawn from them once they are finished."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from openworld.papers import PAPERS, PaperTable
from openworld.papers.results import PaperRun
from openworld.report.figure import Figure
from openworld.reproduction.settings import PlannedRun, ReproductionSetup


@dataclass(frozen=True)
class FigureRuns:
    """The finished runs that a figure is drawn from.

    Args:
        paper: a key of `openworld.papers.PAPERS`.
        setup: data, backbone, seeds.
        runs: in the order of the plan, with what the paper calls their data sets and methods; a run's folder is called
            as the planned run. They may hold more data sets and methods than the figure shows.
    """

    paper: str
    setup: ReproductionSetup
    runs: tuple[PaperRun, ...]

    def named(self, prefix: str) -> tuple[PaperRun, ...]:
        """Return the runs whose name begins so."""
        return tuple(run for run in self.runs if run.folder.name.startswith(prefix))


@dataclass(frozen=True)
class PaperFigure:
    """A figure of a paper that can be made again.

    Args:
        number: as printed, a letter behind it for a panel that stands for itself; "5" means "5a", "5b" and so on.
        title: what it shows, in a few words.
        draw: finished runs -> the figure. Its name and title are set afterwards, and so are the colours of its series,
            which are the keys of its styles. Where nothing can be drawn it has no chart, and its caption says why.
        tables: that are read from the same runs; a table with fewer data sets needs only these.
        runs: setup -> runs of its own.
        refused: setup -> why the figure cannot be made of that data; "" where it can.
    """

    number: str
    title: str
    draw: Callable[[FigureRuns], Figure]
    tables: tuple[PaperTable, ...] = ()
    runs: Callable[[ReproductionSetup], Iterable[PlannedRun]] = lambda setup: ()
    refused: Callable[[ReproductionSetup], str] = lambda setup: ""

    @property
    def short_heading(self) -> str:
        """Return number and title, where the paper is named elsewhere."""
        return f"Figure {self.number}: {self.title}"

    def heading(self, paper: str) -> str:
        """Return paper, number and title."""
        return f"{PAPERS[paper]}, {self.short_heading}"

    def reads(self, run: PlannedRun, of_tables: Sequence[PlannedRun]) -> bool:
        """Return whether a run is one of those of its tables.

        Args:
            run: planned for these tables and others.
            of_tables: the runs that its tables alone need.
        """
        shared = {table.number for table in self.tables} & set(run.tables)
        return bool(shared) and any(set(own.data) <= set(run.data) for own in of_tables)
