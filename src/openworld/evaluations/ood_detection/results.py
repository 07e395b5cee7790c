"""The rows of OOD detection: units joined over seeds, in how many cells a detector is best or blind, and the tests."""

from collections.abc import Iterator
from dataclasses import replace
from math import comb

import numpy as np

from openworld.evaluations.ood_detection.errors import errors_key, seed_mean
from openworld.evaluations.ood_detection.facts import DetectionUnit, Detector, ShiftFacts
from openworld.evaluations.ood_detection.leads import Contender, area_test
from openworld.evaluations.ood_detection.metrics import AUROC, CELLS, COMMON, CONFIDENCE, COUNTS, NO_SLOPE, slope_of
from openworld.evaluations.ood_detection.record import DetectionRecord
from openworld.metrics.estimate import Spread
from openworld.report.shift_axes import AXES
from openworld.results import METRICS, Comparison, Result, Results, RunFolder, Value, correct_for_many, join_seeds
from openworld.results.join import mean_ends
from openworld.results.standing import CHANCE, SAME_DIGITS
from openworld.runs import Record


def read_results(run: RunFolder) -> tuple[Results, ShiftFacts]:
    """Return all rows of a run, and its units; raises as `ShiftFacts.read` and `join_seeds` do."""
    facts = ShiftFacts.read(run)
    return results_of(facts), facts


def results_of(facts: ShiftFacts) -> Results:
    """Return all rows of units, and the tests."""
    units = [[_titled(row, unit, facts) for row in unit.rows] for unit in facts.units]
    cells = (row for unit in units for row in unit if row.metric == AUROC and "covariate_level" in row.where)
    detectors = {each.title: each for each in facts.detectors}
    joined = [_with_errors(row, detectors, facts) for row in join_seeds(units, mean_ends(cells))]
    results = Results("ood-detection", tuple(joined))
    rows = (*joined, *_cell_counts(results, facts), *_marginal_rows(facts))
    return Results("ood-detection", rows, (*_slope_tests(results, facts), *_lead_tests(results, facts)))


def areas_of_cells(results: Results, facts: ShiftFacts) -> dict[str, list[Result]]:
    """Return the AUROCs of every detector in the cells, row by row, as the run counts the pool."""
    areas: dict[str, list[Result]] = {}
    for row in results.where(metric="auroc", id_classes=facts.counting):
        if "covariate_level" in row.where:
            areas.setdefault(row.entity, []).append(row)
    return areas


def is_blind(area: Value) -> bool:
    """Whether a detector does not significantly tell the images of a cell from in-distribution ones."""
    # That is: the interval over images reaches down to chance, or there is none and the AUROC is not above it.
    return area.value is not None and not _end(area, "low") > CHANCE


def is_below_chance(area: Value) -> bool:
    """Whether a detector takes the images of a cell for more in-distribution than those that are."""
    return area.value is not None and _end(area, "high") < CHANCE


def _end(area: Value, end: str) -> float:
    return getattr(area.over("images"), end, area.value)


def first_of_models(facts: ShiftFacts) -> Iterator[tuple[DetectionRecord, Record]]:
    """Yield of each model the first unit that has marginal images."""
    for model in facts.models:
        units = [unit for unit in facts.of(model) if unit.record.marginal is not None and unit.record.marginal.images]
        for unit in units[:1]:
            yield unit.record, unit.stored


def _titled(row: Result, unit: DetectionUnit, facts: ShiftFacts) -> Result:
    """A row of a unit, its detector with the model where the run has several."""
    if not row.entity or row.metric == METRICS["accuracy"]:
        return row
    return replace(row, entity=Detector(row.entity, unit.record.model, len(facts.models) > 1).title)


def _spreads(row: Result, detector: Detector, facts: ShiftFacts) -> list[Spread]:
    """The errors of a row over images, seed by seed; () where units know none."""
    key = errors_key(row.metric, row.where)
    joint = [unit.errors.get(key) for unit in facts.of(detector.model)]
    return [] if None in joint else [each.error({detector.label: 1}) for each in joint]


def _with_errors(row: Result, detectors: dict[str, Detector], facts: ShiftFacts) -> Result:
    """A mean over seeds, with its interval over images too where units know its error; of a cell, over images alone."""
    if "covariate_level" in row.where:
        over = row.value.over("images")
        return replace(row, value=Value(row.value.value, (over,) if over else (), row.value.reason))
    errors = _spreads(row, detectors[row.entity], facts) if len(row.seeds) > 1 and row.entity in detectors else []
    if not errors:
        return row
    return replace(row, value=seed_mean(row.per_seed, row.metric, errors, row.value.reason)[0])


def _cell_counts(results: Results, facts: ShiftFacts) -> Iterator[Result]:
    """Yield in how many cells each detector is the best, blind, or below chance; a tie counts for all of them."""
    areas = {name: [row.value for row in rows] for name, rows in areas_of_cells(results, facts).items()}
    values = np.array([[-np.inf if area.value is None else area.value for area in own] for own in areas.values()])
    values = values.round(SAME_DIGITS)
    best = (values == values.max(axis=0)) & np.isfinite(values)
    for (name, own), wins in zip(areas.items(), best, strict=True):
        counts = (wins.sum(), sum(map(is_blind, own)), sum(map(is_below_chance, own)))
        for metric, count in zip(COUNTS.values(), counts, strict=True):
            yield Result(name, metric, Value(int(count)))


def _slope_tests(results: Results, facts: ShiftFacts) -> Iterator[Comparison]:
    """The slopes along each axis, corrected together; on common cells, unless nobody has a slope there."""
    for axis in AXES:
        tests = {}
        for cells in CELLS:
            place = {"id_classes": facts.counting, "cells": cells, "axis": axis}
            tests[cells] = [_slope_test(results, detector, facts, place) for detector in facts.detectors]
        common = any(test.difference is not None for test in tests[COMMON])
        yield from correct_for_many(tests[COMMON if common else CELLS[0]])


def _slope_test(results: Results, detector: Detector, facts: ShiftFacts, where: dict[str, str]) -> Comparison:
    row = results.result(detector.title, slope_of(AUROC).key, **where)
    _, p = seed_mean(row.per_seed, row.metric, _spreads(row, detector, facts))
    reason = row.value.reason or ("its error is not known" if p is None else "")
    return Comparison(detector.title, NO_SLOPE, row.metric, row.value.value, p, reason, row.value.over(), where)


def _lead_tests(results: Results, facts: ShiftFacts) -> tuple[Comparison, ...]:
    """The detector with the largest AUROC against the whole pool against every other one."""
    areas = {each: results.value(each.title, AUROC.key).value for each in facts.detectors}
    ranked = [each for each, area in areas.items() if area is not None]
    if not ranked:
        return ()
    best, *others = sorted(ranked, key=lambda each: -round(areas[each], SAME_DIGITS))
    pairs = (area_test(Contender(facts, best), Contender(facts, other)) for other in others)
    return correct_for_many(pairs, among=comb(len(ranked), 2))


def _marginal_rows(facts: ShiftFacts) -> Iterator[Result]:
    """Yield how sure each model is of the images that it takes for known ones, of its first seed."""
    for record, _ in first_of_models(facts):
        for image in record.marginal.images:
            place = {"class": image.label, "taken_for": image.prediction, "image": image.id}
            place["taken_for_name"] = f"taken for {image.prediction}"
            yield Result(record.model, CONFIDENCE, Value(image.confidence), place)
