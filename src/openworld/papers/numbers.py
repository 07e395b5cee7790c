"""What the papers printed: their result tables, every number of these as printed, and what must be known of both.

`tables.toml` beside this file says what each table shows, the CSV files hold the numbers, `notes.toml` the rest. Hua et
al. (2025), "OpenworldAUC": recognition, imbalance, domain and cross-data-set generalisation, cost. "OpenPL": curves
(Tables 2 to 5 and 10 to 33) and ranks (6 to 9 and 36 to 57). "Bridging Domain Expertise and Generalization for
Performance Estimation" (FRAP): errors of accuracy estimates (Tables 1, 3, 4, 6 and 7) and calibration (2). "Rethinking
the Evaluation of Out-of-Distribution Detection: A Sorites Paradox" (IS-OOD): how detectors follow semantic and
covariate shift (Tables 1, 2 and 4 to 7), decomposed features (3), labelling issues (8).
"""

import csv
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from math import isfinite
from typing import Any

from openworld.core.errors import OpenworldError, unknown_name
from openworld.results import METRICS as OURS
from openworld.results import Metric

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


HEADER = ["table", "task", "dataset", "setting", "method", "metric", "value", "std"]
AVERAGE = "Average"
SOURCE_SETTING = "source"  # the setting of what was learned from, where a table has targets beside it
PRINTED_SEEDS = {"openworldauc": 3}
"""Paper -> seeds behind the deviations that it prints. OpenworldAUC's own count cannot be read from its text; 3, the
field's least, makes the printed numbers the least certain. FRAP's deviations are of errors over conditions and say
nothing of other seeds; the two other papers print none."""


def _metric(card: Mapping[str, Any]) -> Metric:
    """Return our metric with what is printed otherwise, or one of the papers' own."""
    ends: dict[str, Any] = (
        {"bounds": tuple(None if end == "" else end for end in card["bounds"])} if "bounds" in card else {}
    )
    fields = {**card, **ends}
    return replace(OURS[card["key"]], **fields) if card["key"] in OURS else Metric(**fields)


METRICS: dict[str, Metric] = {name: _metric(card) for name, card in FACTS["metrics"].items()}
"""What a paper calls a number -> its metric. Values are in the unit of data, as everywhere: shares are fractions."""


@dataclass(frozen=True)
class PublishedNumber:
    """One printed number, in the unit printed (`METRICS` names it)."""

    table: str  # its number, such as "8-9"
    task: str  # as the paper calls it
    dataset: str  # "Average" for a printed average; empty where a number belongs to no data set
    setting: str  # what else differs within the table, such as "new/base=10"; else empty
    method: str  # as the paper calls it, spelt alike in all tables
    metric: str  # a name of `METRICS`
    value: float
    std: float | None  # None where none is printed. FRAP prints its deviations as fractions beside percents

    @property
    def in_data(self) -> float:
        """The value in the unit of data, as ours are: shares are fractions there."""
        return self.value / METRICS[self.metric].scale

    @property
    def deviation_in_data(self) -> float | None:
        """The deviation in the unit of data; FRAP prints its own so."""
        return self.std if self.std is None or self.metric == "MAE" else self.std / METRICS[self.metric].scale

    @property
    def same_number(self) -> tuple[str, str, str, str, float]:
        """What the same number in another table of the paper shares with it: a source is called so in some alone."""
        return self.dataset, self.setting.removeprefix(SOURCE_SETTING), self.method, self.metric, self.value

    @property
    def key(self) -> tuple[str, ...]:
        """What tells it from every other number of the paper."""
        return self.table, self.task, self.dataset, self.setting, self.method, self.metric


def published_tables(paper: str) -> dict[str, PaperTable]:
    """The tables of a paper by number, in the order of `TABLES`; another paper is refused."""
    if paper not in TABLES:
        raise unknown_name("paper", paper, TABLES)
    return TABLES[paper]


def paper_table(paper: str, number: str) -> PaperTable:
    """One table of a paper; an unknown one is refused with those there are."""
    tables = published_tables(paper)
    if number not in tables:
        raise unknown_name(f"table of {paper}", number, tables)
    return tables[number]


def published_numbers(paper: str, table: str | None = None) -> tuple[PublishedNumber, ...]:
    """Every printed number of a paper, or of one of its tables (some stand in several), in the order printed."""
    published_tables(paper)
    if table is None:
        return _read(paper)
    wanted = paper_table(paper, table).number
    return tuple(number for number in _read(paper) if number.table == wanted)


def printed_deviations(paper: str) -> dict[tuple, float]:
    """Return {`PublishedNumber.same_number`: standard deviation in the unit of data} of a paper's tables."""
    # A number without one here and with one in a table of details, such as those of OpenworldAUC's Table 2 in Tables 8
    # and 9, has the deviation of the details.
    numbers = ((number.same_number, number.deviation_in_data) for number in published_numbers(paper))
    return {number: deviation for number, deviation in numbers if deviation is not None}


@lru_cache(maxsize=len(TABLES))
def _read(paper: str) -> tuple[PublishedNumber, ...]:
    text = files("openworld.papers").joinpath(f"{paper}.csv").read_text(encoding="utf-8")
    return tuple(parse(text.splitlines(), paper))


def parse(lines: list[str], paper: str) -> Iterator[PublishedNumber]:
    """The numbers of a CSV text, each one checked."""
    reader, keys = csv.reader(lines), set()
    header = next(reader, [])
    if header != HEADER:
        raise OpenworldError(f"{paper}.csv begins with {header}, expected {HEADER}; reinstall the package.")
    for place, row in enumerate(reader, 2):
        number = _number(row, f"{paper}.csv, line {place}")
        if number.table not in TABLES[paper] or number.metric not in METRICS or number.key in keys:
            raise OpenworldError(
                f"{paper}.csv, line {place}: table {number.table!r} and metric {number.metric!r} must be known and "
                "every row must differ from the others; reinstall the package."
            )
        keys.add(number.key)
        yield number


def _number(row: list[str], place: str) -> PublishedNumber:
    try:
        *names, value, std = row
        number = PublishedNumber(*names, float(value), float(std) if std else None)
    except (TypeError, ValueError):
        raise OpenworldError(f"{place} holds {row}, expected {HEADER}; reinstall the package.") from None
    if not all(isfinite(value) for value in (number.value, number.std or 0.0)):
        raise OpenworldError(f"{place} holds a number that is not finite: {row}; reinstall the package.")
    return number


_NOTES = tomllib.loads(files("openworld.papers").joinpath("notes.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Misprint:
    """One contradiction."""

    name: str  # a short one
    paper: str  # a key of `PAPERS`
    tables: tuple[str, ...]  # numbers of those that it concerns
    what: str  # the contradiction, with the numbers


MISPRINTS: tuple[Misprint, ...] = tuple(
    Misprint(**note | {"tables": tuple(note["tables"])}) for note in _NOTES["misprint"]
)


SHORT: dict[str, str] = _NOTES["short"]
COCOOP: dict[str, list[float]] = _NOTES["cocoop"]


def misprints_of(paper: str, table: str) -> tuple[Misprint, ...]:
    return tuple(misprint for misprint in MISPRINTS if misprint.paper == paper and table in misprint.tables)


def about_ours(paper: str, table: str) -> tuple[str, ...]:
    return tuple(note["what"] for note in _NOTES["ours"] if note["paper"] == paper and table in note["tables"])
