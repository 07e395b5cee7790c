"""The results of accuracy without labels, by cell and level: what is true, what estimators say, how far they are off.

Errors are of the mean over the seeds: the estimated minus the true accuracy of a cell is averaged over the seeds first,
and its absolute value over cells, which count alike, and over learners.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from openworld.evaluations.recognition_by_shift.record import ShiftRecord
from openworld.results import METRICS, Result, Value, mean, over_seeds

ARRAY_AXES = {"semantic": -1, "covariate": -2}
"""An axis of shift -> that of an array [..., covariate level, semantic level]."""

IMAGES = "images of the pool"
"""What the numbers of images in cells are of: base and new ones together, all of which are estimated."""

VALIDATION, CELLS = "validation images", "mean of the cells"
TRUE, ESTIMATED = METRICS["accuracy"], METRICS["estimated_accuracy"]
UNDEFINED = "no cell has an estimate"


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
