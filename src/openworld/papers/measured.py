"""One number of ours in a paper's unit, with what it rests on; and names of ours for what a paper calls otherwise."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from openworld.papers import AVERAGE, METRICS
from openworld.results import Interval, Result
from openworld.results.seeds import mean, student
from openworld.runs import RunStore

Run = TypeVar("Run")


@dataclass(frozen=True)
class Measured:
    """One number as a table of a paper would print it.

    Args:
        dataset: as the paper calls it, or our own name where it has none; "Average", or empty, as in the paper.
        setting: as the paper's table has it, else empty.
        method: as the paper calls it, or the learner's label.
        metric: a name of `openworld.papers.METRICS`; numbers are in its unit.
        value: None where it is not defined.
        intervals: the most telling one first; empty where none can be known.
        per_seed: the number for every seed, seeds in increasing order; empty where it is not known by seed.
        task: the column of a table that has one per task, else empty.
        datasets: what it was measured on.
        backbone: with which model.
    """

    dataset: str
    setting: str
    method: str
    metric: str
    value: float | None
    intervals: tuple[Interval, ...] = ()
    per_seed: tuple[float, ...] = ()
    task: str = ""
    datasets: tuple[str, ...] = ()
    backbone: str = ""

    @property
    def interval(self) -> tuple[float, float] | None:
        """The first interval's ends."""
        return (self.intervals[0].low, self.intervals[0].high) if self.intervals else None

    @property
    def over(self) -> str:
        """What the first interval is over; empty where there is none."""
        return self.intervals[0].over if self.intervals else ""

    @property
    def n(self) -> int:
        """How many there were of what the first interval is over."""
        return self.intervals[0].n if self.intervals else 0


@dataclass(frozen=True)
class StandsFor:
    """A run, and what a paper calls its data sets and learners.

    Args:
        folder: of the run.
        datasets: {"dtd": "DTD", "emoji-concepts, noto": "..."}: data set, or data set and domain; others keep their own
            names.
        methods: {"zero-shot": "CLIP"}: labels of learners; others keep their own.
    """

    folder: Path
    datasets: Mapping[str, str] = field(default_factory=dict)
    methods: Mapping[str, str] = field(default_factory=dict)

    def dataset(self, name: str, domain: str | None = None) -> str:
        """What the paper calls a data set in a domain.

        >>> StandsFor(Path(), {"dtd": "DTD"}).dataset("dtd"), StandsFor(Path()).dataset("emoji-concepts", "noto")
        ('DTD', 'emoji-concepts, noto')
        """
        own = f"{name}, {domain}" if domain else name
        return self.datasets.get(own) or self.datasets.get(name) or own

    def method(self, label: str) -> str:
        """What the paper calls a learner."""
        return self.methods.get(label, label)

    def read(self, load: Callable[[Path], Run]) -> Run:
        """What `load` makes of the run's folder, read once however many tables are made of it."""
        if load not in self._loaded:
            self._loaded[load] = load(self.folder)
        return self._loaded[load]

    @cached_property
    def _loaded(self) -> dict[Callable, Any]:
        return {}

    @cached_property
    def backbone(self) -> str:
        """The model of the run."""
        resolved = RunStore(self.folder).description()["resolved"]
        return resolved.get("backbone", "") if isinstance(resolved, dict) else ""


def measured_of(
    result: Result, metric: str, *, dataset: str, method: str, setting: str = "", backbone: str = ""
) -> Measured:
    """A result of ours as a number of a paper, in its unit.

    Args:
        result: of an evaluation.
        metric: what the paper calls it.
        dataset, method, setting: as the paper calls them.
        backbone: the model of the run.
    """
    unit, value = METRICS[metric].per_one, result.value
    intervals = tuple(Interval(unit * one.low, unit * one.high, one.over, one.n) for one in value.intervals)
    per_seed = () if None in result.per_seed else tuple(unit * number for number in result.per_seed)
    number = None if value.value is None else unit * value.value
    return Measured(
        dataset, setting, method, metric, number, intervals, per_seed, datasets=(dataset,), backbone=backbone
    )


def average_of(numbers: Sequence[Measured], setting: str = "", task: str = "", dataset: str = AVERAGE) -> Measured:
    """The unweighted mean of numbers of one method and metric on several data sets.

    Two intervals: over seeds (of the seeds' own means) and over the data sets, both Student's t. Pictures of two data
    sets may be the same, so that no interval over pictures is given; one number alone keeps its own intervals.
    """
    first, metric = numbers[0], METRICS[numbers[0].metric]
    values = [number.value for number in numbers]
    seeds = {len(number.per_seed) for number in numbers}
    whole = len(seeds) == 1 and seeds != {0}
    per_seed = tuple(map(mean, zip(*(number.per_seed for number in numbers), strict=True))) if whole else ()
    datasets = tuple(dict.fromkeys(name for number in numbers for name in number.datasets))
    intervals = (
        *student(per_seed, metric),
        *(student(values, metric, "data sets") if len(datasets) == len(values) else ()),
    )
    intervals = first.intervals if len(numbers) == 1 else intervals
    told = {"intervals": intervals, "per_seed": per_seed, "task": task, "datasets": datasets}
    return Measured(dataset, setting, first.method, first.metric, mean(values), backbone=first.backbone, **told)


def several_datasets(numbers: Sequence[Measured]) -> bool:
    """Whether an average of the numbers is one over data sets."""
    return len({number.dataset for number in numbers}) > 1
