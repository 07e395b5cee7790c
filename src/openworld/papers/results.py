"""One number of ours under a paper's names, with what it rests on, and what a paper calls our data and learners."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar

from openworld.core.errors import OpenworldError
from openworld.papers import AVERAGE, METRICS
from openworld.results import Result, Value, mean, over_seeds, student
from openworld.runs import RunStore

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
