"""The results of OOD detection: every detector over the pool, its cells and its levels, its slopes, and their tests.

A number of several seeds is their mean, with an interval over seeds and images; of one seed it has the interval over
images (`errors`). A curve is the plain mean over the present cells of the other axis (IS-OOD, Tables 1 and 2), or
over the levels that all of its levels share ("common"). Where records have no error over images, as of metrics other
than AUROC, slopes have that over the seeds or, of one seed, of the straight line through the levels.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from openworld.evaluations.ood_detection.errors import SeedMean, joint_error, line_error, seed_mean
from openworld.evaluations.ood_detection.facts import KEPT, REMOVED, Detector, ShiftFacts
from openworld.evaluations.ood_detection.leads import lead_tests
from openworld.evaluations.ood_detection.record import SUBSETS, Area, CellRecord, PoolRecord
from openworld.metrics import ShiftTrend, shift_trend
from openworld.report.shift_axes import AXES
from openworld.results import (
    METRICS,
    Comparison,
    Metric,
    Result,
    Results,
    RunFolder,
    Value,
    correct_for_many,
    interval_of,
    mean,
    over_seeds,
)

CHANCE = 0.5
POINT = 0.01
AUROC = METRICS["auroc"]
CELL_METRICS = {
    "auroc": AUROC,
    "fpr": METRICS["fpr_in_positive"],
    "fpr_openood": METRICS["fpr_out_positive"],
    "aupr_in": METRICS["aupr_in"],
    "aupr_out": METRICS["aupr_out"],
    "aupr_at_prevalence": Metric("aupr_in_at_half", "AUPR, in positive, half in"),
}
"""What a record has of a detector in a cell -> the metric that it is."""

CELLS = {"all cells": "all", "common cells": "common"}
"""Over which cells a curve is, all that are present or those of common levels alone -> how records call them."""
ALL, COMMON = CELLS

NO_SLOPE = "no slope"
"""What a slope is tested against."""

_COUNTS = {
    "best_cells": "best in",
    "blind_cells": "blind in",
    "cells_below_chance": "below chance in",
    "present_cells": "cells",
}
COUNTS = {key: Metric(key, title, "count", 0, 0, (0.0, None)) for key, title in _COUNTS.items()}
DEGREE = Metric("degree_from", "from", "fraction", 4, 0, (0.0, 2.0))


def slope_of(metric: Metric) -> Metric:
    """The slope of a metric along an axis: its change per level."""
    return Metric(f"{metric.key}_slope", f"slope of {metric.title}", "points", 1, 0, (None, None))


def correlation_of(metric: Metric) -> Metric:
    """Pearson's correlation of a metric with the level."""
    return Metric(f"{metric.key}_correlation", f"r of {metric.title}", "difference", 2, 0, (-1.0, 1.0))


def results(run: RunFolder) -> tuple[Results, ShiftFacts]:
    """Every number of a run, and what its records have in common."""
    facts = ShiftFacts.read(run)
    found = [one for detector in facts.detectors for one in _of_detector(facts, detector)]
    rows = [one for one in found if isinstance(one, Result)]
    values = Results("ood-detection", tuple(rows))
    rows += [*_cell_counts(values, facts), *_accuracies(facts), *_pool_sizes(facts)]
    tests = _families([one for one in found if isinstance(one, Comparison)])
    return replace(values, rows=tuple(rows), comparisons=(*tests, *lead_tests(values, facts))), facts


def whole_pool(found: Results, facts: ShiftFacts, detector: Detector, subset: str = "") -> Value:
    """The AUROC against the whole pool as the run counts it, or against another of `SUBSETS`."""
    images = SUBSETS[subset or facts.whole]
    return found.value(detector.label, "auroc", model=detector.model, images=images)


def cell_values(found: Results, facts: ShiftFacts, detector: Detector) -> dict[tuple[int, int], Value]:
    """The AUROC in every cell by covariate and semantic level; None where it is N/A."""
    where = {"model": detector.model, "id_classes": facts.counting}
    return {
        (row, column): found.value(detector.label, "auroc", covariate_level=row, semantic_level=column, **where)
        for row, column in np.ndindex(facts.shape)
    }


def along(found: Results, facts: ShiftFacts, detector: Detector, axis: str, cells: str, metric: str = "auroc") -> Value:
    """The slope of a metric along an axis; with "auroc_correlation" or another metric of an axis that instead."""
    key = metric if metric.endswith(("_slope", "_correlation")) else f"{metric}_slope"
    where = {"model": detector.model, "id_classes": facts.counting, "axis": axis, "cells": cells}
    return found.value(detector.label, key, **where)


def curve(
    found: Results, facts: ShiftFacts, detector: Detector, axis: str, cells: str, metric: str = "auroc"
) -> list[Result]:
    """A metric at every level of an axis."""
    where = {"model": detector.model, "id_classes": facts.counting, "axis": axis, "cells": cells}
    levels = facts.shape[axis == "semantic"]
    return [found.result(detector.label, metric, level=level, **where) for level in range(levels)]


def is_blind(value: Value) -> bool:
    """Whether a detector does not significantly tell the images of a cell from in-distribution ones.

    That is: the interval over images reaches down to chance, or there is none and the AUROC is not above it.
    """
    return value.value is not None and not _end(value, "low") > CHANCE


def is_below_chance(value: Value) -> bool:
    """Whether a detector takes the images of a cell for more in-distribution than those that are."""
    return value.value is not None and _end(value, "high") < CHANCE


def best_cells(found: Results, facts: ShiftFacts) -> dict[Detector, np.ndarray]:
    """bool[R, C], the cells in which each detector has the largest AUROC; a tie counts for all of them."""
    values = {one: cell_values(found, facts, one) for one in facts.detectors}
    stacked = np.array(
        [[_or(cells[place].value, -np.inf) for place in np.ndindex(facts.shape)] for cells in values.values()]
    )
    stacked = stacked.round(12).reshape(-1, *facts.shape)
    largest = np.where(facts.present(), stacked.max(axis=0), np.inf)
    return {one: table == largest for one, table in zip(values, stacked, strict=True)}


def is_mixed(everything: Value, common: Value) -> bool:
    """Whether the mix of cells makes a slope: it turns, or changes by a point per level, on the common levels."""
    both = everything.value, common.value
    if None in both:
        return False
    apart = abs(both[0] - both[1])
    return apart >= POINT or (both[0] * both[1] < 0 and apart >= POINT / 2)


def slope_tests(found: Results, axis: str) -> list[Comparison]:
    """The tests of the slopes of all detectors along an axis, in their order: on common cells where there are any."""
    return [one for one in found.comparisons if one.other == NO_SLOPE and one.where["axis"] == axis]


def _of_detector(facts: ShiftFacts, detector: Detector) -> Iterator[Result | Comparison]:
    yield from _areas(facts, detector)
    for counting in (facts.counting, REMOVED if facts.counting == KEPT else KEPT):
        main = counting == facts.counting
        for name, metric in CELL_METRICS.items() if main else [("auroc", AUROC)]:
            tables = [_table(record, detector.label, name) for record in facts.counted(detector.model, counting)]
            yield from _cells(facts, detector, counting, name, metric, tables)
            yield _mean_of_cells(facts, detector, counting, metric, tables)
            for cells in CELLS:
                trends = [shift_trend(table, np.isfinite(table), common=cells == COMMON) for table in tables]
                for axis in AXES:
                    yield from _along(facts, detector, counting, (metric, axis, cells), trends)


def _areas(facts: ShiftFacts, detector: Detector) -> Iterator[Result]:
    """AUROC against the pool and its subsets."""
    records = facts.of(detector.model)
    for subset, images in SUBSETS.items():
        areas = [record.labelling.detectors[detector.label][subset] for record in records]
        values = tuple(area.value for area in areas)
        if len(areas) == 1:  # whose interval keeps inside (0, 1) by itself
            value = _value(areas[0], records[0].labelling.subsets[subset])
        else:
            errors = [joint_error(record.labelling.joint.get(subset), {detector.label: 1}) for record in records]
            value = seed_mean(values, errors).as_value(AUROC, deviation=over_seeds(values, AUROC).deviation)
        yield _result(facts, detector, AUROC, value, values, images=images)


def _value(area: Area, n: int) -> Value:
    if area.value is None:
        return Value(None, reason="it has no image of one of the two sides")
    return Value(area.value, interval_of(area.interval, "images", n))


def _table(record: PoolRecord, label: str, name: str) -> np.ndarray:
    """float64[R, C], a metric in every cell; NaN where it is N/A."""

    def number(cell: CellRecord | None) -> float:
        found = cell and getattr(cell, name)
        found = found.value if isinstance(found, Area) else found
        return np.nan if found is None else found

    return np.array([[number(cell) for cell in row] for row in record.detectors[label].cells], dtype=np.float64)


def _cells(facts, detector, counting, name, metric, tables) -> Iterator[Result]:
    """The mean over the seeds in every cell, with the interval of the AUROC over images, given the seeds.

    Its ends are averaged over the seeds. Errors of seeds on the same images go together at most fully, so the interval
    of their mean is never wider than that.
    """
    records, counts = facts.counted(detector.model, counting), facts.counts(counting)
    for row, column in np.ndindex(counts.shape):
        values = tuple(None if np.isnan(table[row, column]) else float(table[row, column]) for table in tables)
        value = Value(mean(values), reason=f"it has fewer than {facts.least} images" if None in values else "")
        if name == "auroc" and value.value is not None:
            areas = [record.detectors[detector.label].cells[row][column].auroc for record in records]
            ends = None if any(area.interval is None for area in areas) else _mean_ends(areas)
            value = replace(value, intervals=interval_of(ends, "images", int(counts[row, column])))
        where = {"id_classes": counting, "covariate_level": row, "semantic_level": column}
        yield _result(facts, detector, metric, value, values, **where)


def _mean_ends(areas: Sequence[Area]) -> tuple[float, float]:
    return tuple(float(np.mean([area.interval[end] for area in areas])) for end in (0, 1))


def _mean_of_cells(facts, detector, counting, metric, tables) -> Result:
    present = np.isfinite(tables[0])
    values = tuple(float(table[present].mean()) if present.any() else None for table in tables)
    value = over_seeds(values, metric, reason="no cell has enough images")
    return _result(facts, detector, metric, value, values, id_classes=counting, cells=ALL)


def _along(facts, detector, counting, place, trends: Sequence[ShiftTrend]) -> Iterator[Result | Comparison]:
    """The curve of a metric along an axis, its slope with the test of it, and its correlation with the level."""
    metric, axis, cells = place
    where = {"id_classes": counting, "cells": cells, "axis": axis}
    records = facts.counted(detector.model, counting) if metric is AUROC else []
    curves = [getattr(trend, f"{axis}_curve") for trend in trends]
    for level, values in enumerate(zip(*curves, strict=True)):
        errors = [record.detectors[detector.label].over_pictures for record in records]
        ends = errors[0][axis][CELLS[cells]].curve[level] if len(errors) == 1 and errors[0] else None
        value = over_seeds(values, metric, intervals=interval_of(ends, "images"), reason="it has no cell")
        yield _result(facts, detector, metric, value, values, level=level, **where)
    found = [getattr(trend, axis) for trend in trends]
    reason = found[0].reason or ""
    slopes, slope = tuple(one.slope for one in found), _slope(detector, (axis, cells), records, found, curves)
    value = slope.as_value(slope_of(metric), reason)
    yield _result(facts, detector, slope_of(metric), value, slopes, **where)
    correlations = tuple(one.correlation for one in found)
    value = over_seeds(correlations, correlation_of(metric), reason=reason)
    yield _result(facts, detector, correlation_of(metric), value, correlations, **where)
    if metric is AUROC and counting == facts.counting:
        reason = reason if slope.value is None else "its error is not known" * (slope.p is None)
        interval = slope.interval(slope_of(metric))
        place = {"model": detector.model, "axis": axis, "cells": cells}
        yield Comparison(detector.title, NO_SLOPE, slope_of(metric), slope.value, slope.p, reason, interval, place)


def _slope(detector: Detector, place, records: Sequence[PoolRecord], found, curves) -> SeedMean:
    axis, cells = place
    joint = [record.joint[axis][CELLS[cells]] if record.joint else None for record in records] or [None]
    values = [one.slope for one in found]
    if len(values) == 1 and values[0] is not None and joint == [None]:
        line = np.array(curves[0], dtype=np.float64)
        return SeedMean(values[0], line_error(line), "levels", int(np.isfinite(line).sum()))
    return seed_mean(values, [joint_error(one, {detector.label: 1}) for one in joint])


def _result(facts: ShiftFacts, detector: Detector, metric: Metric, value: Value, values: Sequence, **where) -> Result:
    place = {"model": detector.model, **where}
    return Result(detector.label, metric, value, place, facts.seeds(detector.model), tuple(values))


def _families(tests: Sequence[Comparison]) -> Iterator[Comparison]:
    """The slopes along each axis, corrected together; on common cells, unless nobody has a slope there."""
    for axis in AXES:
        kinds = [[one for one in tests if one.where["axis"] == axis and one.where["cells"] == kind] for kind in CELLS]
        everything, common = kinds
        yield from correct_for_many(common if any(one.difference is not None for one in common) else everything)


def _cell_counts(found: Results, facts: ShiftFacts) -> Iterator[Result]:
    """In how many cells a detector is the best, blind, or below chance."""
    best = best_cells(found, facts)
    for detector in facts.detectors:
        values = cell_values(found, facts, detector).values()
        counts = {
            "best_cells": best[detector].sum(),
            "blind_cells": sum(map(is_blind, values)),
            "cells_below_chance": sum(map(is_below_chance, values)),
        }
        for key, count in counts.items():
            yield Result(detector.label, COUNTS[key], Value(int(count)), {"model": detector.model})


def _accuracies(facts: ShiftFacts) -> Iterator[Result]:
    """How well the models name the in-distribution test images."""
    for model in facts.models:
        values = tuple(record.source.accuracy for record in facts.of(model))
        value = over_seeds(values, METRICS["accuracy"])
        yield Result(model, METRICS["accuracy"], value, {}, facts.seeds(model), values)


def _pool_sizes(facts: ShiftFacts) -> Iterator[Result]:
    """How many images there are in every subset, cell and level, and where levels begin."""
    for subset, size in facts.first.labelling.subsets.items():
        yield _count("images", size, images=SUBSETS[subset])
    for counting in (KEPT, REMOVED):
        counts, present = facts.counts(counting), facts.present(counting)
        for row, column in np.ndindex(counts.shape):
            place = {"covariate_level": row, "semantic_level": column}
            yield _count("images", counts[row, column], id_classes=counting, **place)
        yield _count("present_cells", present.sum(), id_classes=counting)
        for axis, levels in facts.levels(counting).items():
            there = present.sum(axis=0 if axis == "semantic" else 1)
            for level, size in enumerate(levels.counts):
                where = {"id_classes": counting, "axis": axis, "level": level}
                yield _count("images", size, **where)
                yield _count("present_cells", there[level], **where)
                if levels.edges is not None:
                    yield Result("", DEGREE, Value(levels.edges[level]), where)


def _count(key: str, count: int, **where) -> Result:
    return Result("", COUNTS.get(key, METRICS["images"]), Value(int(count)), where)


def _end(value: Value, end: str) -> float:
    interval = value.over("images")
    return value.value if interval is None else getattr(interval, end)


def _or(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value
