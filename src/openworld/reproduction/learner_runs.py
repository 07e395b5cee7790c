"""What the plans of papers that tune learners share: which learners a table needs, on what, and how a run is called."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from openworld.evaluations.entries import LearnerSpec
from openworld.evaluations.image_selection import DatasetSpec
from openworld.learners import PublishedSetting as PublishedTask
from openworld.papers import TABLES
from openworld.reproduction.settings import PlannedRun, ReproductionSetup

PAPERS: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    files("openworld.reproduction").joinpath("papers.toml").read_text(encoding="utf-8")
)
"""Paper -> its methods, stand-ins and what is absent, from the file beside this one."""


def with_tuples(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry of a file with its lists as tuples."""
    return {name: tuple(each) if isinstance(each, list) else each for name, each in entry.items()}


def methods_of(paper: str) -> dict[str, LearnerSpec]:
    """Return {what a paper calls a method: the learner}."""
    return {name: LearnerSpec(**{"learner": name} | entry) for name, entry in PAPERS[paper]["methods"].items()}


def stand_ins_of(paper: str) -> dict[str, DatasetSpec]:
    """Return {data set of a paper: what stands in for it on embedded data}."""
    return {title: DatasetSpec(*place) for title, place in PAPERS[paper]["stand_ins"].items()}


@dataclass(frozen=True)
class TableNeed:
    """What a table asks for on one data set, in the paper's words."""

    table: str
    task: str
    title: str
    methods: tuple[str, ...]


@dataclass(frozen=True)
class LearnerPaper:
    name: str
    task: PublishedTask
    methods: Mapping[str, LearnerSpec]  # what the paper calls a method -> the learner

    def methods_of(self, needs: Iterable[TableNeed], setup: ReproductionSetup, *always: str) -> tuple[str, ...]:
        """Return the methods that any need has, and those that are always run, in the paper's order."""
        wanted = {name for need in needs for name in need.methods} | set(always)
        return tuple(name for name in setup.changes.methods(self.methods) if name in wanted)

    def suffix(self, methods: Iterable[str], every: Iterable[str] = ()) -> tuple[str, ...]:
        """Return what the name of a run adds where it has not all methods of the paper, or of `every`."""
        of_paper = [name for name in methods if name in self.methods]
        return () if set(of_paper) == set(every or self.methods) else tuple(of_paper)

    def settings(self, methods: Sequence[str], data: DatasetSpec, setup: ReproductionSetup) -> dict[str, Any]:
        """Return what the specs of all its runs have alike, for learners tuned on a data set."""
        known = setup.changes.methods(self.methods)
        return {
            "learners": tuple(setup.learner(known[name], data.dataset, self.task) for name in methods),
            "backbone": setup.backbone,
            "seeds": setup.seeds,
            "shots": setup.shots,
            "precision": setup.changes.precision,
            "draw": setup.changes.draw,
            "views": setup.views(self.task),
            "published": self.task,
        }

    def run(
        self,
        name: str,
        spec: Any,
        data: Iterable[DatasetSpec],
        methods: Iterable[str],
        needs: Iterable[TableNeed],
        setup: ReproductionSetup,
    ) -> PlannedRun:
        """Return a run with the tables that are read from it, and what the paper calls its data and learners."""
        known, wanted = setup.changes.methods(self.methods), {need.table for need in needs}
        labels = {known[method].label: method for method in methods}
        tables = tuple(number for number in TABLES[self.name] if number in wanted)
        return PlannedRun(name, spec, setup.titles(data), labels, tables)


def places_of(
    titles: Iterable[str], stand_ins: Mapping[str, DatasetSpec], setup: ReproductionSetup
) -> tuple[DatasetSpec, ...]:
    return tuple(dict.fromkeys(setup.place(title, stand_ins) for title in titles))
