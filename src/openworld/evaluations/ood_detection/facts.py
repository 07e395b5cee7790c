"""What the records of a run have in common: its models and detectors, its cells, and what they counted."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from openworld._errors import OpenworldError
from openworld.evaluations.ood_detection.record import DetectionRecord, PoolRecord
from openworld.results import RunFolder
from openworld.runs import Record

SCORES = "scores"
"""The kind of a model of which nothing is here but scores."""

KEPT, REMOVED = "kept", "removed"
"""What becomes of the pool's images of in-distribution classes."""


@dataclass(frozen=True)
class Detector:
    """A detector of a model.

    Args:
        shared: whether the run has other models too.
        sequential: whether its scores depend on the order of the images and on which others there are.
    """

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
    """The records of a run, models in the order of its spec and their seeds in increasing order.

    Args:
        records: one per model and seed.
        outputs: beside each the stored record with the scores of all images.
        least: cells with fewer images are N/A.
    """

    records: tuple[DetectionRecord, ...]
    outputs: tuple[Record, ...]
    least: int

    @classmethod
    def read(cls, run: RunFolder) -> "ShiftFacts":
        """The facts of a run.

        Raises:
            OpenworldError: records of another evaluation, or of different pools.
        """
        resolved = run.resolved or {}
        pairs = list(zip(run.metrics(DetectionRecord), run.records, strict=True))
        order = [model.get("label") for model in resolved.get("models", ()) if isinstance(model, Mapping)]
        order += [record.model for record, _ in pairs]
        pairs.sort(key=lambda pair: (order.index(pair[0].model), pair[0].seed))
        records, outputs = zip(*pairs, strict=True)
        if any(record.counts != records[0].counts for record in records):
            raise OpenworldError("these records judge different pools, so no table holds them all; report them apart.")
        return cls(records, outputs, int(resolved["least"]))

    @property
    def has_models(self) -> bool:
        """Whether the scores came with the models that gave them."""
        return self.first.kind != SCORES

    @property
    def first(self) -> DetectionRecord:
        """The first record, for what all have in common."""
        return self.records[0]

    @property
    def models(self) -> tuple[str, ...]:
        """Labels of the models."""
        return tuple(dict.fromkeys(record.model for record in self.records))

    def of(self, model: str) -> list[DetectionRecord]:
        """The records of a model."""
        return [record for record in self.records if record.model == model]

    def seeds(self, model: str) -> tuple[int, ...]:
        """The seeds of a model."""
        return tuple(record.seed for record in self.of(model))

    @cached_property
    def detectors(self) -> tuple[Detector, ...]:
        """All detectors, model by model."""
        several = len(self.models) > 1
        every = (
            Detector(settings["label"], record.model, several, settings.get("sequential", False))
            for record in self.records
            for settings in record.detector_settings
        )
        return tuple(dict.fromkeys(every))

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of detectors, of all models."""
        return tuple(dict.fromkeys(detector.label for detector in self.detectors))

    @property
    def counting(self) -> str:
        """What the run does with images of in-distribution classes."""
        return KEPT if self.first.id_kept else REMOVED

    @property
    def whole(self) -> str:
        """The subset, of `SUBSETS`, that is the whole pool as the run counts it."""
        return "all" if self.first.id_kept else "unknown"

    def pools(self, model: str, counting: str) -> list[PoolRecord]:
        """What the records of a model say of the pool in a way of counting it."""
        return [record if counting == self.counting else record.otherwise for record in self.of(model)]

    def counts(self, counting: str = "") -> np.ndarray:
        """int64[R, C], images of every cell."""
        return np.array(self.pools(self.models[0], counting or self.counting)[0].counts)

    def present(self, counting: str = "") -> np.ndarray:
        """bool[R, C], cells that are not N/A."""
        return self.counts(counting) >= self.least

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of covariate and of semantic levels."""
        return self.counts().shape
