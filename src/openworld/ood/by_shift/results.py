"""The rows of OOD detection: units joined over seeds, in how many cells a detector is best or blind, and the tests.

Detectors of one model have their joint error over images in its units. Others, of another model or run, are held
against each other image by image, from the scores that units keep; where these keep no groups nothing is known over
images. Seeds are paired where both have the same ones.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from openworld.core.errors import present
from openworld.metrics import MetricEstimate, auroc, paired_test
from openworld.metrics.estimate import Spread, combine
from openworld.ood.by_shift.errors import TABLE, UNKNOWN, Errors, errors_key, read_errors, seed_mean
from openworld.ood.by_shift.metrics import (
    AUROC,
    CELLS,
    COMMON,
    COUNTS,
    DIFFERENCE,
    KEPT,
    NO_SLOPE,
    OF_MARGINAL,
    REMOVED,
    slope_of,
)
from openworld.ood.detection_results import ModelRun, ModelUnit, tests_of_best
from openworld.ood.scored_sets import SCORE_COLUMN
from openworld.report.shift_axes import AXES, KEYS
from openworld.results import Comparison, Metric, Result, Results, RunFolder, Value, correct_for_many, join_seeds
from openworld.results.join import mean_ends
from openworld.results.standing import CHANCE, SAME_DIGITS
from openworld.runs import Record


@dataclass(frozen=True, eq=False)
class Detector:
    """A detector, with the units of its model."""

    label: str
    title: str  # the label, with the model where a run has several
    units: tuple[ModelUnit, ...]

    @property
    def sequential(self) -> bool:
        """Whether its scores depend on the order of the images."""
        return self.label in self.units[0].facts["sequential"]

    @property
    def model(self) -> str:
        """The label of its model."""
        return self.units[0].model

    @property
    def areas(self) -> dict[int, float | None]:
        """AUROC against the whole pool by seed."""
        return {unit.facts["seed"]: unit.rows.value(self.label, AUROC.key).value for unit in self.units}

    def spreads(self, metric: Metric, where: Mapping[str, Any], other: str = "") -> list[Spread]:
        """Return the errors over images, by seed, of its number or its lead over `other`; () where units know none."""
        key, contrast = errors_key(metric, where), {self.label: 1} | ({other: -1} if other else {})
        joint = [unit.errors[key] for unit in self.units if key in unit.errors]
        return [each.error(contrast) for each in joint] if len(joint) == len(self.units) else []


@dataclass(frozen=True, eq=False)
class DetectionRun(ModelRun):
    """The units of a run; of scores that came without a model the spec is `least` and `id_kept` alone."""

    @staticmethod
    def errors_of(record: Record) -> Errors:
        return read_errors(record.table(TABLE))

    @property
    def counting(self) -> str:
        """What becomes of the pool's images of in-distribution classes."""
        return KEPT if self.spec["id_kept"] else REMOVED

    @property
    def has_models(self) -> bool:
        """Whether the scores came with the models that gave them."""
        return "sources" in self.spec

    @cached_property
    def detectors(self) -> tuple[Detector, ...]:
        return tuple(
            Detector(label, self.title(model, label), units)
            for model, units in self.models.items()
            for label in units[0].facts["detectors"]
        )

    @cached_property
    def counts(self) -> np.ndarray:
        """int64[R, C], images of every cell as the run counts them."""
        rows = self.units[0].rows.where(entity="", metric="images", id_classes=self.counting)
        counts = {tuple(row.where[key] for key in KEYS): row.value.value for row in rows if KEYS[0] in row.where}
        return np.reshape([*counts.values()], 1 + np.max([*counts], axis=0))

    @property
    def present(self) -> np.ndarray:
        """bool[R, C], cells that are not N/A."""
        return self.counts >= self.spec["least"]

    def size(self, **where: str) -> int:
        """How many images there are of a subset, {"images": ...}, or of a side."""
        return int(present(self.units[0].rows.value("", "images", **where).value, "a count of images"))

    def areas_of_cells(self, results: Results) -> dict[str, list[Result]]:
        """Return the AUROCs of every detector in the cells, row by row, as the run counts the pool."""
        areas: dict[str, list[Result]] = {}
        for row in results.where(metric="auroc", id_classes=self.counting):
            if KEYS[0] in row.where:
                areas.setdefault(row.entity, []).append(row)
        return areas


def read_results(run: RunFolder) -> tuple[Results, DetectionRun]:
    """Return all rows of a run, and its units; raises as `DetectionRun.read` and `join_seeds` do."""
    units = DetectionRun.read(run)
    return results_of(units), units


def results_of(run: DetectionRun) -> Results:
    """Return all rows of units, and the tests."""
    units = [[row for row in rows if row.metric not in OF_MARGINAL] for rows in run.titled_rows()]
    cells = (row for unit in units for row in unit if row.metric == AUROC and KEYS[0] in row.where)
    titled = {each.title: each for each in run.detectors}
    rows = [_with_errors(row, titled.get(row.entity)) for row in join_seeds(units, mean_ends(cells))]
    areas = run.areas_of_cells(Results("ood-detection", tuple(rows)))
    rows += [*_cell_counts(areas), *_model_differences(run, areas)]
    for first, *_ in run.models.values():  # marginal images are those of one seed
        rows += (replace(row, seeds=(), per_seed=()) for row in first.rows if row.metric in OF_MARGINAL)
    results = Results("ood-detection", tuple(rows))
    # The detector with the largest AUROC against the whole pool against every other one.
    whole = {each: results.value(each.title, AUROC.key).value for each in run.detectors}
    leads = tests_of_best(whole, area_test)
    return replace(results, comparisons=(*_slope_tests(results, run), *leads))


def is_blind(area: Value) -> bool:
    """Whether a detector does not significantly tell the images of a cell from in-distribution ones."""
    # That is: the interval over images reaches down to chance, or there is none and the AUROC is not above it.
    return area.value is not None and not getattr(area.over("images"), "low", area.value) > CHANCE


def _with_errors(row: Result, detector: Detector | None) -> Result:
    """A mean over seeds, with its interval over images too where units know its error; of a cell, over images alone."""
    if KEYS[0] in row.where:
        over = row.value.over("images")
        return replace(row, value=Value(row.value.value, (over,) if over else (), row.value.reason))
    errors = detector.spreads(row.metric, row.where) if detector and len(row.seeds) > 1 else []
    if not errors:
        return row
    return replace(row, value=seed_mean(row.per_seed, row.metric, errors, row.value.reason)[0])


def _cell_counts(areas: Mapping[str, list[Result]]) -> Iterator[Result]:
    """Yield in how many cells each detector is the best, blind, or below chance; a tie counts for all of them."""
    values = [[-np.inf if row.value.value is None else row.value.value for row in rows] for rows in areas.values()]
    values = np.round(values, SAME_DIGITS)
    best = (values == values.max(axis=0)) & np.isfinite(values)
    for (name, rows), wins in zip(areas.items(), best, strict=True):
        highs = [getattr(row.value.over("images"), "high", row.value.value) for row in rows]
        below = sum(high is not None and high < CHANCE for high in highs)
        counts = (wins.sum(), sum(is_blind(row.value) for row in rows), below)
        for metric, count in zip(COUNTS.values(), counts, strict=True):
            yield Result(name, metric, Value(int(count)))


def _model_differences(run: DetectionRun, areas: Mapping[str, list[Result]]) -> Iterator[Result]:
    """Yield each other model's AUROC minus the first one's in every cell, of detectors that both have."""
    model = next(iter(run.models))
    first = {each.label: each.title for each in run.detectors if each.model == model}
    for each in run.detectors:
        if each.model == model or each.label not in first:
            continue
        for old, new in zip(areas[first[each.label]], areas[each.title], strict=True):
            value = Value(None, reason=old.value.reason or new.value.reason or "it is not defined")
            if old.value.value is not None and new.value.value is not None:
                value = Value(new.value.value - old.value.value)
            yield Result(f"{each.label}: {each.model} − {model}", DIFFERENCE, value, old.where)


def _slope_tests(results: Results, run: DetectionRun) -> Iterator[Comparison]:
    """The slopes along each axis, corrected together; on common cells, unless nobody has a slope there."""
    for axis in AXES:
        tests: dict[str, list[Comparison]] = {}
        for cells in CELLS:
            place = {"id_classes": run.counting, "cells": cells, "axis": axis}
            for detector in run.detectors:
                row = results.result(detector.title, slope_of(AUROC).key, **place)
                slope, (_, p) = row.value, seed_mean(row.per_seed, row.metric, detector.spreads(row.metric, place))
                reason = slope.reason or ("its error is not known" if p is None else "")
                test = Comparison(detector.title, NO_SLOPE, row.metric, slope.value, p, reason, slope.over(), place)
                tests.setdefault(cells, []).append(test)
        common = any(test.difference is not None for test in tests[COMMON])
        yield from correct_for_many(tests[COMMON if common else CELLS[0]])


def area_test(detector: Detector, other: Detector) -> Comparison:
    """AUROC of the one minus that of the other against the whole pool, not corrected yet."""
    value, p = difference(detector, other)
    reason = "its error is not known" if p is None else ""
    return Comparison(detector.title, other.title, AUROC, value.value, p, reason, value.over())


def difference(detector: Detector, other: Detector) -> tuple[Value, float | None]:
    """AUROC of the one minus that of the other, mean over the seeds, and its p-value."""
    areas = detector.areas, other.areas
    first, second = ({seed: area for seed, area in each.items() if area is not None} for each in areas)
    if len(first) < len(areas[0]) or len(second) < len(areas[1]):
        return seed_mean([None], DIFFERENCE)
    if first.keys() != second.keys():
        if min(len(first), len(second)) > 1:
            return Value(float(np.mean([*first.values()]) - np.mean([*second.values()]))), None
        # What is not trained has a single seed; those of the other side vary alone.
        values = np.subtract.outer([*first.values()], [*second.values()]).ravel().tolist()
        return seed_mean(values, DIFFERENCE, [image_error(detector, other)])
    values = [first[seed] - second[seed] for seed in first]
    if detector.units is other.units:
        return seed_mean(values, DIFFERENCE, detector.spreads(AUROC, {}, other.label))
    return seed_mean(values, DIFFERENCE, [image_error(detector, other)] * len(values))


def image_error(detector: Detector, other: Detector) -> Spread:
    """The error of the difference over images, given the seeds; none where records keep no groups."""
    pair = _seed_estimate(detector), _seed_estimate(other)
    if None in pair:
        return UNKNOWN
    test = paired_test(*pair)
    return Spread(test.standard_error, test.degrees_of_freedom, test.reason)


def _seed_estimate(detector: Detector) -> MetricEstimate | None:
    """The mean over the seeds of the AUROC against the whole pool, from the scores; None where records lack them."""
    each = []
    for unit in detector.units:
        if unit.stored is None or not {"images", "test"} <= set(unit.stored.tables):
            return None
        pool, test, name = unit.stored.table("images"), unit.stored.table("test"), SCORE_COLUMN + detector.label
        if "group" not in pool:
            return None
        counted = np.ones(len(pool["known"]), bool) if unit.facts["id_kept"] else ~pool["known"].astype(bool)
        groups = {"in_groups": test["group"], "out_groups": pool["group"][counted]}
        each.append(auroc(test[name], pool[name][counted], **groups))
    if any(estimate.value is None for estimate in each):
        return None
    share = 1 / len(each)
    mean = float(np.mean([estimate.value for estimate in each]))
    return MetricEstimate(mean, None, lambda: combine([estimate.influence for estimate in each], [share] * len(each)))
