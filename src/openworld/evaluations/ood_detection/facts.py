"""The units of a run: its models and detectors, its cells, and what they counted."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from openworld.evaluations.ood_detection.errors import TABLE, Errors, read_errors
from openworld.evaluations.ood_detection.metrics import KEPT, REMOVED
from openworld.evaluations.ood_detection.record import DetectionRecord
from openworld.evaluations.rows import read_rows
from openworld.results import Results, RunFolder
from openworld.runs import Record

if TYPE_CHECKING:
    from openworld.evaluations.ood_detection.pool import ScoredPool

SCORES = "scores"
"""The kind of a model of which nothing is here but scores."""


@dataclass(frozen=True, eq=False)
class DetectionUnit:
    """A model with a seed: what it was, its rows by label of detector, their errors, and the tables that it keeps."""

    record: DetectionRecord
    rows: Results
    errors: Errors
    stored: "Record | ScoredPool"


@dataclass(frozen=True)
class Detector:
    """A detector of a model; `shared`: the run has other models; `sequential`: scores depend on the order."""

    label: str
    model: str
    shared: bool = False
    sequential: bool = False

    @property
    def title(self) -> str:
        """The detector, with its model where there are several."""
        return f"{self.label} of {self.model}" if self.shared else self.label


@dataclass(frozen=True, eq=False)
class ShiftFacts:
    """The units of a run, models in the order of its spec, seeds in increasing order; cells have `least` images."""

    units: tuple[DetectionUnit, ...]
    least: int

    @classmethod
    def read(cls, run: RunFolder) -> "ShiftFacts":
        """The units of a run."""
        resolved = run.resolved or {}
        units = [
            DetectionUnit(record, read_rows(stored), read_errors(stored.table(TABLE)), stored)
            for record, stored in zip(run.metrics(DetectionRecord), run.records, strict=True)
        ]
        order = [model.get("label") for model in resolved.get("models", ()) if isinstance(model, Mapping)]
        order += [unit.record.model for unit in units]
        units.sort(key=lambda unit: (order.index(unit.record.model), unit.record.seed))
        return cls(tuple(units), int(resolved["least"]))

    @property
    def has_models(self) -> bool:
        """Whether the scores came with the models that gave them."""
        return self.first.kind != SCORES

    @property
    def first(self) -> DetectionRecord:
        """The first record, for what all have in common."""
        return self.units[0].record

    @property
    def models(self) -> tuple[str, ...]:
        """Labels of the models."""
        return tuple(dict.fromkeys(unit.record.model for unit in self.units))

    def of(self, model: str) -> list[DetectionUnit]:
        """The units of a model."""
        return [unit for unit in self.units if unit.record.model == model]

    @cached_property
    def detectors(self) -> tuple[Detector, ...]:
        """All detectors, model by model."""
        several = len(self.models) > 1
        every = (
            Detector(settings["label"], unit.record.model, several, settings.get("sequential", False))
            for unit in self.units
            for settings in unit.record.detector_settings
        )
        return tuple(dict.fromkeys(every))

    @property
    def counting(self) -> str:
        """What the run does with images of in-distribution classes."""
        return KEPT if self.first.id_kept else REMOVED

    def size(self, **where: str) -> int:
        """How many images there are of a subset, {"images": ...}, or of a side."""
        return self.units[0].rows.value("", "images", **where).value

    @cached_property
    def counts(self) -> np.ndarray:
        """int64[R, C], images of every cell as the run counts them."""
        counts = {
            (row.where["covariate_level"], row.where["semantic_level"]): row.value.value
            for row in self.units[0].rows.where(entity="", metric="images", id_classes=self.counting)
            if "covariate_level" in row.where
        }
        return np.reshape([*counts.values()], 1 + np.max([*counts], axis=0))

    @property
    def present(self) -> np.ndarray:
        """bool[R, C], cells that are not N/A."""
        return self.counts >= self.least
