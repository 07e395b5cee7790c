"""How far estimates without labels are off: by cell and level of accuracy, by level of appearance of an open world.

Errors are of the mean over the seeds: the estimated minus the true number of a place is averaged over the seeds first,
and its absolute value over places, which count alike, and over learners.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from openworld.evaluations.recognition_by_shift.quantities import (
    AUC,
    BASE,
    CELLS,
    NEW,
    OPEN_WORLD,
    SAME,
    estimated,
    off_by,
)
from openworld.results import METRICS, Result, Results, Value

ARRAY_AXES = {"semantic": -1, "covariate": -2}
"""An axis of shift -> that of an array [..., covariate level, semantic level]."""

TRUE, ESTIMATED = METRICS["accuracy"], METRICS["estimated_accuracy"]
UNDEFINED = "no cell has an estimate"


def accuracy_errors(rows: Results) -> Iterator[Result]:
    """Yield true and estimated accuracy by level, and how far estimators are off, by learner, level and over all."""
    learners = rows.places("learner")
    truth = {name: _cells(rows, name, TRUE) for name in learners}
    estimators = dict.fromkeys(row.entity for row in rows.where(metric=ESTIMATED.key))
    for name in learners if estimators else ():
        yield Result(name, TRUE, _mean(truth[name]), {"images": CELLS})
        for place, chosen in _levels(truth[name]):
            yield Result(name, TRUE, _mean(chosen), place)
    for estimator in estimators:
        errors = []
        for name in learners:
            said = _cells(rows, estimator, ESTIMATED, learner=name)
            for place, chosen in _levels(said):
                yield Result(estimator, ESTIMATED, _mean(chosen), {"learner": name, **place})
            errors.append(said - truth[name])
            yield from _errors(estimator, errors[-1], {"learner": name})
        yield from _errors(estimator, np.array(errors), {})
        for place, chosen in _levels(np.array(errors)):
            yield from _errors(estimator, chosen, place)


def open_world_errors(rows: Results) -> Iterator[Result]:
    """Yield how far open-world estimators are off, over levels of appearance and learners."""
    levels = {"view": SAME, "axis": "covariate"}
    for estimator in dict.fromkeys(row.entity for row in rows.where(metric=estimated(AUC.key).key)):
        for part in OPEN_WORLD:
            said = rows.where(entity=estimator, metric=estimated(part).key, **levels)
            off = [
                _float(row.value.value) - _true(rows, part, row.where["learner"], row.where["level"]) for row in said
            ]
            yield Result(estimator, off_by(part), _mean(np.abs(np.array(off))), {"view": SAME})
            yield Result(estimator, off_by(part, bias=True), _mean(np.array(off)), {"view": SAME})


def _true(rows: Results, part: str, learner: str, level: int) -> float:
    """What is true of the base and new images of a level of appearance; NaN where there are too few."""
    place = {"axis": "covariate", "level": level}
    if part != "new_share":
        return _float(rows.value(learner, part, view=SAME, **place).value)
    if rows.value(learner, AUC.key, view=SAME, **place).value is None:
        return np.nan
    new, base = (rows.value(side, "images", **place).value for side in (NEW, BASE))
    return new / (base + new)


def _cells(rows: Results, entity: str, metric, **where) -> np.ndarray:
    """float[R, C], the numbers of an entity by cell, NaN where a cell is N/A."""
    found = [row for row in rows.where(entity=entity, metric=metric.key, **where) if "semantic_level" in row.where]
    places = [(row.where["covariate_level"], row.where["semantic_level"]) for row in found]
    table = np.full(np.max(places, axis=0) + 1, np.nan)
    for place, row in zip(places, found, strict=True):
        table[place] = _float(row.value.value)
    return table


def _levels(values: np.ndarray) -> Iterator[tuple[dict[str, Any], np.ndarray]]:
    """Yield of [..., R, C] the part at every level of either axis."""
    for axis, place in ARRAY_AXES.items():
        for level in range(values.shape[place]):
            yield {"axis": axis, "level": level}, np.take(values, level, axis=place)


def _errors(estimator: str, off: np.ndarray, where: Mapping) -> Iterator[Result]:
    """off: estimated minus true accuracy, NaN where N/A."""
    yield Result(estimator, METRICS["absolute_error"], _mean(np.abs(off)), where)
    yield Result(estimator, METRICS["bias"], _mean(off), where)


def _mean(values: np.ndarray) -> Value:
    """The mean of what is there."""
    known = values[np.isfinite(values)]
    return Value(float(known.mean()) if known.size else None, reason="" if known.size else UNDEFINED)


def _float(value: float | None) -> float:
    return np.nan if value is None else value
