"""A run of incremental shift as the report sees it: every detector of every model over the cells, seed by seed.

A cell that is N/A is NaN in the tables and counts nowhere; levels count from 0, the nearest.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from openworld._errors import OpenworldError
from openworld.report.records import protocol_records
from openworld.runs import Record

PROTOCOL = "incremental-shift"
METRICS = {
    "auroc": "AUROC",
    "fpr": "FPR@95, ID positive",
    "fpr_openood": "FPR@95, OOD positive",
    "aupr_in": "AUPR, ID positive",
    "aupr_out": "AUPR, OOD positive",
    "aupr_at_prevalence": "AUPR, ID positive, half ID",
}
"""A metric of a cell -> what tables call it."""

SUBSETS = {
    "all": "all pictures",
    "unknown": "other classes",
    "far": "far in meaning",
    "far and unknown": "far, other classes",
}

Told = Mapping[str, Any]


@dataclass(frozen=True)
class Judged:
    """A detector of a model; `shared` is whether the run has models beside it."""

    model: str
    detector: str
    shared: bool = False

    @property
    def title(self) -> str:
        """The detector, with its model where there are several."""
        return f"{self.detector} of {self.model}" if self.shared else self.detector


@dataclass(frozen=True, eq=False)
class Cells:
    """One way to count the pool: with pictures of in-distribution classes, or without.

    Args:
        id_kept: which. counts: int[R, C], pictures, rows covariate and columns semantic levels.
        present: bool[R, C], False where a cell is N/A.
        values: by metric and judged detector float[S, R, C], a table per seed, NaN where a cell is N/A.
        low, high: the same of the ends of AUROC's interval over pictures; NaN where there is none.
        told: by model what the records tell of these cells, a record per seed.
    """

    id_kept: bool
    counts: np.ndarray
    present: np.ndarray
    values: Mapping[str, Mapping[Judged, np.ndarray]]
    low: Mapping[Judged, np.ndarray]
    high: Mapping[Judged, np.ndarray]
    told: Mapping[str, Sequence[Told]]

    def joint(self, judged: Judged, axis: str, *, common: bool) -> list[Told | None]:
        """How the slopes of its model's detectors err together over pictures, by seed; None where it is not known."""
        kind = "common" if common else "all"
        return [one["joint"][axis][kind] if "joint" in one else None for one in self.told[judged.model]]


@dataclass(frozen=True, eq=False)
class ShiftRun:
    """The metrics of all records, and the records themselves, in the order of models and seeds."""

    told: tuple[Told, ...]
    records: tuple[Record, ...] = ()
    given: Any = None
    resolved: Any = None
    provenance: tuple[Told, ...] = ()

    @property
    def models(self) -> tuple[str, ...]:
        """Labels of the judged models."""
        return tuple(dict.fromkeys(one["model"] for one in self.told))

    @cached_property
    def judged(self) -> tuple[Judged, ...]:
        """Detectors, model by model."""
        shared = len(self.models) > 1
        named = {(one["model"], label["label"]): None for one in self.told for label in one["detector_settings"]}
        return tuple(Judged(model, label, shared) for model, label in named)

    @property
    def detectors(self) -> tuple[str, ...]:
        """Labels of detectors, of all models."""
        return tuple(dict.fromkeys(one.detector for one in self.judged))

    def of(self, model: str) -> list[Told]:
        """What was told of a model, seeds in increasing order."""
        return sorted((one for one in self.told if one["model"] == model), key=lambda one: one["seed"])

    def seeds(self, model: str) -> tuple[int, ...]:
        """The seeds of a model."""
        return tuple(one["seed"] for one in self.of(model))

    @cached_property
    def cells(self) -> Cells:
        """As the run counts the pool."""
        return self._counted(lambda one: one)

    @cached_property
    def otherwise(self) -> Cells:
        """With the other choice about pictures of in-distribution classes."""
        return self._counted(lambda one: one["otherwise"])

    @property
    def least(self) -> int:
        """Cells with fewer pictures are N/A."""
        return int(self.resolved["least"])

    def areas(self, judged: Judged, subset: str) -> list[Told]:
        """AUROC with its interval against a subset of the whole pool, a key of `SUBSETS`, by seed."""
        return [one["labelling"]["detectors"][judged.detector][subset] for one in self.of(judged.model)]

    def joint(self, judged: Judged, subset: str) -> list[Told | None]:
        """How these AUROCs of all its model's detectors err together over pictures, by seed; None where unknown."""
        return [one["labelling"].get("joint", {}).get(subset) for one in self.of(judged.model)]

    @property
    def whole(self) -> str:
        """The subset that is the whole pool as the run counts it."""
        return "all" if self.cells.id_kept else "unknown"

    def _counted(self, of) -> Cells:
        parts = [of(one) for one in self.told]
        counts = np.array(parts[0]["counts"])
        if any(not np.array_equal(one["counts"], counts) for one in parts):
            raise OpenworldError("these records judge different pools, so no table holds them all; report them apart.")
        tables = {
            one: [of(told)["detectors"][one.detector]["cells"] for told in self.of(one.model)] for one in self.judged
        }
        values = {name: {one: _stacked(table, name) for one, table in tables.items()} for name in METRICS}
        ends = [{one: _stacked(table, "auroc", end) for one, table in tables.items()} for end in (0, 1)]
        present = np.isfinite(next(iter(values["auroc"].values()))[0])
        told = {model: [of(one) for one in self.of(model)] for model in self.models}
        return Cells(bool(parts[0]["id_kept"]), counts, present, values, *ends, told)


def load_shifts(folder: Path | str) -> ShiftRun:
    """A run of incremental shift, its records verified.

    Raises:
        OpenworldError: when there is no run, a unit is missing or damaged, or none is of this protocol.
    """
    records, description = protocol_records(folder, PROTOCOL, "incremental shift, so there is nothing to report on yet")
    return shift_run(records, *description)


def shift_run(records: Iterable[Record], given=None, resolved=None, provenance=()) -> ShiftRun:
    """The same from records."""
    models = (resolved or {}).get("models", ())
    order = [one.get("label") for one in models if isinstance(one, Mapping)]
    placed = sorted(records, key=lambda one: _place(order, one.metrics["model"]))
    return ShiftRun(tuple(one.metrics for one in placed), tuple(placed), given, resolved, provenance)


def _place(order: Sequence[str | None], model: str) -> int:
    """Models in the order of the spec; sorting keeps the order of the rest."""
    return order.index(model) if model in order else len(order)


def _stacked(tables: Sequence, metric: str, end: int | None = None) -> np.ndarray:
    """float[S, R, C] of a metric, or of an end of its interval."""
    return np.array([[[_number(cell, metric, end) for cell in row] for row in table] for table in tables])


def _number(cell: Told | None, metric: str, end: int | None) -> float:
    told = None if cell is None else cell[metric]
    if isinstance(told, Mapping):
        told = told["value"] if end is None else (told["interval"] or (None, None))[end]
    elif end is not None:
        told = None
    return np.nan if told is None else float(told)
