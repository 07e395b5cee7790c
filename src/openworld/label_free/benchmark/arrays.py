"""The rows of a run as arrays over methods, judged models and conditions.

A judged model is one checkpoint of one training; a condition is one set of target images. What no unit measured, or a
method could not say, is NaN in the arrays, and never in results. Read without torch.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.evaluations.image_selection import ImageSelection
from openworld.evaluations.rows import rows_of_run
from openworld.label_free.benchmark.cards import ESTIMATED, TRUE_ACCURACY
from openworld.results import Metric, Result, RunFolder, Value

NAME = "accuracy-estimation"
AVERAGE = "Average"
"""The line of the table that is the unweighted mean of the others."""

BASELINE = "AC"
"""The estimator that costs nothing and knows of no shift."""

NO_ESTIMATE = "no estimate was given"
EXAMPLES, THUMBNAILS = "examples", "images"
"""Folders of attachments: images by their ids, of which references are asked; others by the number of a condition."""


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
    images: ImageSelection | None = None  # a record does not tell them

    @property
    def facts(self) -> dict[str, str | int | None]:
        """What a record says of it."""
        return {name: fact for name, fact in vars(self).items() if name != "images"}

    @property
    def shift(self) -> str:
        """What moved: a corruption at any severity, or a data set's domain. Conditions of one shift are alike."""
        return self.corruption or (f"{self.dataset}, {self.domain}" if self.domain else self.name)

    @property
    def place(self) -> dict[str, str | int]:
        """What tells its results apart: its line and name, and what else is known of it."""
        facts = {key: fact for key, fact in self.facts.items() if key not in ("row", "name") and fact not in (None, "")}
        return {"images": self.row, "condition": self.name, **facts}


@dataclass(frozen=True, eq=False)
class RunArrays:
    """Everything that a run measured, in arrays K methods, M judged models, C conditions; NaN for what is not there."""

    run: RunFolder

    def __post_init__(self) -> None:
        for record in self.run.records:
            if record.metrics.get("protocol") != NAME:
                raise OpenworldError(f"record {record.name!r} of {self.run.folder} is of another kind than {NAME}.")

    @cached_property
    def units(self) -> tuple:
        return rows_of_run(self.run)

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the first record says of its unit; sources, classes, references and taxonomy are those of all."""
        return self.run.records[0].metrics

    @cached_property
    def methods(self) -> dict[str, Mapping[str, Any]]:
        """Label -> estimator, reference and settings; in order of first appearance, as conditions and rows below."""
        by_label: dict[str, Mapping[str, Any]] = {}
        for method in (method for record in self.run.records for method in record.metrics["estimators"]):
            by_label.setdefault(method["label"], method)
        return by_label

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self.methods)

    @cached_property
    def models(self) -> tuple[Model, ...]:
        """The judged models, one for every record."""
        facts = [record.metrics for record in self.run.records]
        return tuple(Model(unit["model"], unit["seed"], unit["epoch"], unit["checkpoint"]) for unit in facts)

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        every = (Condition(**facts) for record in self.run.records for facts in record.metrics["conditions"])
        return tuple(dict.fromkeys(every))

    @cached_property
    def single(self) -> tuple[tuple[int, Result], ...]:
        """(place of the model, number) of every model under every condition."""
        return tuple((model, row) for model, rows in enumerate(self.units) for row in rows if "condition" in row.where)

    @cached_property
    def _arrays(self) -> dict[tuple[str, str, str], np.ndarray]:
        """{(entity, key of a metric, kind of calibration): float[M, C]} of what units measured under conditions."""
        places = {condition.name: place for place, condition in enumerate(self.conditions)}
        arrays: dict[tuple[str, str, str], np.ndarray] = {}
        for model, row in self.single:
            if row.value.value is not None:
                key = row.entity, row.metric.key, str(row.where.get("calibration", ""))
                values = arrays.setdefault(key, np.full((len(self.models), len(places)), np.nan))
                values[model, places[str(row.where["condition"])]] = row.value.value
        return arrays

    def read(self, entity: str, metric: Metric, calibration: str = "") -> np.ndarray:
        """Return float[M, C] of a number of every model under every condition."""
        missing = np.full((len(self.models), len(self.conditions)), np.nan)
        return self._arrays.get((entity, metric.key, calibration), missing)

    @cached_property
    def accuracy(self) -> np.ndarray:
        """float[M, C], true."""
        return self.read("", TRUE_ACCURACY)

    @cached_property
    def estimated(self) -> np.ndarray:
        """float[K, M, C], accuracy in [0, 1]."""
        return np.stack([self.read(label, ESTIMATED) for label in self.labels])

    @cached_property
    def signed_error(self) -> np.ndarray:
        """float[K, M, C], estimated minus true accuracy: above 0 where a method overestimates."""
        return self.estimated - self.accuracy

    @cached_property
    def rows(self) -> tuple[str, ...]:
        """Lines of the table without the average."""
        return tuple(dict.fromkeys(condition.row for condition in self.conditions))

    @property
    def lines(self) -> tuple[str, ...]:
        """All lines of the table; the average, which sums up the others, where there are several."""
        return (*self.rows, AVERAGE) if len(self.rows) > 1 else self.rows

    def place(self, line: str) -> dict[str, str]:
        """Return what tells the results of a line apart; nothing of what is of the run as a whole."""
        return {} if line == self.lines[-1] else {"images": line}

    @cached_property
    def shifts(self) -> tuple[tuple[str, str], ...]:
        """(row, shift) of all conditions."""
        return tuple(dict.fromkeys((condition.row, condition.shift) for condition in self.conditions))

    @property
    def seeds(self) -> tuple[int, ...]:
        return tuple(sorted({model.seed for model in self.models}))

    @property
    def baseline(self) -> str:
        """The method that the others are tested against: the first AC, or the first of all."""
        labels = (label for label, method in self.methods.items() if method["estimator"] == BASELINE)
        return next(labels, self.labels[0])

    @property
    def references(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for record in self.run.records for name in record.metrics["references"]))

    def chosen(self, **facts: str | int) -> np.ndarray:
        """Return bool[C], the conditions with these facts, such as `row` or `severity`."""
        return np.array(
            [all(getattr(condition, name) == fact for name, fact in facts.items()) for condition in self.conditions]
        )

    def of_line(self, line: str) -> np.ndarray:
        """Return bool[C], which conditions belong to a line: all of them to the average."""
        return self.chosen(row=line) if line in self.rows else self.chosen()


def finite(values: np.ndarray) -> np.ndarray:
    """Return the values that are there, in one line."""
    return values[np.isfinite(values)]


def value_of(summarise: Callable, values: np.ndarray, reason: str = NO_ESTIMATE) -> Value:
    """Return what a function such as `np.median` says of the values that are there; None with a reason without any."""
    numbers = finite(values)
    return Value(float(summarise(numbers))) if numbers.size else Value(None, reason=reason)
