"""From the papers' tables to the runs that give their numbers.

plan("openworldauc", ("2", "17"), Ground("path/to/data"))      what to run, and which table is read from what

A run that several tables are read from is planned once. Every run is an ordinary spec of an evaluation.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import ModuleType

from openworld._errors import OpenworldError, unknown_name
from openworld.datasets import PUBLISHED, SHIFTED
from openworld.evaluations.decomposed_zero_shot import task as decomposed_zero_shot
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.ood_detection import spec as incremental_shift
from openworld.papers import PaperTable, published_tables
from openworld.reproduction import frap as _frap_plan
from openworld.reproduction import isood as _isood_plan
from openworld.reproduction import openpl as _openpl_plan
from openworld.reproduction import openworldauc as _openworldauc_plan
from openworld.reproduction.changes import Changes
from openworld.reproduction.settings import EMBEDDED, Ground, PlannedRun

PAPERS: dict[str, ModuleType] = {one.PAPER: one for one in (_openworldauc_plan, _openpl_plan, _frap_plan, _isood_plan)}
"""Paper -> its plan: USUAL, METHODS, ABSENT, `default_tables`, `remarks` and `plan_runs`."""


TASKS = {"incremental-shift": incremental_shift.tasks, "decomposed-zero-shot": decomposed_zero_shot.tasks}
"""Protocol -> the units of a spec, where they are not its learners times its seeds."""

ON_EMBEDDED = Ground()
"""The embedded world and its CLIP, all methods, the paper's seeds."""


@dataclass(frozen=True)
class Plan:
    """What a reproduction runs.

    Args:
        paper: a key of PAPERS.
        ground: data, backbone, seeds; nothing left open.
        runs: in the order in which they are carried out.
        tables: numbers of the tables that will be made.
        left_out: tables that were asked for and will not be made -> why.
        remarks: what sets the runs apart from the paper's, in sentences.
    """

    paper: str
    ground: Ground
    runs: tuple[PlannedRun, ...]
    tables: tuple[str, ...]
    left_out: dict[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def downloads(self) -> tuple[str, ...]:
        """The data sets that must have been downloaded."""
        named = dict.fromkeys(one.dataset for run in self.runs for one in data_of(run.spec))
        return tuple(name for name in (*PUBLISHED, *SHIFTED) if name in named)

    @property
    def estimates(self) -> bool:
        """Whether its runs estimate accuracies, so that their cost is of another kind."""
        return self.runs[0].spec.protocol == "accuracy-estimation"

    @property
    def shifts(self) -> bool:
        """Whether its runs are of measured shift, so that their cost is of another kind."""
        return self.paper == _isood_plan.PAPER

    @property
    def units(self) -> int:
        """How many records are made, over all runs: pairs of a learner and a seed, or judged models."""
        return sum(units_of(run.spec) for run in self.runs)


def plan(paper: str, tables: Sequence[str] = (), ground: Ground = ON_EMBEDDED) -> Plan:
    """What must be run for tables of a paper.

    Args:
        paper: "openworldauc", "openpl", "frap" or "is-ood".
        tables: their numbers; () for all (of OpenPL on embedded data, those of the main text).
        ground: data, backbone, seeds, methods.

    Raises:
        OpenworldError: an unknown paper, table or method; a table without results; nothing left to run.

    >>> [run.name for run in plan("openworldauc", ["11"], Ground("data")).runs]
    ['recognition-dtd-tcp']
    """
    if paper not in PAPERS:
        raise unknown_name("paper", paper, PAPERS)
    module = PAPERS[paper]
    ground = ground.settled(module.USUAL)
    _require_methods(module, ground)
    _require_changeable(module, ground)
    wanted = [find_table(paper, one) for one in tables or module.default_tables(ground)]
    asked = list({table.number: table for table in wanted}.values())
    runs = tuple(module.plan_runs(asked, ground))
    made = {number for run in runs for number in run.tables}
    reason = "none of its methods is among those asked for"
    left_out = {table.number: reason for table in asked if table.number not in made}
    if not runs:
        raise OpenworldError(f"nothing is left to run: of Table {', '.join(left_out)}, {reason}.")
    kept = tuple(one.number for one in asked if one.number in made)
    return Plan(paper, ground, runs, kept, left_out, (*ground.sentences, *module.remarks(ground)))


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


def data_of(spec) -> tuple[DatasetSpec, ...]:
    """The data sets that a spec of any protocol reads."""
    if spec.protocol == "recognition":
        return tuple(dict.fromkeys(DatasetSpec(spec.dataset, one) for one in (spec.train_domain, spec.test_domain)))
    if spec.protocol == "accuracy-estimation":
        return tuple(dict.fromkeys((*spec.sources, *(DatasetSpec(one.dataset, one.domain) for one in spec.targets))))
    if spec.protocol == "incremental-shift":
        return tuple(dict.fromkeys((*spec.sources, *(DatasetSpec(one.dataset, one.domain) for one in spec.pool))))
    if spec.protocol == "decomposed-zero-shot":
        return tuple(dict.fromkeys(DatasetSpec(one.dataset, one.domain) for one in spec.sets))
    if spec.protocol == "generalisation":
        return spec.source, *spec.variants, *spec.others
    tuned = (spec.source,) if set(spec.scenarios) & {"distribution-shift", "co-evolution"} else ()
    played = {
        "datasets": {"emerging-classes", "varying-ratio"},
        "variants": {"distribution-shift"},
        "others": {"co-evolution"},
    }
    named = [one for name, by in played.items() if by & set(spec.scenarios) for one in getattr(spec, name)]
    return tuple(dict.fromkeys((*tuned, *named)))


def units_of(spec) -> int:
    """How many units a spec of any protocol has."""
    if spec.protocol == "accuracy-estimation":
        return len(spec.seeds) * sum(len(one.checkpoints) for one in spec.models)
    if spec.protocol in TASKS:
        return len(TASKS[spec.protocol](spec))
    pairs = len(spec.learners) * len(spec.seeds)
    if spec.protocol != "dynamic":
        return pairs
    of_classes = len(spec.datasets) if set(spec.scenarios) & {"emerging-classes", "varying-ratio"} else 0
    against = bool(set(spec.scenarios) & {"distribution-shift", "co-evolution"})
    return pairs * (of_classes + against)


def _require_methods(module: ModuleType, ground: Ground) -> None:
    known = {name.casefold(): name for pair in module.METHODS.items() for name in (pair[0], pair[1].label)}
    for name in ground.learners:
        if name.casefold() not in known:
            raise unknown_name(f"method of {module.PAPER}", name, known.values())


def _require_changeable(module: ModuleType, ground: Ground) -> None:
    if ground.changes and not hasattr(module, "PUBLISHED_TASK"):
        of_learners = " and ".join(name for name, one in PAPERS.items() if hasattr(one, "PUBLISHED_TASK"))
        raise OpenworldError(
            f"added learners, other settings, shots and views are for {of_learners}, which tune learners; "
            f"{module.PAPER} does not. Leave them out, or write a spec for openworld run."
        )


__all__ = ["EMBEDDED", "PAPERS", "Changes", "Ground", "Plan", "PlannedRun", "find_table", "plan"]
