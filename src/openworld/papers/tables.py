"""The result tables of the papers as data, from `tables.toml` beside this file, which is the one place that says it.

Hua et al. (2025), "OpenworldAUC": recognition, imbalance, domain and cross-data-set generalisation, cost. "OpenPL":
curves (Tables 2 to 5 and 10 to 33) and ranks (6 to 9 and 36 to 57). "Bridging Domain Expertise and Generalization for
Performance Estimation" (FRAP): errors of accuracy estimates (Tables 1, 3, 4, 6 and 7) and calibration (2). "Rethinking
the Evaluation of Out-of-Distribution Detection: A Sorites Paradox" (IS-OOD): how detectors follow semantic and
covariate shift (Tables 1, 2 and 4 to 7), decomposed features (3), labelling issues (8).
"""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

FACTS = tomllib.loads(files("openworld.papers").joinpath("tables.toml").read_text(encoding="utf-8"))
_LISTS = FACTS["lists"]

KIND_OF_TASK: dict[str, str] = {task: kind for kind, tasks in FACTS["kinds"].items() for task in tasks}
PAPERS: dict[str, str] = {paper: about["title"] for paper, about in FACTS["papers"].items()}
MODELS: dict[str, str] = {paper: about["model"] for paper, about in FACTS["papers"].items()}
"""Paper -> the pretrained model behind its numbers."""

SOURCE = "ImageNet"
COOP_DATASETS = tuple(_LISTS["coop"])
VARIANTS = tuple(_LISTS["variants"])
SHIFTS = tuple(_LISTS["shifts"])


@dataclass(frozen=True)
class PaperTable:
    """One result table of a paper."""

    paper: str  # a key of `PAPERS`
    number: str  # as printed; "8-9" are two tables that share their sub-tables
    title: str  # what it shows, in a few words
    tasks: tuple[str, ...]  # what is played, keys of `KIND_OF_TASK`; several where a table joins them
    metrics: tuple[str, ...]  # in the order printed, names of `METRICS`
    datasets: tuple[str, ...] = COOP_DATASETS  # in the order printed, without averages but with what they average
    columns: tuple[str, ...] = ("dataset",)  # what the columns differ in: "dataset", "setting", "metric", "task"
    rows: str = "method"  # what the rows differ in: "method", "setting" or "dataset"
    printed: bool = True  # False where the numbers are missing from the text that is published: ours stand alone
    averages: str = ""  # over data sets: "beside" the numbers of each, "alone", or "" for none
    methods: str = "all"  # of ours: "all", or "printed" for those of the table alone

    @property
    def kinds(self) -> tuple[str, ...]:
        """The evaluations of the runs it is read from, such as "recognition" or "dynamic"."""
        return tuple(dict.fromkeys(KIND_OF_TASK[task] for task in self.tasks))

    @property
    def heading(self) -> str:
        return f"{PAPERS[self.paper]}, {self.short_heading}"

    @property
    def short_heading(self) -> str:
        """The same where the paper is named elsewhere."""
        return f"{'Tables' if '-' in self.number else 'Table'} {self.number}: {self.title}"


def _listed(names: str | Sequence[str]) -> tuple[str, ...]:
    """Return a list of the file by its name, or names of which some may be lists."""
    parts = (
        _LISTS.get(names, (names,)) if isinstance(names, str) else [each for name in names for each in _listed(name)]
    )
    return tuple(parts)


AVERAGED: dict[str, tuple[str, tuple[str, ...]]] = {
    column: (task, _listed(datasets)) for column, (task, datasets) in FACTS["averaged"].items()
}
"""Columns of Table 15 of OpenworldAUC as the paper calls them -> the task, and the data sets that a column averages."""


def _tables(paper: str) -> Iterator[PaperTable]:
    for entry in FACTS["tables"][paper]:
        table: dict[str, Any] = {"averages": "", **FACTS["usual"].get(paper, {}), **entry}
        each = _listed(table.pop("each", ("",)))
        first, title = table.pop("number"), table.pop("title")
        lists = {
            name: _listed(table.pop(name)) for name in ("tasks", "metrics", "datasets", "columns") if name in table
        }
        for place, dataset in enumerate(each):
            number = str(int(first) + place) if dataset else first
            table |= lists | ({"datasets": (dataset,)} if dataset else {})
            yield PaperTable(paper, number, title.format(each=dataset), **table)


TABLES: dict[str, dict[str, PaperTable]] = {
    paper: {table.number: table for table in _tables(paper)} for paper in PAPERS
}
