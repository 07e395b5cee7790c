"""From the papers' tables and figures to the runs that give their numbers.

plan("openworldauc", ("2", "17"), ReproductionSetup("path/to/data"))      what to run, and which table is read from what

A run that several tables or figures are read from is planned once. Every run is an ordinary spec of an evaluation.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType

from openworld.core.errors import OpenworldError, unknown_name
from openworld.datasets import PUBLISHED, SHIFTED
from openworld.papers import PAPERS as TITLES
from openworld.papers import SOURCE, PaperTable, published_tables
from openworld.papers.numbers import VARIANTS
from openworld.papers.results import PaperRun
from openworld.reproduction import frap as _frap_plan
from openworld.reproduction import isood as _isood_plan
from openworld.reproduction import openpl as _openpl_plan
from openworld.reproduction import openworldauc as _openworldauc_plan
from openworld.reproduction.figures import ALL, find_figures
from openworld.reproduction.planned_runs import PaperFigure, PlannedRun
from openworld.reproduction.settings import NAMES, ReproductionSetup, names_of

PAPERS: dict[str, ModuleType] = {
    paper.PAPER: paper for paper in (_openworldauc_plan, _openpl_plan, _frap_plan, _isood_plan)
}
"""Paper -> its plan: DEFAULTS, METHODS, ABSENT and `plan_runs`; where there is more to say, `default_tables`,
`spellings`, `belonging` and `remarks`."""

FROM_SOURCE = ("domain generalisation", "cross-data-set", "distribution-shift", "co-evolution")
"""Tasks whose learners are tuned on ImageNet and meet other data sets."""

NO_DATA = "none of the data sets that it is made of is among those asked for"
NO_SOURCE = f"its learners are tuned on {SOURCE}, which is not among the data sets asked for"
NO_METHOD = "none of its methods is among those asked for"
NOT_ASKED_FOR = "none of its methods, or none of its data sets, is among those asked for"


@dataclass(frozen=True)
class ReproductionPlan:
    paper: str
    setup: ReproductionSetup  # data, backbone, seeds; nothing left open
    runs: tuple[PlannedRun, ...]
    tables: tuple[str, ...]
    left_out: dict[str, str] = field(default_factory=dict)  # tables that were asked for and will not be made -> why
    remarks: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    figures_left_out: dict[str, str] = field(default_factory=dict)

    @property
    def folder_name(self) -> str:
        return f"{self.paper}-{self.setup.backbone.rpartition('/')[2]}"

    @property
    def downloads(self) -> tuple[str, ...]:
        datasets = dict.fromkeys(image_set.dataset for run in self.runs for image_set in run.data)
        return tuple(name for name in (*PUBLISHED, *SHIFTED) if name in datasets)

    @property
    def units(self) -> int:
        return sum(run.units for run in self.runs)

    @property
    def headline(self) -> tuple[str, ...]:
        """Paper, tables and figures, data, backbone and seeds in a few words each."""
        setup = self.setup
        data = "embedded data, which stand in for the paper's" if setup.embedded else f"data in {setup.data}"
        seeds = f"seeds {' '.join(map(str, setup.seeds))}"
        return TITLES[self.paper], in_words(self.tables, self.figures), data, f"backbone {setup.backbone}", seeds

    @property
    def sentences(self) -> tuple[str, ...]:
        """What sets the runs apart from the paper's, and which tables and figures are left out."""
        lacking = {f"Table {number}": why for number, why in self.left_out.items()}
        lacking |= {f"Figure {number}": why for number, why in self.figures_left_out.items()}
        return (*self.remarks, *(f"{what} is left out: {why}." for what, why in lacking.items()))

    def finished(
        self, kind: str, folder: Path, failed: Collection[str]
    ) -> Iterator[tuple[str, tuple[PaperRun, ...], tuple[str, ...]]]:
        """Yield (number, its finished runs, what a reader must know) of "tables" or "figures" that have such runs."""
        read = {run.name: PaperRun(folder / run.name, run.datasets, run.methods) for run in self.runs}
        for number in getattr(self, kind):
            names = [run.name for run in self.runs if number in getattr(run, kind)]
            runs = tuple(read[name] for name in names if name not in failed)
            missing = ", ".join(name for name in names if name in failed)
            lacking = (f"Missing here, because their runs failed: {missing}.",) if missing else ()
            if runs:
                yield number, runs, (*self.setup.sentences, *lacking)

    def without(self, failed: Collection[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the tables none of whose runs succeeded, and such figures."""
        tables, figures = _read_from(run for run in self.runs if run.name not in failed)
        return (
            tuple(number for number in self.tables if number not in tables),
            tuple(number for number in self.figures if number not in figures),
        )


def plan(
    paper: str, tables: Sequence[str] = (), setup: ReproductionSetup | None = None, *, figures: Sequence[str] = ()
) -> ReproductionPlan:
    """Return what must be run for tables and figures of a paper; refuse what has no results or is unknown."""
    # No table and no figure: all tables, of OpenPL on embedded data those of the main text.
    if paper not in PAPERS:
        raise unknown_name("paper", paper, PAPERS)
    module = PAPERS[paper]
    setup = (setup or ReproductionSetup()).settled(*module.DEFAULTS)
    titles = {spelling.casefold(): title for spelling, title in spellings(paper, setup).items()}
    for name in setup.datasets:
        if name.casefold() not in titles:
            raise unknown_name(f"data set of {paper}", name, dict.fromkeys(titles.values()))
    setup = replace(setup, datasets=tuple(dict.fromkeys(titles[name.casefold()] for name in setup.datasets)))
    _require_fitting(module, setup)

    every = module.default_tables(setup) if hasattr(module, "default_tables") else tuple(published_tables(paper))
    wanted = tables or (() if figures else every)
    tables_of = {table.number: table for table in (find_table(paper, number) for number in wanted)}
    data = module.belonging(setup) if hasattr(module, "belonging") else ()
    chosen, left_out = choose_tables(tables_of.values(), setup.datasets, data, named=bool(tables))
    drawn, figures_left_out = _find_figures(paper, figures, setup, data)
    runs = _runs_of(module, chosen, drawn, setup)

    made, drawn_from = _read_from(runs)
    reason = NOT_ASKED_FOR if setup.datasets else NO_METHOD
    left_out |= {table.number: reason for table in chosen if table.number not in made}
    if setup.datasets and runs and not tables:
        left_out = {}  # of the tables that nobody named, those that have the data sets are made
    figures_left_out |= {figure.number: reason for figure in drawn if figure.number not in drawn_from}
    if not runs:
        reasons = "; or ".join(dict.fromkeys((*left_out.values(), *figures_left_out.values())))
        raise OpenworldError(f"nothing is left to run: of {in_words(left_out, figures_left_out)}, {reasons}.")
    remarks = module.remarks(setup, runs) if hasattr(module, "remarks") else ()
    return ReproductionPlan(
        paper,
        setup,
        runs,
        tuple(table.number for table in chosen if table.number in made),
        left_out,
        (*setup.sentences, *remarks),
        tuple(figure.number for figure in drawn if figure.number in drawn_from),
        figures_left_out,
    )


def _runs_of(
    module: ModuleType, tables: Sequence[PaperTable], figures: Sequence[PaperFigure], setup: ReproductionSetup
) -> tuple[PlannedRun, ...]:
    """Return the runs that tables and figures are read from, each once, and each with what is read from it."""
    wanted = {table.number for table in tables}
    united: dict[str, PaperTable] = {}  # tables beside, each with the data sets that any figure needs of it
    for table in (table for figure in figures for table in figure.tables if table.number not in wanted):
        runs_of = united.get(table.number, table)
        united[table.number] = replace(runs_of, datasets=tuple(dict.fromkeys((*runs_of.datasets, *table.datasets))))
    every = [*tables, *united.values()]
    planned = tuple(module.plan_runs(every, setup)) if every else ()
    runs = {run.name: replace(run, tables=tuple(table for table in run.tables if table in wanted)) for run in planned}
    for figure in figures:
        numbers = {table.number for table in figure.tables}
        data = [set(run.data) for run in module.plan_runs(figure.tables, setup)] if figure.tables else []
        read = [run for run in planned if numbers & {*run.tables} and any(part <= {*run.data} for part in data)]
        for run in (*read, *figure.runs(setup)):
            runs_of = runs.setdefault(run.name, run)
            if runs_of.spec != run.spec:
                raise OpenworldError(f"two different runs are planned as {run.name}; every run needs its own name.")
            runs[run.name] = replace(runs_of, figures=tuple(dict.fromkeys((*runs_of.figures, figure.number))))
    return tuple(run for run in runs.values() if run.tables or run.figures)


def _find_figures(
    paper: str, numbers: Sequence[str], setup: ReproductionSetup, own: Sequence[str]
) -> tuple[list[PaperFigure], dict[str, str]]:
    """The figures to make, each once; of "all", those that the data do not have are left out, and why."""
    figures: dict[str, PaperFigure] = {}
    left_out: dict[str, str] = {}
    for number in numbers:
        for figure in find_figures(paper, number):
            reason = figure.refused(setup)
            if reason and number != ALL:
                raise OpenworldError(f"Figure {figure.number} of {paper} cannot be made of these data: {reason}.")
            tables, lacking = choose_tables(figure.tables, setup.datasets, own, named=number != ALL)
            if not reason and not tables and lacking:
                reason = next(iter(lacking.values()))
            if reason:
                left_out[figure.number] = reason
            else:
                figures[figure.number] = replace(figure, tables=tuple(tables))
    return list(figures.values()), left_out


def choose_tables(
    tables: Iterable[PaperTable], titles: Sequence[str], own: Sequence[str] = (), *, named: bool
) -> tuple[list[PaperTable], dict[str, str]]:
    """Return tables with the data sets asked for alone (`titles`, `own` rows of these), and why others are not made."""
    # What is reached from ImageNet is made if ImageNet is asked for too, or the table is `named` by its number.
    chosen, left_out = [], {}
    for table in tables:
        datasets = tuple(title for title in table.datasets if not titles or title in (*titles, *own))
        reason = "" if datasets else NO_DATA
        if titles and not named and SOURCE not in titles and set(table.tasks) & set(FROM_SOURCE):
            datasets = tuple(title for title in datasets if title not in VARIANTS)
            if not datasets or set(table.tasks) <= set(FROM_SOURCE):
                reason = reason or NO_SOURCE
        if reason:
            left_out[table.number] = reason
        else:
            chosen.append(replace(table, datasets=datasets))
    return chosen, left_out


def _read_from(runs: Iterable[PlannedRun]) -> tuple[set[str], set[str]]:
    runs = list(runs)
    return {number for run in runs for number in run.tables}, {number for run in runs for number in run.figures}


def spellings(paper: str, setup: ReproductionSetup) -> dict[str, str]:
    """Return {what a user may call a data set of a paper, its title or our name: what the paper calls it}."""
    module = PAPERS[paper]
    if hasattr(module, "spellings"):
        return module.spellings(setup)
    titles = dict.fromkeys(title for table in published_tables(paper).values() for title in table.datasets)
    return {title: title for title in titles} | {NAMES[title]: title for title in titles}


def find_table(paper: str, number: str) -> PaperTable:
    """A table of a paper by number; "8" and "9" of OpenworldAUC are one."""
    tables = published_tables(paper)
    for table in tables.values():
        if number == table.number or number in table.number.split("-"):
            return table
    reason = PAPERS[paper].ABSENT.get(number)
    if reason:
        raise OpenworldError(f"Table {number} of {paper} cannot be made: {reason}.")
    raise unknown_name(f"table of {paper}", number, tables)


def in_words(tables: Iterable[str], figures: Iterable[str] = ()) -> str:
    """Return the tables and figures of a plan, runs of consecutive ones drawn together."""
    parts = []
    for kind, numbers in {"Table": tuple(tables), "Figure": tuple(figures)}.items():
        groups: list[list[str]] = []
        for number in numbers:
            if groups and number.isdigit() and groups[-1][-1].isdigit() and int(number) == int(groups[-1][-1]) + 1:
                groups[-1].append(number)
            else:
                groups.append([number])
        spans = [f"{group[0]} to {group[-1]}" if len(group) > 2 else ", ".join(group) for group in groups]
        if spans:
            parts.append(f"{kind if len(numbers) == 1 else f'{kind}s'} {', '.join(spans)}")
    return " and ".join(parts)


def _require_fitting(module: ModuleType, setup: ReproductionSetup) -> None:
    """Refuse methods that a paper does not have, and settings that are another paper's."""
    names = names_of(module.METHODS)
    for name in setup.learners:
        if name.casefold() not in names:
            spellings = [name for pair in module.METHODS.items() for name in (pair[0], pair[1].label)]
            raise unknown_name(f"method of {module.PAPER}", name, dict.fromkeys(spellings))

    paper, judges = module.PAPER, module is _isood_plan and not setup.embedded
    tuning = " and ".join(name for name, other in PAPERS.items() if hasattr(other, "PUBLISHED_TASK"))
    of_isood = f"{_isood_plan.PAPER} on downloaded data alone"
    crosses = setup.crossing_sentences != "target"
    for refused, why in (
        (setup.classifier and not judges, f"a classifier is judged by {of_isood}; leave {setup.classifier} out."),
        (
            crosses and module is not _openworldauc_plan,
            f"--sentences is for openworldauc, which crosses data sets; {paper} does not. Leave it out.",
        ),
        (setup.names and not judges, f"names teach Table 3 of {of_isood}; leave {setup.names} out."),
        (
            setup.names and not setup.names.endswith(".txt"),
            f"names is {setup.names!r}, expected a text file (.txt) with a name per line.",
        ),
        (
            (setup.added or setup.changes) and not hasattr(module, "PUBLISHED_TASK"),
            f"added learners, other settings, shots and views are for {tuning}, which tune learners; {paper} does not. "
            "Leave them out, or write a spec for openworld run.",
        ),
        (
            setup.checkpoints and module is not _frap_plan,
            f"checkpoints are those of frap's classifiers; {paper} has none. Leave them out.",
        ),
    ):
        if refused:
            raise OpenworldError(why)
