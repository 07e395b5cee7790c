"""The results of recognition by shift: the rows of its units joined over seeds, tests, and the errors of estimates.

The interval over images of a mean over seeds does not follow from those of the seeds: it is made anew from the images
that the records keep. Against all new images every learner is tested against every other; at every level against the
baseline, on the same images, corrected over all learners and levels of an axis and kind of base images. Errors of
estimates are of the mean over the seeds: the estimated minus the true number of a place is averaged over the seeds
first, and its absolute value over places, which count alike, and over learners.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from openworld.evaluations.recognition_metrics import Table
from openworld.evaluations.rows import rows_of_run
from openworld.metrics import OpenworldAUC, SeedAverage, average, openworld_auc, paired_test
from openworld.results import METRICS, Metric, Result, Results, RunFolder, join_seeds
from openworld.results.comparison import Comparison, comparison_of, correct_for_many
from openworld.results.join import mean
from openworld.results.value import Interval, Value, interval_of

NEAR, SAME = "training appearance", "appearance of the new images"
"""The place "view": in which appearance base images are shown."""

BY_LEVEL = ((NEAR, "semantic"), (NEAR, "covariate"), (SAME, "covariate"))
"""Of which kind of base images, and along which axis, there are numbers by level."""

PARTS = {
    "openworld_auc": "OpenworldAUC",
    "base_accuracy": "base accuracy",
    "new_accuracy": "new accuracy",
    "auroc": "AUROC",
}
"""A quantity -> what tables call it."""

OPEN_WORLD = {**PARTS, "new_share": "share of new"}
"""What is estimated of a level of appearance without labels, and what tables call it."""

AUC = METRICS["openworld_auc"]
LEVEL_START = Metric("level_start", "level starts at degree", "fraction", 2, 0, (0.0, 2.0))
ALARM = Metric("alarm", "alarm", better=0)
"""Share of the seeds in which the two signs say that no estimate is to be trusted."""

NEW, BASE, POOL = "new images", "base images of the pool", "images of the pool"
"""What numbers of images in levels and cells are of; the last are base and new ones together."""

VALIDATION, CELLS = "validation images", "mean of the cells"  # the place "images" of accuracies

NO_ESTIMATE = "the cell is N/A, or nothing can be said of it"


def estimated(part: str) -> Metric:
    return Metric(f"estimated_{part}", OPEN_WORLD[part], better=0)


def off_by(part: str, bias: bool = False) -> Metric:
    """Return the metric of the mean absolute error of a part, or of its bias."""
    if bias:
        return Metric(f"{part}_bias", f"{OPEN_WORLD[part]}, bias", "points", better=0, bounds=(-1.0, 1.0))
    return Metric(f"{part}_error", OPEN_WORLD[part], better=-1)


def cell(row: int, column: int) -> dict[str, int]:
    return {"covariate_level": row, "semantic_level": column}


ARRAY_AXES = {"semantic": -1, "covariate": -2}
"""An axis of shift -> that of an array [..., covariate level, semantic level]."""

TRUE, ESTIMATED = METRICS["accuracy"], METRICS["estimated_accuracy"]
UNDEFINED = "no cell has an estimate"


def baseline_of(run: RunFolder) -> str:
    """Return the learner that tunes nothing; "" where there is none."""
    return next((record.metrics["learner"] for record in run.records if not record.metrics["tuned_parameters"]), "")


def read_results(run: RunFolder) -> Results:
    learners = [*dict.fromkeys(record.metrics["learner"] for record in run.records)]
    images: dict[str, list[Sequence[Table]]] = {name: [] for name in learners}
    for record in sorted(run.records, key=lambda record: record.metrics["seed"]):
        tables = (record.table(name) for name in ("base", "pool"))
        arrays = [{key: np.asarray(column) for key, column in table.items()} for table in tables]
        images[record.metrics["learner"]].append(arrays)
    areas = _Areas(images)

    rows = []
    for row in join_seeds(rows_of_run(run), areas.over_images):
        if row.metric == ALARM:  # the share of the seeds where it is known whether the alarm stands
            known = [value for value in row.per_seed if value is not None]
            row = Result(row.entity, ALARM, Value(mean(known), reason="" if known else row.value.reason), row.where)
        rows.append(row)
    known = Results("recognition-by-shift", tuple(rows))
    errors = (*accuracy_errors(known), *open_world_errors(known))

    here = {"view": NEAR}
    tests = [*_tests(areas, combinations(learners, 2), [here])]
    baseline = baseline_of(run)
    pairs = [(name, baseline) for name in learners if name != baseline] if baseline else []
    for view, axis in BY_LEVEL:
        levels = known.where(entity=learners[0], metric=AUC.key, view=view, axis=axis)
        tests += _tests(areas, pairs, [row.where for row in levels if row.value.value is not None])
    return Results("recognition-by-shift", (*rows, *errors), tuple(tests))


def _tests(areas: "_Areas", pairs, places: Sequence[Mapping]) -> Sequence[Comparison]:
    """Pairs of learners in OpenworldAUC at some places, corrected together."""
    return correct_for_many(
        comparison_of(name, other, AUC, paired_test(areas.at(name, where), areas.at(other, where)), where=where)
        for name, other in pairs
        for where in places
    )


def _area(base: Table, pool: Table, where: Mapping) -> OpenworldAUC:
    """The new images of a place against all base test images, or against base images of the pool there."""
    new = pool["side"] == "new"
    members = pool[f"{where['axis']}_level"] == where["level"] if "axis" in where else np.ones_like(new)
    chosen = {name: pool[name][members & new] for name in ("score", "correct", "group")}
    if where["view"] == SAME:
        beside = {name: pool[name][members & ~new] for name in chosen}
    else:
        beside = base
        # Groups are numbered in each image set: without moving them, strangers would count as one group.
        chosen["group"] = chosen["group"] + int(beside["group"].max(initial=-1)) + 1
    groups = {"base_groups": beside["group"], "new_groups": chosen["group"]}
    return openworld_auc(beside["score"], beside["correct"], chosen["score"], chosen["correct"], **groups)


@dataclass(frozen=True, eq=False)
class _Areas:
    """OpenworldAUC of learners from their images, seeds in increasing order: means over the seeds."""

    images: Mapping[str, Sequence[Sequence[Table]]]  # by learner and seed the base test images, and the pool's
    made: dict[tuple, SeedAverage] = field(default_factory=dict)

    def at(self, learner: str, where: Mapping) -> SeedAverage:
        """The mean over the seeds at a place, made once."""
        key = learner, tuple(where.items())
        if key not in self.made:
            self.made[key] = average([_area(*tables, where) for tables in self.images[learner]])
        return self.made[key]

    def over_images(self, row: Result) -> tuple[Interval, ...] | None:
        """The intervals over images of a learner's row at a level or overall; None for others."""
        if row.metric.key not in PARTS or not row.where.keys() <= {"view", "axis", "level"}:
            return None
        if row.value.value is None:
            return ()
        areas = self.at(row.entity, row.where)
        n = areas.results[0].n_base + areas.results[0].n_new
        return interval_of(areas.estimate(row.metric.key).interval(), "images", n)


def accuracy_errors(rows: Results) -> Iterator[Result]:
    """Yield true and estimated accuracy by level, and how far estimators are off, by learner, level and over all."""
    learners = list(map(str, rows.places("learner")))
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
            off = [_float(row.value.value) - _true(rows, part, row) for row in said]
            yield Result(estimator, off_by(part), _mean(np.abs(np.array(off))), {"view": SAME})
            yield Result(estimator, off_by(part, bias=True), _mean(np.array(off)), {"view": SAME})


def _true(rows: Results, part: str, estimate: Result) -> float:
    """What is true of the base and new images of an estimate's level; NaN where there are too few."""
    learner, place = str(estimate.where["learner"]), {"axis": "covariate", "level": estimate.where["level"]}
    if part != "new_share":
        return _float(rows.value(learner, part, view=SAME, **place).value)
    if rows.value(learner, AUC.key, view=SAME, **place).value is None:
        return np.nan
    new, base = (_float(rows.value(side, "images", **place).value) for side in (NEW, BASE))
    return new / (base + new)


def _cells(rows: Results, entity: str, metric, **where) -> np.ndarray:
    """float[R, C], the numbers of an entity by cell, NaN where a cell is N/A."""
    cells = [row for row in rows.where(entity=entity, metric=metric.key, **where) if "semantic_level" in row.where]
    places = [(int(row.where["covariate_level"]), int(row.where["semantic_level"])) for row in cells]
    table = np.full(np.max(places, axis=0) + 1, np.nan)
    for place, row in zip(places, cells, strict=True):
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
    finite = values[np.isfinite(values)]
    return Value(float(finite.mean()) if finite.size else None, reason="" if finite.size else UNDEFINED)


def _float(value: float | None) -> float:
    return np.nan if value is None else value
