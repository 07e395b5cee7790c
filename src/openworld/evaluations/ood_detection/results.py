"""The rows of OOD detection: the numbers of every detector, in how many cells it is best or blind, and the tests."""

from collections.abc import Iterator, Sequence
from math import comb

import numpy as np

from openworld.evaluations.ood_detection.facts import Detector, ShiftFacts
from openworld.evaluations.ood_detection.generated import generated_rows
from openworld.evaluations.ood_detection.leads import Contender, area_test
from openworld.evaluations.ood_detection.marginal_report import marginal_rows
from openworld.evaluations.ood_detection.measurements import CELLS, COMMON, detector_rows, further_rows
from openworld.report.shift_axes import AXES
from openworld.results import Comparison, Metric, Result, Results, RunFolder, Value, correct_for_many
from openworld.results.standing import CHANCE, SAME_DIGITS

_COUNTS = {"best_cells": "best in", "blind_cells": "blind in", "cells_below_chance": "below chance in"}
COUNTS = {key: Metric(key, title, "count", 0, 0, (0.0, None)) for key, title in _COUNTS.items()}
"""In how many cells a detector has the largest AUROC, is not shown to be above chance, or is shown to be below it."""


def read_results(run: RunFolder) -> tuple[Results, ShiftFacts]:
    """Return all rows of a run, and what its records have in common; raises as `ShiftFacts.read` does."""
    facts = ShiftFacts.read(run)
    return results_of(facts), facts


def results_of(facts: ShiftFacts) -> Results:
    """Return all rows of what records have in common."""
    measured = [row for detector in facts.detectors for row in detector_rows(facts, detector)]
    rows = [row for row in measured if isinstance(row, Result)]
    rows += [*_cell_counts(Results("ood-detection", tuple(rows)), facts), *further_rows(facts)]
    rows += [row for detector in facts.detectors for row in generated_rows(facts, detector)]
    rows += marginal_rows(facts)
    best, *others = _ranked(facts) or [None]
    pairs = (area_test(Contender(facts, best), Contender(facts, other)) for other in others)
    leads = correct_for_many(pairs, among=comb(len(others) + 1, 2))
    slopes = _families([row for row in measured if isinstance(row, Comparison)])
    return Results("ood-detection", tuple(rows), (*slopes, *leads))


def areas_of_cells(results: Results, facts: ShiftFacts) -> dict[str, list[Result]]:
    """Return the AUROCs of every detector in the cells, row by row, as the run counts the pool."""
    areas: dict[str, list[Result]] = {}
    for row in results.where(metric="auroc", id_classes=facts.counting):
        if "covariate_level" in row.where:
            areas.setdefault(row.entity, []).append(row)
    return areas


def is_blind(area: Value) -> bool:
    """Whether a detector does not significantly tell the images of a cell from in-distribution ones.

    That is: the interval over images reaches down to chance, or there is none and the AUROC is not above it.
    """
    return area.value is not None and not _end(area, "low") > CHANCE


def is_below_chance(area: Value) -> bool:
    """Whether a detector takes the images of a cell for more in-distribution than those that are."""
    return area.value is not None and _end(area, "high") < CHANCE


def _end(area: Value, end: str) -> float:
    return getattr(area.over("images"), end, area.value)


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


def _ranked(facts: ShiftFacts) -> list[Detector]:
    """The detectors that have an AUROC against the whole pool, the largest first."""
    means = {}
    for detector in facts.detectors:
        areas = Contender(facts, detector).areas.values()
        if None not in areas:
            means[detector] = round(float(np.mean([*areas])), SAME_DIGITS)
    return sorted(means, key=lambda detector: -means[detector])


def _families(tests: Sequence[Comparison]) -> Iterator[Comparison]:
    """The slopes along each axis, corrected together; on common cells, unless nobody has a slope there."""
    for axis in AXES:
        by_cells = {cells: [test for test in tests if test.where == test.where | {"axis": axis, "cells": cells}]
                    for cells in CELLS}  # fmt: skip
        common = any(test.difference is not None for test in by_cells[COMMON])
        yield from correct_for_many(by_cells[COMMON] if common else by_cells[next(iter(CELLS))])
