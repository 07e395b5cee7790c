"""The results of OOD detection: the numbers of every detector, their tests, and what is read from them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from openworld.evaluations.ood_detection.facts import Detector, ShiftFacts
from openworld.evaluations.ood_detection.generated import generated_rows
from openworld.evaluations.ood_detection.leads import Contender, area_test
from openworld.evaluations.ood_detection.measurements import (
    CELLS,
    COMMON,
    NO_SLOPE,
    detector_rows,
    further_rows,
)
from openworld.evaluations.ood_detection.record import SUBSETS
from openworld.report.shift_axes import AXES
from openworld.results import Comparison, Metric, Result, Results, RunFolder, Value, correct_for_many
from openworld.results.standing import SAME_DIGITS

CHANCE = 0.5
POINT = 0.01

_COUNTS = {"best_cells": "best in", "blind_cells": "blind in", "cells_below_chance": "below chance in"}
COUNTS = {key: Metric(key, title, "count", 0, 0, (0.0, None)) for key, title in _COUNTS.items()}

Place = tuple[int, int]
"""A covariate and a semantic level."""


@dataclass(frozen=True, eq=False)
class DetectionResults:
    """The results of a run by detector.

    Args:
        facts: what the records have in common.
        rows: every number, and the tests of slopes and of the best detector.
    """

    facts: ShiftFacts
    rows: Results

    @classmethod
    def read(cls, run: RunFolder) -> "DetectionResults":
        """All results of a run; raises as `ShiftFacts.read` does."""
        return cls.of(ShiftFacts.read(run))

    @classmethod
    def of(cls, facts: ShiftFacts) -> "DetectionResults":
        """All results of what records have in common."""
        measured = [row for detector in facts.detectors for row in detector_rows(facts, detector)]
        rows = [row for row in measured if isinstance(row, Result)]
        results = cls(facts, Results("ood-detection", tuple(rows)))
        rows += [*results._cell_counts(), *further_rows(facts)]
        rows += [row for detector in facts.detectors for row in generated_rows(facts, detector)]
        tests = _families([row for row in measured if isinstance(row, Comparison)])
        best, *others = results.ranked() or [None]
        pairs = (area_test(Contender(facts, best), Contender(facts, other)) for other in others)
        leads = correct_for_many(pairs, among=comb(len(others) + 1, 2))
        return cls(facts, Results("ood-detection", tuple(rows), (*tests, *leads)))

    def value(self, detector: Detector, metric: str, **where) -> Value:
        """A number of a detector."""
        return self.rows.value(detector.label, metric, model=detector.model, **where)

    def whole_pool(self, detector: Detector, subset: str = "") -> Value:
        """The AUROC against the whole pool as the run counts it, or against another of `SUBSETS`."""
        return self.value(detector, "auroc", images=SUBSETS[subset or self.facts.whole])

    def cells(self, detector: Detector, metric: str = "auroc") -> dict[Place, Value]:
        """A metric in every cell; None where it is N/A."""
        counting = self.facts.counting
        return {
            (row, column): self.value(detector, metric, id_classes=counting, covariate_level=row, semantic_level=column)
            for row, column in np.ndindex(self.facts.shape)
        }

    def curve(self, detector: Detector, axis: str, cells: str, metric: str = "auroc") -> list[Result]:
        """A metric at every level of an axis."""
        where = {"model": detector.model, "id_classes": self.facts.counting, "axis": axis, "cells": cells}
        levels = range(self.facts.shape[axis == "semantic"])
        return [self.rows.result(detector.label, metric, level=level, **where) for level in levels]

    def trend(self, detector: Detector, axis: str, cells: str, key: str = "auroc_slope") -> Value:
        """The slope of a metric along an axis, or its correlation with the level."""
        return self.value(detector, key, id_classes=self.facts.counting, axis=axis, cells=cells)

    def slope_tests(self, axis: str) -> list[Comparison]:
        """The tests of all slopes along an axis, in the order of detectors: on common cells where there are any."""
        return [test for test in self.rows.comparisons if test.other == NO_SLOPE and test.where["axis"] == axis]

    def ranked(self) -> list[Detector]:
        """Return the detectors that have an AUROC against the whole pool, the largest first."""
        values = {detector: self.whole_pool(detector).value for detector in self.facts.detectors}
        known = [detector for detector in values if values[detector] is not None]
        return sorted(known, key=lambda detector: -round(values[detector], SAME_DIGITS))

    def best_cells(self) -> dict[Detector, np.ndarray]:
        """bool[R, C], the cells in which each detector has the largest AUROC; a tie counts for all of them."""
        values = {detector: self.cells(detector).values() for detector in self.facts.detectors}
        areas = [[-np.inf if area.value is None else area.value for area in row] for row in values.values()]
        areas = np.array(areas).round(12).reshape(-1, *self.facts.shape)
        largest = np.where(self.facts.present(), areas.max(axis=0), np.inf)
        return {detector: cells == largest for detector, cells in zip(values, areas, strict=True)}

    def _cell_counts(self) -> Iterator[Result]:
        """Yield in how many cells each detector is the best, blind, or below chance."""
        best = self.best_cells()
        for detector in self.facts.detectors:
            areas = self.cells(detector).values()
            counts = (best[detector].sum(), sum(map(is_blind, areas)), sum(map(is_below_chance, areas)))
            for metric, count in zip(COUNTS.values(), counts, strict=True):
                yield Result(detector.label, metric, Value(int(count)), {"model": detector.model})


def is_blind(area: Value) -> bool:
    """Whether a detector does not significantly tell the images of a cell from in-distribution ones.

    That is: the interval over images reaches down to chance, or there is none and the AUROC is not above it.
    """
    return area.value is not None and not _end(area, "low") > CHANCE


def is_below_chance(area: Value) -> bool:
    """Whether a detector takes the images of a cell for more in-distribution than those that are."""
    return area.value is not None and _end(area, "high") < CHANCE


def is_mixed(everything: Value, common: Value) -> bool:
    """Whether the mix of cells makes a slope: it turns, or changes by a point per level, on the common levels."""
    first, second = everything.value, common.value
    if None in (first, second):
        return False
    apart = abs(first - second)
    return apart >= POINT or (first * second < 0 and apart >= POINT / 2)


def _end(area: Value, end: str) -> float:
    return getattr(area.over("images"), end, area.value)


def _families(tests: Sequence[Comparison]) -> Iterator[Comparison]:
    """The slopes along each axis, corrected together; on common cells, unless nobody has a slope there."""
    for axis in AXES:
        by_cells = {cells: [test for test in tests if test.where == test.where | {"axis": axis, "cells": cells}]
                    for cells in CELLS}  # fmt: skip
        common = any(test.difference is not None for test in by_cells[COMMON])
        yield from correct_for_many(by_cells[COMMON] if common else by_cells[next(iter(CELLS))])
