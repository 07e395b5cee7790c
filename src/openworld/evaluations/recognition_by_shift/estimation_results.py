"""The results of accuracy without labels, by cell and level: what is true, what estimators say, how far they are off.

Errors are of the mean over the seeds: the estimated minus the true accuracy of a cell is averaged over the seeds first,
and its absolute value over cells, which count alike, and over learners.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from openworld.evaluations.recognition_by_shift.record import OPEN_WORLD, PARTS, ShiftRecord
from openworld.results import METRICS, Metric, Result, Value, mean, over_seeds

ARRAY_AXES = {"semantic": -1, "covariate": -2}
"""An axis of shift -> that of an array [..., covariate level, semantic level]."""

IMAGES = "images of the pool"
"""What the numbers of images in cells are of: base and new ones together, all of which are estimated."""

VALIDATION, CELLS = "validation images", "mean of the cells"
TRUE, ESTIMATED = METRICS["accuracy"], METRICS["estimated_accuracy"]
UNDEFINED = "no cell has an estimate"
OPEN_WORLD_TITLES = {**PARTS, "new_share": "share of new"}
ALARM = Metric("alarm", "alarm", better=0)
"""Share of the seeds in which the two signs say that no estimate is to be trusted."""


def estimation_rows(records: Mapping[str, Sequence[ShiftRecord]]) -> Iterator[Result]:
    """Yield every number about estimates of a run, and how many images each cell has.

    Args:
        records: by learner, each with an `estimation` of the same estimators.
    """
    truth = {name: _by_seed([record.estimation.accuracy for record in runs]) for name, runs in records.items()}
    first = next(iter(records.values()))[0].estimation
    for (row, column), count in np.ndenumerate(np.array(first.counts)):
        yield Result(IMAGES, METRICS["images"], Value(int(count)), {"covariate_level": row, "semantic_level": column})
    for name, runs in records.items():
        seeds = tuple(record.seed for record in runs)
        at_home = tuple(record.estimation.home.accuracy for record in runs)
        yield Result(name, TRUE, over_seeds(at_home, TRUE), {"images": VALIDATION}, seeds, at_home)
        yield Result(name, TRUE, _mean(truth[name]), {"images": CELLS})
        yield from _accuracies(name, TRUE, truth[name], {}, seeds)
    for estimator in first.estimates:
        errors = []
        for name, runs in records.items():
            estimated = _by_seed([record.estimation.estimates[estimator].cells for record in runs])
            yield from _accuracies(
                estimator, ESTIMATED, estimated, {"learner": name}, tuple(record.seed for record in runs)
            )
            errors.append((estimated - truth[name]).mean(axis=0))
            yield from _errors(estimator, errors[-1], {"learner": name})
        yield from _errors(estimator, np.array(errors), {})
        for where, chosen in _levels(np.array(errors)):
            yield from _errors(estimator, chosen, where)


def open_world_rows(records: Mapping[str, Sequence[ShiftRecord]], view: str) -> Iterator[Result]:
    """Yield what open-world estimators say of every level of appearance, and how far they are off there.

    Args:
        records: by learner, each with an `open_world` of the same estimators. view: the place of what is true.
    """
    first = next(iter(records.values()))[0].estimation.open_world
    for estimator in first.estimates:
        every: dict[str, list[np.ndarray]] = {part: [] for part in OPEN_WORLD}
        for name, runs in records.items():
            seeds = tuple(record.seed for record in runs)
            for part in OPEN_WORLD:
                said = _by_seed([_said(record, estimator, part) for record in runs])
                off = said - _by_seed([_true(record, part) for record in runs])
                for level in range(said.shape[1]):
                    values = tuple(None if np.isnan(value) else float(value) for value in said[:, level])
                    reasons = [record.estimation.open_world.estimates[estimator][level].reason for record in runs]
                    value = over_seeds(values, estimated(part), reason=next(filter(None, reasons), UNDEFINED))
                    place = {"learner": name, "view": view, "axis": "covariate", "level": level}
                    yield Result(estimator, estimated(part), value, place, seeds, values)
                every[part].append(off.mean(axis=0))
        for part, off in every.items():
            yield Result(estimator, off_by(part), _mean(np.abs(np.array(off))), {"view": view})
            yield Result(estimator, off_by(part, bias=True), _mean(np.array(off)), {"view": view})
    for name, runs in records.items():
        for level in range(len(first.alarms)):
            alarms = [record.estimation.open_world.alarms[level] for record in runs]
            known = [float(alarm) for alarm in alarms if alarm is not None]
            value = Value(mean(known) if known else None, reason="" if known else "there are too few images")
            yield Result(name, ALARM, value, {"view": view, "axis": "covariate", "level": level})


def estimated(part: str) -> Metric:
    """Return the metric of a part as estimated."""
    return Metric(f"estimated_{part}", OPEN_WORLD_TITLES[part], better=0)


def off_by(part: str, bias: bool = False) -> Metric:
    """Return the metric of the mean absolute error of a part, or of its bias."""
    if bias:
        return Metric(f"{part}_bias", f"{OPEN_WORLD_TITLES[part]}, bias", "points", better=0, bounds=(-1.0, 1.0))
    return Metric(f"{part}_error", OPEN_WORLD_TITLES[part], better=-1)


def _said(record: ShiftRecord, estimator: str, part: str) -> list[float | None]:
    return [level.numbers[part] for level in record.estimation.open_world.estimates[estimator]]


def _true(record: ShiftRecord, part: str) -> list[float | None]:
    """What is true of the base and new images of every level of appearance; None where there are too few."""
    levels = record.same_looks.covariate
    if part == "new_share":
        return [None if level is None else level.n_new / (level.n_base + level.n_new) for level in levels]
    return [None if level is None else getattr(level, part) for level in levels]


def _accuracies(entity: str, metric, values: np.ndarray, where: Mapping, seeds: tuple[int, ...]) -> Iterator[Result]:
    """Yield accuracies by cell and, as means, by level. values: float[seeds, R, C], NaN where N/A."""
    for row, column in np.ndindex(values.shape[1:]):
        accuracies = tuple(None if np.isnan(seed) else float(seed) for seed in values[:, row, column])
        value = over_seeds(accuracies, metric, reason="the cell is N/A, or nothing can be said of it")
        place = {**where, "covariate_level": row, "semantic_level": column}
        yield Result(entity, metric, value, place, seeds, accuracies)
    for place, chosen in _levels(values):
        yield Result(entity, metric, _mean(chosen), {**where, **place})


def _errors(estimator: str, off: np.ndarray, where: Mapping) -> Iterator[Result]:
    """off: estimated minus true accuracy, NaN where N/A."""
    yield Result(estimator, METRICS["absolute_error"], _mean(np.abs(off)), where)
    yield Result(estimator, METRICS["bias"], _mean(off), where)


def _levels(values: np.ndarray) -> Iterator[tuple[dict[str, Any], np.ndarray]]:
    """Yield of [..., R, C] the part at every level of either axis."""
    for axis, place in ARRAY_AXES.items():
        for level in range(values.shape[place]):
            yield {"axis": axis, "level": level}, np.take(values, level, axis=place)


def _mean(values: np.ndarray) -> Value:
    """The mean of what is there."""
    known = values[np.isfinite(values)].tolist()
    return Value(mean(known), reason="" if known else UNDEFINED)


def _by_seed(cells: Sequence[Sequence[Sequence[float | None]]]) -> np.ndarray:
    """float[seeds, R, C], NaN where a cell is N/A."""
    return np.array(cells, dtype=float)
