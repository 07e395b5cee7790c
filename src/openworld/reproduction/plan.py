"""From the papers' tables to the runs that give their numbers.

plan("openworldauc", ("2", "17"), ReproductionSetup("path/to/data"))      what to run, and which table is read from what

A run that several tables are read from is planned once. Every run is an ordinary spec of an evaluation.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from types import ModuleType

from openworld._errors import OpenworldError, unknown_name
from openworld.datasets import PUBLISHED, SHIFTED
from openworld.papers import PAPERS as TITLES
from openworld.papers import PaperTable, published_tables
from openworld.reproduction import frap as _frap_plan
from openworld.reproduction import isood as _isood_plan
from openworld.reproduction import openpl as _openpl_plan
from openworld.reproduction import openworldauc as _openworldauc_plan
from openworld.reproduction.changes import Changes
from openworld.reproduction.settings import EMBEDDED, PlannedRun, ReproductionSetup

PAPERS: dict[str, ModuleType] = {
    paper.PAPER: paper for paper in (_openworldauc_plan, _openpl_plan, _frap_plan, _isood_plan)
}
"""Paper -> its plan: DEFAULTS, METHODS, ABSENT, `default_tables`, `remarks` and `plan_runs`."""

ON_EMBEDDED = ReproductionSetup()
"""The embedded world and its CLIP, all methods, the paper's seeds."""


@dataclass(frozen=True)
class ReproductionPlan:
    """What a reproduction runs.

    Args:
        paper: a key of PAPERS.
        setup: data, backbone, seeds; nothing left open.
        runs: in the order in which they are carried out.
        tables: numbers of the tables that will be made.
        left_out: tables that were asked for and will not be made -> why.
        remarks: what sets the runs apart from the paper's, in sentences.
    """

    paper: str
    setup: ReproductionSetup
    runs: tuple[PlannedRun, ...]
    tables: tuple[str, ...]
    left_out: dict[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def folder_name(self) -> str:
        """What the folder of its runs is called where nobody says it."""
        return f"{self.paper}-{self.setup.backbone.rpartition('/')[2]}"

    @property
    def downloads(self) -> tuple[str, ...]:
        """The data sets that must have been downloaded."""
        named = dict.fromkeys(image_set.dataset for run in self.runs for image_set in run.data)
        return tuple(name for name in (*PUBLISHED, *SHIFTED) if name in named)

    @property
    def units(self) -> int:
        """How many records are made, over all runs: pairs of a learner and a seed, or judged models."""
        return sum(run.units for run in self.runs)

    @property
    def headline(self) -> tuple[str, ...]:
        """Paper, tables, data, backbone and seeds in a few words each."""
        setup = self.setup
        data = "embedded data, which stand in for the paper's" if setup.embedded else f"data in {setup.data}"
        seeds = f"seeds {' '.join(map(str, setup.seeds))}"
        return TITLES[self.paper], tables_in_words(self.tables), data, f"backbone {setup.backbone}", seeds

    @property
    def sentences(self) -> tuple[str, ...]:
        """What sets the runs apart from the paper's, and which tables are left out."""
        return (*self.remarks, *(f"Table {number} is left out: {why}." for number, why in self.left_out.items()))

    def without(self, failed: Collection[str]) -> tuple[str, ...]:
        """Return the tables none of whose runs succeeded."""
        made = {number for run in self.runs if run.name not in failed for number in run.tables}
        return tuple(number for number in self.tables if number not in made)


def plan(paper: str, tables: Sequence[str] = (), setup: ReproductionSetup = ON_EMBEDDED) -> ReproductionPlan:
    """What must be run for tables of a paper.

    Args:
        paper: "openworldauc", "openpl", "frap" or "is-ood".
        tables: their numbers; () for all (of OpenPL on embedded data, those of the main text).
        setup: data, backbone, seeds, methods.

    Raises:
        OpenworldError: an unknown paper, table or method; a table without results; nothing left to run.

    >>> [run.name for run in plan("openworldauc", ["11"], ReproductionSetup("data")).runs]
    ['recognition-dtd-tcp']
    """
    if paper not in PAPERS:
        raise unknown_name("paper", paper, PAPERS)
    module = PAPERS[paper]
    setup = setup.settled(module.DEFAULTS)
    _require_methods(module, setup)
    _require_changeable(module, setup)
    wanted = [find_table(paper, number) for number in tables or module.default_tables(setup)]
    chosen = list({table.number: table for table in wanted}.values())
    runs = tuple(module.plan_runs(chosen, setup))
    made = {number for run in runs for number in run.tables}
    reason = "none of its methods is among those asked for"
    left_out = {table.number: reason for table in chosen if table.number not in made}
    if not runs:
        raise OpenworldError(f"nothing is left to run: of Table {', '.join(left_out)}, {reason}.")
    remarks = module.remarks(setup) if hasattr(module, "remarks") else ()
    kept = tuple(table.number for table in chosen if table.number in made)
    return ReproductionPlan(paper, setup, runs, kept, left_out, (*setup.sentences, *remarks))


def find_table(paper: str, number: str) -> PaperTable:
    """A table of a paper by number; "8" and "9" of OpenworldAUC are one.

    Raises:
        OpenworldError: an unknown number, or a table that holds no results.
    """
    known = published_tables(paper)
    for table in known.values():
        if number == table.number or number in table.number.split("-"):
            return table
    reason = PAPERS[paper].ABSENT.get(number)
    if reason:
        raise OpenworldError(f"Table {number} of {paper} cannot be made: {reason}.")
    raise unknown_name(f"table of {paper}", number, known)


def tables_in_words(numbers: Sequence[str]) -> str:
    """Return the tables of a plan, runs of consecutive ones drawn together.

    >>> tables_in_words(("2",)), tables_in_words(("2", "3", "4", "8-9", "11"))
    ('Table 2', 'Tables 2 to 4, 8-9, 11')
    """
    groups: list[list[str]] = []
    for number in numbers:
        if groups and number.isdigit() and groups[-1][-1].isdigit() and int(number) == int(groups[-1][-1]) + 1:
            groups[-1].append(number)
        else:
            groups.append([number])
    spans = [f"{group[0]} to {group[-1]}" if len(group) > 2 else ", ".join(group) for group in groups]
    return f"Table{'s' * (len(numbers) > 1)} {', '.join(spans)}"


def _require_methods(module: ModuleType, setup: ReproductionSetup) -> None:
    known = {name.casefold(): name for pair in module.METHODS.items() for name in (pair[0], pair[1].label)}
    for name in setup.learners:
        if name.casefold() not in known:
            raise unknown_name(f"method of {module.PAPER}", name, known.values())


def _require_changeable(module: ModuleType, setup: ReproductionSetup) -> None:
    if setup.changes and not hasattr(module, "PUBLISHED_TASK"):
        of_learners = " and ".join(name for name, module in PAPERS.items() if hasattr(module, "PUBLISHED_TASK"))
        raise OpenworldError(
            f"added learners, other settings, shots and views are for {of_learners}, which tune learners; "
            f"{module.PAPER} does not. Leave them out, or write a spec for openworld run."
        )


__all__ = ["EMBEDDED", "PAPERS", "Changes", "ReproductionSetup", "ReproductionPlan", "PlannedRun", "find_table", "plan"]
