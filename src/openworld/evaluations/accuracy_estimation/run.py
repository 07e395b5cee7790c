"""A run of accuracy estimation as the report sees it: arrays over methods, judged models and conditions.

A judged model is one checkpoint of one training; a condition is one set of target pictures. What a record leaves out,
or a method could not say, is NaN in the arrays, and None again wherever a number is shown or exported.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from openworld.report.records import protocol_records
from openworld.runs import Record

PROTOCOL = "accuracy-estimation"
KINDS = ("natural", "synthetic")
YARDSTICK = "AC"  # what costs nothing and knows of no shift


@dataclass(frozen=True)
class Method:
    """An estimator as it was asked for: `label` names it on the page, `reference` the model that it consults."""

    label: str
    estimator: str
    reference: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Model:
    """One checkpoint of one training; `checkpoint` is its place among those kept."""

    name: str
    architecture: str
    seed: int
    epoch: int | None
    checkpoint: int

    @property
    def training(self) -> tuple[str, int]:
        """What its checkpoints have in common: they are drawn together."""
        return self.name, self.seed

    @property
    def title(self) -> str:
        """The model and its epoch, without its seed."""
        return self.name if self.epoch is None else f"{self.name}, epoch {self.epoch}"


@dataclass(frozen=True)
class Condition:
    """One set of target pictures; `row` is the line of the table that it belongs to."""

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


@dataclass(frozen=True, eq=False)
class EstimateRun:
    """Everything that was measured; K methods, M models, C conditions, NaN for what is not there.

    Args:
        accuracy: float[M, C], true. images: int[M, C], 0 where a model did not see a condition.
        error: float[K, M, C], estimated, in [0, 1]. low, high: float[K, M, C], ends of intervals of the accuracy.
        warned: bool[K, M, C]. told: the metrics of every model's record. records: of the same models.
    """

    methods: tuple[Method, ...]
    models: tuple[Model, ...]
    conditions: tuple[Condition, ...]
    accuracy: np.ndarray
    images: np.ndarray
    error: np.ndarray
    low: np.ndarray
    high: np.ndarray
    warned: np.ndarray
    told: tuple[Mapping[str, Any], ...]
    records: tuple[Record, ...] = ()
    given: Any = None
    resolved: Any = None
    provenance: tuple[Mapping[str, Any], ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the methods."""
        return tuple(method.label for method in self.methods)

    @property
    def rows(self) -> tuple[str, ...]:
        """Lines of the table, in order of first appearance."""
        return tuple(dict.fromkeys(condition.row for condition in self.conditions))

    @property
    def seeds(self) -> tuple[int, ...]:
        """All seeds, in increasing order."""
        return tuple(sorted({model.seed for model in self.models}))

    @property
    def yardstick(self) -> str:
        """The method that the others are tested against: the first AC, or the first of all."""
        return next((one.label for one in self.methods if one.estimator == YARDSTICK), self.methods[0].label)

    @property
    def references(self) -> tuple[str, ...]:
        """Names of the reference models."""
        return tuple(dict.fromkeys(name for told in self.told for name in told.get("references", ())))

    @cached_property
    def off(self) -> np.ndarray:
        """float[K, M, C], estimated minus true accuracy: above 0 where a method is too hopeful."""
        return (1 - self.error) - self.accuracy

    def of_row(self, row: str) -> np.ndarray:
        """bool[C], which conditions belong to a line."""
        return np.array([condition.row == row for condition in self.conditions])

    def read(self, number: Callable[[Mapping[str, Any]], float | None]) -> np.ndarray:
        """float[M, C] of a number that records tell of a target."""
        places = {condition: place for place, condition in enumerate(self.conditions)}
        found = np.full(self.accuracy.shape, np.nan)
        for model, told in enumerate(self.told):
            for target in told["targets"]:
                value = number(target)
                found[model, places[_condition(target)]] = np.nan if value is None else value
        return found


def load_estimates(folder: Path | str) -> EstimateRun:
    """A run of accuracy estimation, its records verified.

    Raises:
        OpenworldError: when there is no run, a unit is missing or damaged, or none estimated an accuracy.
    """
    lacking = "estimated accuracies, so there is nothing to compare"
    records, description = protocol_records(folder, PROTOCOL, lacking)
    return estimate_run(records, *description)


def estimate_run(records: Iterable[Record], given=None, resolved=None, provenance=()) -> EstimateRun:
    """The same from records."""
    records = tuple(records)
    told = tuple(record.metrics for record in records)
    methods = _first_of_each([_method(one) for metrics in told for one in metrics["estimators"]])
    conditions = tuple(dict.fromkeys(_condition(target) for metrics in told for target in metrics["targets"]))
    models = tuple(_model(metrics) for metrics in told)
    arrays = _arrays(told, methods, conditions)
    return EstimateRun(methods, models, conditions, **arrays, told=told, records=records, given=given,
                       resolved=resolved, provenance=provenance)  # fmt: skip


def _arrays(told: Sequence[Mapping], methods: Sequence[Method], conditions: Sequence[Condition]) -> dict:
    """The numbers of all targets of all records."""
    sides = len(told), len(conditions)
    places = {condition: place for place, condition in enumerate(conditions)}
    accuracy, images = np.full(sides, np.nan), np.zeros(sides, int)
    error, low, high = (np.full((len(methods), *sides), np.nan) for _ in range(3))
    warned = np.zeros(error.shape, bool)
    for model, metrics in enumerate(told):
        for target in metrics["targets"]:
            at = model, places[_condition(target)]
            accuracy[at], images[at] = _or_nan(target["accuracy"]), target["n"]
            for place, method in enumerate(methods):
                said = target["estimates"].get(method.label) or {}
                error[place, *at] = _or_nan(said.get("error"))
                low[place, *at], high[place, *at] = map(_or_nan, said.get("interval") or (None, None))
                warned[place, *at] = bool(said.get("warnings"))
    return {"accuracy": accuracy, "images": images, "error": error, "low": low, "high": high, "warned": warned}


def _method(told: Mapping) -> Method:
    return Method(told["label"], told["estimator"], told.get("reference"), told.get("settings") or {})


def _first_of_each(methods: Sequence[Method]) -> tuple[Method, ...]:
    """One method per label, in order of first appearance."""
    found: dict[str, Method] = {}
    for method in methods:
        found.setdefault(method.label, method)
    return tuple(found.values())


def _model(told: Mapping) -> Model:
    architecture = told.get("architecture") or told["model"]
    return Model(told["model"], architecture, told["seed"], told.get("epoch"), told.get("checkpoint", 0))


def _condition(told: Mapping) -> Condition:
    names = ("row", "name", "kind", "dataset", "domain", "corruption", "severity")
    return Condition(*(told.get(name) for name in names))


def _or_nan(value: float | None) -> float:
    return np.nan if value is None else value
