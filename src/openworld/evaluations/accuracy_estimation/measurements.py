"""The estimates of a run as arrays over methods, judged models and conditions.

A judged model is one checkpoint of one training; a condition is one set of target images. What a record leaves out, or
a method could not say, is NaN in the arrays, and never in results.
"""

from collections.abc import Callable
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
    epoch: int
    checkpoint: int = 0

    @property
    def training(self) -> tuple[str, int]:
        """What its checkpoints have in common: they are drawn together."""
        return self.name, self.seed

    @property
    def title(self) -> str:
        """The model and its epoch, without its seed."""
        return f"{self.name}, epoch {self.epoch}"

    @property
    def place(self) -> dict[str, str | int]:
        """What tells its results apart, but for its seed."""
        return {"model": self.name, "epoch": self.epoch}


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
        """What tells its results apart: its line and name, and what else is known of it."""
        facts = {"kind": self.kind, "dataset": self.dataset, "domain": self.domain, "corruption": self.corruption}
        known = {name: fact for name, fact in (facts | {"severity": self.severity}).items() if fact not in (None, "")}
        return {"images": self.row, "condition": self.name, **known}


@dataclass(frozen=True, eq=False)
class Measurements:
    """Everything that was measured; in arrays K methods, M judged models, C conditions, NaN for what is not there.

    Args:
        records: of every judged model.
        seconds: how long every estimator took there.
    """

    records: tuple[AccuracyRecord, ...]
    seconds: tuple[Seconds, ...]

    @cached_property
    def methods(self) -> tuple[MethodRecord, ...]:
        """The estimators, in order of first appearance."""
        by_label: dict[str, MethodRecord] = {}
        for record in self.records:
            for method in record.estimators:
                by_label.setdefault(method.label, method)
        return tuple(by_label.values())

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the methods."""
        return tuple(method.label for method in self.methods)

    @cached_property
    def models(self) -> tuple[Model, ...]:
        """The judged models, one for every record."""
        return tuple(Model(record.model, record.seed, record.epoch, record.checkpoint) for record in self.records)

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """In order of first appearance."""
        return tuple(dict.fromkeys(condition_of(target) for record in self.records for target in record.targets))

    @cached_property
    def targets(self) -> tuple[tuple[int, int, TargetRecord], ...]:
        """What is recorded of every condition that a model has seen: (place of the model, of the condition, record)."""
        places = {condition: place for place, condition in enumerate(self.conditions)}
        return tuple(
            (model, places[condition_of(target)], target)
            for model, record in enumerate(self.records)
            for target in record.targets
        )

    def read(self, number: Callable[[TargetRecord], float | None]) -> np.ndarray:
        """Return float[M, C] of a number that records hold of a target."""
        values = np.full((len(self.models), len(self.conditions)), np.nan)
        for model, condition, target in self.targets:
            known = number(target)
            if known is not None:
                values[model, condition] = known
        return values

    @cached_property
    def accuracy(self) -> np.ndarray:
        """float[M, C], true."""
        return self.read(lambda target: target.accuracy)

    @cached_property
    def error(self) -> np.ndarray:
        """float[K, M, C], estimated, in [0, 1]."""

        def estimated(label: str) -> np.ndarray:
            return self.read(lambda target: target.estimates[label].error if label in target.estimates else None)

        return np.stack([estimated(label) for label in self.labels])

    @cached_property
    def signed_error(self) -> np.ndarray:
        """float[K, M, C], estimated minus true accuracy: above 0 where a method overestimates."""
        return (1 - self.error) - self.accuracy

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
        """The line that sums up the others: the average, or the only one."""
        return self.lines[-1]

    def place(self, line: str) -> dict[str, str]:
        """Return what tells the results of a line apart; nothing of what is of the run as a whole."""
        return {} if line == self.main else {"images": line}

    @property
    def shifts(self) -> tuple[tuple[str, str], ...]:
        """(row, shift) of all conditions, in order of first appearance."""
        return tuple(dict.fromkeys((condition.row, condition.shift) for condition in self.conditions))

    @property
    def seeds(self) -> tuple[int, ...]:
        """All seeds, in increasing order."""
        return tuple(sorted({model.seed for model in self.models}))

    @property
    def baseline(self) -> str:
        """The method that the others are tested against: the first AC, or the first of all."""
        labels = (method.label for method in self.methods if method.estimator == BASELINE)
        return next(labels, self.methods[0].label)

    @property
    def references(self) -> tuple[str, ...]:
        """Names of the reference models."""
        return tuple(dict.fromkeys(name for record in self.records for name in record.references))

    def chosen(self, **facts: str | int) -> np.ndarray:
        """Return bool[C], the conditions with these facts, such as `row` or `severity`."""
        return np.array(
            [all(getattr(condition, name) == fact for name, fact in facts.items()) for condition in self.conditions]
        )

    def of_line(self, line: str) -> np.ndarray:
        """Return bool[C], which conditions belong to a line: all of them to the average."""
        return self.chosen(row=line) if line in self.rows else self.chosen()


def read_measurements(run: RunFolder) -> Measurements:
    """Read the records of a run.

    Raises:
        OpenworldError: a record of another evaluation, or of another version.
    """
    return Measurements(run.metrics(AccuracyRecord), tuple(Seconds.of(record.timing) for record in run.records))


def condition_of(target: TargetRecord) -> Condition:
    """Return the condition that a record speaks of."""
    names = ("row", "name", "kind", "dataset", "domain", "corruption", "severity")
    return Condition(*(getattr(target, name) for name in names))


def finite(values: np.ndarray) -> np.ndarray:
    """Return the values that are there, in one line."""
    return values[np.isfinite(values)]


def mean_of(values: np.ndarray) -> float | None:
    """Return the mean of the values that are there."""
    known = finite(values)
    return float(known.mean()) if known.size else None


def value_of(summarise: Callable, known: np.ndarray, reason: str = NO_ESTIMATE) -> Value:
    """Return what a function such as `np.median` says of values; None with a reason where there are none."""
    return Value(float(summarise(known))) if known.size else Value(None, reason=reason)
