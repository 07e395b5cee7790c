"""A run of open-world quality by shift as the report sees it: learners over seeds, told in the same cells."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from openworld.report.records import protocol_records
from openworld.report.series_style import Look, looks
from openworld.runs import Record

PROTOCOL = "open-world-by-shift"
PARTS = {
    "openworld_auc": "OpenworldAUC",
    "base_accuracy": "base accuracy",
    "new_accuracy": "new accuracy",
    "auroc": "AUROC",
}
"""A quantity -> what tables call it."""

VIEWS = {"near": "base pictures in the training looks", "same_looks": "base pictures in the looks of the new ones"}


@dataclass(frozen=True, eq=False)
class OpenWorldShiftRun:
    """Records by learner, one per seed, in the order of the run; levels and cells are the same in all of them."""

    records: Mapping[str, tuple[Record, ...]]
    given: Any = None
    resolved: Any = None
    provenance: tuple[Mapping[str, Any], ...] = ()

    @property
    def learners(self) -> tuple[str, ...]:
        """Labels, in the order of the run."""
        return tuple(self.records)

    @property
    def any(self) -> Mapping[str, Any]:
        """The metrics of some record, for what all have in common."""
        return self.records[self.learners[0]][0].metrics

    @property
    def metrics(self) -> list[Mapping[str, Any]]:
        """Those of every record."""
        return [record.metrics for records in self.records.values() for record in records]

    @property
    def seeds(self) -> tuple[int, ...]:
        """In increasing order."""
        return tuple(sorted({one.metrics["seed"] for records in self.records.values() for one in records}))

    @property
    def yardstick(self) -> str | None:
        """The learner that tunes nothing, if there is one."""
        untuned = [name for name, records in self.records.items() if not records[0].metrics["tuned_parameters"]]
        return untuned[0] if untuned else None

    @property
    def estimators(self) -> tuple[str, ...]:
        """Labels of the estimators of accuracy; none where none was asked."""
        return tuple(one["label"] for one in self.any["estimators"])

    @cached_property
    def counts(self) -> np.ndarray:
        """int64[R, C], new pictures in each cell; rows covariate, columns semantic levels."""
        return np.array(self.any["counts"])

    def level_counts(self, axis: str) -> list[int]:
        """New pictures at each level of an axis."""
        return self.any["levels"][axis]["counts"]

    def starts(self, axis: str) -> list[float]:
        """Where the levels of an axis begin, in degrees."""
        return self.any["levels"][axis]["edges"][:-1]

    def cells(self, learner: str, view: str = "near", part: str = "openworld_auc") -> np.ndarray:
        """float[R, C], means over the seeds, NaN where a cell is N/A."""
        tables = [_numbers(one.metrics[view]["cells"], part) for one in self.records[learner]]
        return np.mean(tables, axis=0)

    def truth(self, learner: str) -> np.ndarray:
        """float[S, R, C], accuracy among all names in each cell, by seed; NaN where a cell is N/A."""
        return np.array([_floats(one.metrics["estimation"]["accuracy"]) for one in self.records[learner]])

    def estimated(self, learner: str, estimator: str) -> np.ndarray:
        """float[S, R, C], what an estimator says it is."""
        told = (one.metrics["estimation"]["estimates"][estimator]["cells"] for one in self.records[learner])
        return np.array([_floats(one) for one in told])


def styles(run: OpenWorldShiftRun) -> dict[str, Look]:
    """Colours and marks of the learners."""
    return looks(run.learners, [run.yardstick] if run.yardstick else [])


def load_open_world_shifts(folder: Path | str) -> OpenWorldShiftRun:
    """A run, its records verified.

    Raises:
        OpenworldError: when there is no run, or a unit is missing or damaged.
    """
    lacking = "open-world quality by shift, so there is nothing to show"
    records, description = protocol_records(folder, PROTOCOL, lacking)
    return open_world_shift_run(records, *description)


def open_world_shift_run(records: Iterable[Record], given=None, resolved=None, provenance=()) -> OpenWorldShiftRun:
    """The same from records."""
    by_learner: dict[str, list[Record]] = {}
    for one in records:
        by_learner.setdefault(one.metrics["learner"], []).append(one)
    return OpenWorldShiftRun({name: tuple(ones) for name, ones in by_learner.items()}, given, resolved, provenance)


def _numbers(cells, part: str) -> np.ndarray:
    return np.array([[np.nan if one is None else one[part] for one in row] for row in cells], dtype=float)


def _floats(cells) -> np.ndarray:
    return np.array([[np.nan if one is None else one for one in row] for row in cells], dtype=float)
