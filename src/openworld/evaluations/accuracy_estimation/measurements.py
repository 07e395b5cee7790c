"""The estimates of a run as arrays over methods, judged models and conditions.

A judged model is one checkpoint of one training; a condition is one set of target images. What a record leaves out, or
a method could not say, is NaN in the arrays, and never in results.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from openworld.evaluations.accuracy_estimation.record import AccuracyRecord, MethodRecord, TargetRecord
from openworld.evaluations.estimate_records import Seconds
from openworld.results import RunFolder, Value

AVERAGE = "Average"
"""The line of the table that is the unweighted mean of the others."""

BASELINE = "AC"
"""The estimator that costs nothing and knows of no shift."""

NO_ESTIMATE = "no estimate was given"


@dataclass(frozen=True)
class Model:
    """One checkpoint of one training; `checkpoint` is its place among those kept."""

    name: str
    seed: int
    epoch: int | None
    checkpoint: int = 0

    @property
    def training(self) -> tuple[str, int]:
        """What its checkpoints have in common: they are drawn together."""
        return self.name, self.seed

    @property
    def title(self) -> str:
        """The model and its epoch, without its seed."""
        return self.name if self.epoch is None else f"{self.name}, epoch {self.epoch}"

    @property
    def place(self) -> dict[str, str | int]:
        """What tells its results apart, but for its seed."""
        return _known(model=self.name, epoch=self.epoch)


@dataclass(frozen=True)
class Condition:
    """One set of target images; `row` is the line of the table that it counts in."""

    row: str
    name: str
    kind: str
    dataset: str = ""
    domain: str | None = None
    corruption: str | None = None
    severity: int | None = None

    @property
    def shift(self) -> str:
        """What moved: a corruption at any severity, or a data set's domain. Conditions of one shift are alike."""
        return self.corruption or (f"{self.dataset}, {self.domain}" if self.domain else self.name)

    @property
    def place(self) -> dict[str, str | int]:
        """What tells its results apart."""
        facts = {"images": self.row, "condition": self.name, "kind": self.kind, "dataset": self.dataset}
        return _known(**facts, domain=self.domain, corruption=self.corruption, severity=self.severity)


@dataclass(frozen=True, eq=False)
class Measurements:
    """Everything that was measured; K methods, M models, C conditions, NaN for what is not there.

    Args:
        accuracy: float[M, C], true. images: int[M, C], 0 where a model did not see a condition.
        error: float[K, M, C], estimated, in [0, 1]. low, high: float[K, M, C], ends of intervals of the accuracy.
        warnings: int[K, M, C], how many came with an estimate.
        records, seconds: of every model.
    """

    methods: tuple[MethodRecord, ...]
    models: tuple[Model, ...]
    conditions: tuple[Condition, ...]
    accuracy: np.ndarray
    images: np.ndarray
    error: np.ndarray
    low: np.ndarray
    high: np.ndarray
    warnings: np.ndarray
    records: tuple[AccuracyRecord, ...]
    seconds: tuple[Seconds, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the methods."""
        return tuple(method.label for method in self.methods)

    @cached_property
    def rows(self) -> tuple[str, ...]:
        """Lines of the table without the average, in order of first appearance."""
        return tuple(dict.fromkeys(condition.row for condition in self.conditions))

    @property
    def lines(self) -> tuple[str, ...]:
        """All lines of the table; the average where there are several."""
        return (*self.rows, AVERAGE) if len(self.rows) > 1 else self.rows

    @property
    def main(self) -> str:
        """The line that sums up the others."""
        return self.lines[-1]

    @property
    def seeds(self) -> tuple[int, ...]:
        """All seeds, in increasing order."""
        return tuple(sorted({model.seed for model in self.models}))

    @property
    def baseline(self) -> str:
        """The method that the others are tested against: the first AC, or the first of all."""
        found = (method.label for method in self.methods if method.estimator == BASELINE)
        return next(found, self.methods[0].label)

    @property
    def references(self) -> tuple[str, ...]:
        """Names of the reference models."""
        return tuple(dict.fromkeys(name for record in self.records for name in record.references))

    @cached_property
    def signed_error(self) -> np.ndarray:
        """float[K, M, C], estimated minus true accuracy: above 0 where a method overestimates."""
        return (1 - self.error) - self.accuracy

    def of_row(self, row: str) -> np.ndarray:
        """bool[C], which conditions belong to a line."""
        return np.array([condition.row == row for condition in self.conditions])

    def of_line(self, line: str) -> np.ndarray:
        """bool[C], the same, all of them for the average."""
        return self.of_row(line) if line in self.rows else np.ones(len(self.conditions), bool)

    def read(self, number: Callable[[TargetRecord], float | None]) -> np.ndarray:
        """float[M, C] of a number that records hold of a target."""
        places = {condition: place for place, condition in enumerate(self.conditions)}
        found = np.full(self.accuracy.shape, np.nan)
        for model, record in enumerate(self.records):
            for target in record.targets:
                found[model, places[condition_of(target)]] = _or_nan(number(target))
        return found


def read_measurements(run: RunFolder) -> Measurements:
    """The arrays of a run.

    Raises:
        OpenworldError: a record of another evaluation, or of another version.
    """
    records = run.metrics(AccuracyRecord)
    labelled: dict[str, MethodRecord] = {}
    for method in (method for record in records for method in record.estimators):
        labelled.setdefault(method.label, method)
    methods = tuple(labelled.values())
    conditions = tuple(dict.fromkeys(condition_of(target) for record in records for target in record.targets))
    models = tuple(Model(record.model, record.seed, record.epoch, record.checkpoint) for record in records)
    seconds = tuple(Seconds.of(record.timing) for record in run.records)
    return Measurements(
        methods, models, conditions, **_arrays(records, methods, conditions), records=records, seconds=seconds
    )


def finite(values: np.ndarray) -> np.ndarray:
    """The values that are there, in one line."""
    return values[np.isfinite(values)]


def mean_of(values: np.ndarray) -> float | None:
    """The mean of the values that are there."""
    known = finite(values)
    return float(known.mean()) if known.size else None


def value_of(summarise: Callable, known: np.ndarray, reason: str = NO_ESTIMATE) -> Value:
    """What a function such as `np.median` says of values; None with a reason where there are none."""
    return Value(float(summarise(known))) if known.size else Value(None, reason=reason)


def condition_of(target: TargetRecord) -> Condition:
    """The condition that a record speaks of."""
    names = ("row", "name", "kind", "dataset", "domain", "corruption", "severity")
    return Condition(*(getattr(target, name) for name in names))


def _arrays(
    records: Sequence[AccuracyRecord], methods: Sequence[MethodRecord], conditions: Sequence[Condition]
) -> dict[str, np.ndarray]:
    """The numbers of all targets of all records."""
    sides = len(records), len(conditions)
    places = {condition: place for place, condition in enumerate(conditions)}
    accuracy, images = np.full(sides, np.nan), np.zeros(sides, int)
    error, low, high = (np.full((len(methods), *sides), np.nan) for _ in range(3))
    warnings = np.zeros(error.shape, int)
    for model, record in enumerate(records):
        for target in record.targets:
            at = model, places[condition_of(target)]
            accuracy[at], images[at] = target.accuracy, target.n
            for place, method in enumerate(methods):
                estimate = target.estimates.get(method.label)
                if estimate is not None:
                    error[place, *at] = _or_nan(estimate.error)
                    low[place, *at], high[place, *at] = estimate.interval or (np.nan, np.nan)
                    warnings[place, *at] = len(estimate.warnings)
    return {"accuracy": accuracy, "images": images, "error": error, "low": low, "high": high, "warnings": warnings}


def _known(**facts) -> dict[str, str | int]:
    return {name: fact for name, fact in facts.items() if fact not in (None, "")}


def _or_nan(value: float | None) -> float:
    return np.nan if value is None else value
