"""Our numbers under a paper's names: what it calls our data and learners, and one reader of a table from run folders.

An evaluation's module `paper` has `rows(wanted, runs)`, which says what a paper calls the data set and the method of
every row, and `CELLS`: task -> which rows its tables hold, and the setting that they stand under.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar

from openworld.core.errors import OpenworldError
from openworld.papers import AVERAGE, AVERAGED, METRICS, PaperTable, paper_table, published_numbers
from openworld.papers.numbers import SOURCE_SETTING
from openworld.results import Result, Value, mean, over_seeds, student
from openworld.runs import RunStore
from openworld.runs.unit_names import folder_of

Run = TypeVar("Run")


@dataclass(frozen=True)
class PaperResult:
    """One number as a table of a paper would have it."""

    dataset: str  # as the paper calls it, or our own name where it has none; "Average", or empty, as in the paper
    setting: str
    method: str
    metric: str
    value: Value  # in the unit of data, the most telling interval first
    seeds: tuple[int, ...] = ()  # in increasing order; empty where the number is not known by seed
    per_seed: tuple[float, ...] = ()
    task: str = ""
    datasets: tuple[str, ...] = ()
    backbone: str = ""

    @property
    def number(self) -> float | None:
        """The value without its intervals; None where it is not defined."""
        return self.value.value

    def require(self) -> float:
        """Return the number; one that is not defined is refused with its reason."""
        if self.number is None:
            raise OpenworldError(f"{self.metric} of {self.method} on {self.dataset} is not known: {self.value.reason}.")
        return self.number


@dataclass(frozen=True)
class PaperRun:
    """A run, and what a paper calls its data sets and learners."""

    folder: Path
    datasets: Mapping[str, str] = field(default_factory=dict)  # data set, or "data set, domain" -> the paper's name
    methods: Mapping[str, str] = field(default_factory=dict)  # label of a learner -> the paper's name

    def dataset(self, name: str, domain: str | None = None) -> str:
        """Return what the paper calls a data set in a domain; its own name where it has none there."""
        full = f"{name}, {domain}" if domain else name
        return self.datasets.get(full) or self.datasets.get(name) or full

    def method(self, label: str) -> str:
        return self.methods.get(label, label)

    def read(self, load: Callable[[Path], Run]) -> Run:
        """Return what `load` makes of the run's folder, read once however many tables are made of it."""
        if load not in self._loaded:
            self._loaded[load] = load(self.folder)
        return self._loaded[load]

    @cached_property
    def _loaded(self) -> dict[Callable, Any]:
        return {}

    @cached_property
    def backbone(self) -> str:
        resolved = RunStore(self.folder).description()["resolved"]
        return resolved.get("backbone", "") if isinstance(resolved, dict) else ""


@dataclass(frozen=True)
class PaperRow:
    """A row of a run, and what a paper calls what it is of."""

    result: Result
    dataset: str
    method: str
    backbone: str = ""
    datasets: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cells:
    """Which rows a table holds under one setting."""

    where: Mapping[str, Any] = field(default_factory=dict)  # the place of these rows; `...` for any value
    setting: str = ""  # what the paper calls it, "{ratio:g}" for a part of the place
    keys: Mapping[str, str] = field(default_factory=dict)  # the paper's metric -> that of the rows, if not `METRICS`'

    def has(self, row: PaperRow) -> bool:
        place = row.result.where
        return place.keys() == self.where.keys() and all(
            wanted in (..., place[name]) for name, wanted in self.where.items()
        )


def paper_result(row: PaperRow, metric: str, setting: str = "") -> PaperResult:
    """Return a row of ours under a paper's names; its seeds are left out where one of them has no number."""
    result = row.result
    per_seed = tuple(number for number in result.per_seed if number is not None)
    seeds, per_seed = (result.seeds, per_seed) if len(per_seed) == len(result.per_seed) else ((), ())
    datasets = row.datasets or (row.dataset,)
    return PaperResult(
        row.dataset,
        setting,
        row.method,
        metric,
        result.value,
        seeds,
        per_seed,
        datasets=datasets,
        backbone=row.backbone,
    )


def average_of(
    numbers: Sequence[PaperResult], setting: str = "", task: str = "", dataset: str = AVERAGE
) -> PaperResult:
    """Return the unweighted mean of numbers of one method and metric on several data sets."""
    # It has the deviation over seeds and two intervals: over seeds (of the seeds' own means) and over the data sets,
    # both Student's t. Images of two data sets may be the same, so that no interval over images is given; one number
    # alone keeps its own intervals.
    first, metric, values = numbers[0], METRICS[numbers[0].metric], [number.number for number in numbers]
    same_seeds = first.per_seed and len({len(number.per_seed) for number in numbers}) == 1
    per_seed = tuple(map(fmean, zip(*(number.per_seed for number in numbers), strict=True))) if same_seeds else ()
    datasets = tuple(dict.fromkeys(name for number in numbers for name in number.datasets))
    over_data = student(values, metric, "data sets") if len(datasets) == len(values) else ()
    intervals = first.value.intervals if len(numbers) == 1 else (*student(per_seed, metric), *over_data)
    average = mean(values)
    reason = "" if average is not None else "it is not defined on every data set"
    value = Value(average, intervals, reason, over_seeds(per_seed, metric).deviation if per_seed else None)
    names = {"task": task, "datasets": datasets, "backbone": first.backbone}
    return PaperResult(
        dataset, setting, first.method, first.metric, value, first.seeds if per_seed else (), per_seed, **names
    )


COMPLEXITY = "size"


def paper_results(paper: str, table: str, runs: Sequence[PaperRun]) -> tuple[PaperResult, ...]:
    return read_numbers(paper_table(paper, table), runs)


def read_numbers(wanted: PaperTable, runs: Sequence[PaperRun]) -> tuple[PaperResult, ...]:
    """Return our numbers of a table that may have other metrics or data sets than the paper's; see `paper_results`."""
    kind = "recognition" if wanted.kinds[0] == "generalisation" else wanted.kinds[0]  # records of one shape
    declared = import_module(f"{folder_of(kind)}.paper")
    rows = tuple(declared.rows(wanted, runs))
    numbers = tuple((_by_task if wanted.columns == ("task",) else _numbers)(wanted, rows, declared.CELLS))
    if not numbers:
        held = dict.fromkeys(number.method for number in published_numbers(wanted.paper, wanted.number))
        raise OpenworldError(
            f"{wanted.short_heading} is read from runs of {' and '.join(wanted.kinds)}; none of the {len(runs)} given "
            f"holds {' or '.join(wanted.tasks)} of {', '.join(held) or 'any method'}: run it in a new folder."
        )
    return numbers


def _numbers(wanted: PaperTable, rows: Sequence[PaperRow], cells: Mapping[str, Sequence[Cells]]) -> list[PaperResult]:
    printed = published_numbers(wanted.paper, wanted.number)
    methods, settings = ({getattr(number, name) for number in printed} for name in ("method", "setting"))
    numbers = [number for task in wanted.tasks for number in _of_task(rows, cells[task], wanted.metrics)]
    numbers = [number for number in numbers if number.setting != SOURCE_SETTING or SOURCE_SETTING in settings]
    # Data sets beyond the table's are left out where any of its own is among them; where none is, all are taken.
    numbers = [number for number in numbers if number.dataset in wanted.datasets] or numbers
    numbers_of = [number for number in numbers if number.method in methods]
    if wanted.rows == "setting":
        return numbers_of or numbers
    numbers = numbers_of if wanted.methods == "printed" else numbers

    if not wanted.averages:
        return numbers
    averaged = [number for number in numbers if number.setting != SOURCE_SETTING]
    setting = next((number.setting for number in printed if number.dataset == AVERAGE), "")
    names = {"setting": setting if "setting" in wanted.columns else ""}
    if wanted.averages == "alone":
        dataset = AVERAGE if "dataset" in (wanted.rows, *wanted.columns) else ""
        return [average_of(group, dataset=dataset) for group in _by_method(averaged)]
    groups = [group for group in _by_method(averaged) if len({number.dataset for number in group}) > 1]
    return [*numbers, *(average_of(group, **names) for group in groups)]


def _by_task(wanted: PaperTable, rows: Sequence[PaperRow], cells: Mapping[str, Sequence[Cells]]) -> list[PaperResult]:
    """Table 15 of OpenworldAUC, an average per task. Its column of domain adaption repeats the source, and so do we."""
    averages = []
    for name, (task, datasets) in AVERAGED.items():
        metric = "n_params_thousand" if task == COMPLEXITY else "OpenworldAUC"
        numbers = list(_of_task(rows, cells[task], (metric,)))
        numbers = [number for number in numbers if number.dataset in datasets] or numbers
        sources = [number for number in numbers if number.setting == SOURCE_SETTING]
        chosen = sources if task == "domain generalisation" else numbers
        dataset = "" if task == COMPLEXITY else AVERAGE
        averages += [average_of(group, task=name, dataset=dataset) for group in _by_method(chosen)]
    return averages


def _of_task(rows: Sequence[PaperRow], cells: Sequence[Cells], metrics: Sequence[str]) -> Iterator[PaperResult]:
    """Every number of one task, data set by data set; of two kinds of rows for one place the first that is declared."""
    results: dict[tuple[str, ...], PaperResult] = {}
    for declared in cells:
        for metric in metrics:
            key = declared.keys.get(metric, METRICS[metric].key)
            for row in rows:
                if row.result.metric.key == key and declared.has(row):
                    number = paper_result(row, metric, declared.setting.format(**row.result.where))
                    results.setdefault((row.dataset, number.setting, row.method, metric), number)
    order = {(row.dataset, row.method): place for place, row in reversed(list(enumerate(rows)))}
    yield from sorted(results.values(), key=lambda number: order[number.dataset, number.method])


def _by_method(numbers: Sequence[PaperResult]) -> list[list[PaperResult]]:
    groups: dict[tuple[str, str], list[PaperResult]] = {}
    for number in numbers:
        groups.setdefault((number.method, number.metric), []).append(number)
    return list(groups.values())
