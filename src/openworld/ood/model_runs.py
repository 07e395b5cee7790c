"""A run of OOD detection as its units, a model with a seed each: their order, their rows, and how they came to be."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

from openworld.core.errors import present
from openworld.evaluations.rows import read_rows
from openworld.report.learner_facts import LearnerFacts
from openworld.results import METRICS, Result, Results, RunFolder
from openworld.runs import Record, read_spec


@dataclass(frozen=True, eq=False)
class ModelUnit:
    """A model with a seed: what it was, its rows by label of detector, and its record if it has one."""

    facts: Mapping[str, Any]
    rows: Results
    errors: Mapping[str, Any] = field(default_factory=dict)  # of its numbers over images, where rows alone do not do
    stored: Record | None = None

    @property
    def model(self) -> str:
        return self.facts["model"]

    @property
    def record(self) -> Record:
        """Its record; refuse a unit of scores alone."""
        return present(self.stored, f"the record of {self.model}")


@dataclass(frozen=True, eq=False)
class ModelRun:
    """The units of a run, models in the order of its spec, seeds in increasing order."""

    units: tuple[ModelUnit, ...]
    spec: Mapping[str, Any]  # as resolved; of scores that came without a model what reports look at

    @classmethod
    def read(cls, run: RunFolder, errors_of: Callable[[Record], Mapping[str, Any]] = lambda record: {}) -> Self:
        units = [ModelUnit(record.metrics, read_rows(record), errors_of(record), record) for record in run.records]
        order = [model.get("label") for model in (run.resolved or {}).get("models", ())] + [own.model for own in units]
        units.sort(key=lambda unit: (order.index(unit.model), unit.facts["seed"]))
        return cls(tuple(units), run.resolved or {})

    @cached_property
    def models(self) -> dict[str, tuple[ModelUnit, ...]]:
        """The units of every model, by its label."""
        names = dict.fromkeys(unit.model for unit in self.units)
        return {name: tuple(unit for unit in self.units if unit.model == name) for name in names}

    def title(self, model: str, detector: str) -> str:
        """A detector, with its model where there are several."""
        return f"{detector} of {model}" if len(self.models) > 1 else detector

    def titled_rows(self) -> list[list[Result]]:
        """The rows of every unit, those of detectors by their titles."""
        return [
            [
                row
                if row.metric == METRICS["accuracy"] or not row.entity
                else replace(row, entity=self.title(unit.model, row.entity))
                for row in unit.rows
            ]
            for unit in self.units
        ]

    def provenance(self) -> Iterator[tuple[str, str]]:
        """Yield what records say of training and of detectors that are known to fail."""
        for unit in self.units:
            name = f"{unit.model}, seed {unit.facts['seed']}"
            if unit.facts["learner"]:
                training, settings = read_spec(unit.facts["learner"], LearnerFacts).sentences()
                yield f"training, {name}", training
                yield f"settings, {name}", settings
            for warning in unit.facts["warnings"]:
                yield f"warning, {name}", warning
