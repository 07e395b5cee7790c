"""From the records of a run to its rows: every detector over the pool, its cells and its levels, and its slopes.

A number of several seeds is their mean, with an interval over seeds and images; of one seed it has the interval over
images (`errors`). A curve is the plain mean over the present cells of the other axis (IS-OOD, Tables 1 and 2), or
over the levels that all of its levels share ("common"). Where records have no error over images, as of metrics other
than AUROC, slopes have that over the seeds or, of one seed, of the straight line through the levels.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from openworld.evaluations.ood_detection.errors import joint_error, line_error, seed_mean, with_error
from openworld.evaluations.ood_detection.facts import KEPT, REMOVED, Detector, ShiftFacts
from openworld.evaluations.ood_detection.record import SUBSETS, Area, CellRecord, PoolRecord
from openworld.metrics import ShiftTrend, shift_trend
from openworld.report.shift_axes import AXES
from openworld.results import METRICS, Comparison, Metric, Result, Value, interval_of, mean, over_seeds

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

PRESENT = Metric("present_cells", "cells", "count", 0, 0, (0.0, None))
DEGREE = Metric("degree_from", "from", "fraction", 4, 0, (0.0, 2.0))


def slope_of(metric: Metric) -> Metric:
    """The slope of a metric along an axis: its change per level."""
    return Metric(f"{metric.key}_slope", f"slope of {metric.title}", "points", 1, 0, (None, None))


def correlation_of(metric: Metric) -> Metric:
    """Pearson's correlation of a metric with the level."""
    return Metric(
        f"{metric.key}_correlation", f"correlation of {metric.title} with the level", "difference", 2, 0, (-1.0, 1.0)
    )


def detector_rows(facts: ShiftFacts, detector: Detector) -> Iterator[Result | Comparison]:
    """The numbers of a detector, and the tests of its slopes, not corrected yet."""
    yield from _areas(facts, detector)
    for counting in (facts.counting, REMOVED if facts.counting == KEPT else KEPT):
        records = facts.pools(detector.model, counting)
        for name, metric in CELL_METRICS.items() if counting == facts.counting else [("auroc", AUROC)]:
            tables = [_table(record, detector.label, name) for record in records]
            yield from _cells(facts, detector, counting, name, tables)
            known = [table[np.isfinite(table)] for table in tables]
            means = tuple(float(values.mean()) if values.size else None for values in known)
            value = over_seeds(means, metric, reason="no cell has enough images")
            yield _result(facts, detector, metric, value, means, id_classes=counting, cells=ALL)
            for cells in CELLS:
                trends = [shift_trend(table, np.isfinite(table), common=cells == COMMON) for table in tables]
                for axis in AXES:
                    yield from _along(facts, detector, metric, trends, id_classes=counting, cells=cells, axis=axis)


def further_rows(facts: ShiftFacts) -> Iterator[Result]:
    """How well models name test images; images of every subset, cell and level; and where levels begin."""
    for model in facts.models:
        values = tuple(record.source.accuracy for record in facts.of(model))
        if None in values:
            continue
        value = over_seeds(values, METRICS["accuracy"])
        yield Result(model, METRICS["accuracy"], value, {}, facts.seeds(model), values)
    yield _count("images", facts.first.source.n, side="in-distribution")
    yield _count("images", facts.counts().sum(), side="pool")
    for subset, size in facts.first.labelling.subsets.items():
        yield _count("images", size, images=SUBSETS[subset])
    for counting in (KEPT, REMOVED):
        counts, present = facts.counts(counting), facts.present(counting)
        for row, column in np.ndindex(counts.shape):
            yield _count("images", counts[row, column], id_classes=counting, covariate_level=row, semantic_level=column)
        yield _count("present_cells", present.sum(), id_classes=counting)
        for axis, levels in facts.pools(facts.models[0], counting)[0].levels.items():
            there = present.sum(axis=0 if axis == "semantic" else 1)
            for level, size in enumerate(levels.counts):
                where = {"id_classes": counting, "axis": axis, "level": level}
                yield _count("images", size, **where)
                yield _count("present_cells", there[level], **where)
                if levels.edges is not None:
                    yield Result("", DEGREE, Value(levels.edges[level]), where)


def _areas(facts: ShiftFacts, detector: Detector) -> Iterator[Result]:
    """AUROC against the pool as the run counts it, at no place, and against its other subsets."""
    labellings = [record.labelling for record in facts.of(detector.model)]
    for subset, images in SUBSETS.items():
        areas = [labelling.detectors[detector.label][subset] for labelling in labellings]
        values = tuple(area.value for area in areas)
        if len(areas) == 1:  # whose interval keeps inside (0, 1) by itself
            intervals = interval_of(areas[0].interval, "images", labellings[0].subsets[subset])
            value = Value(values[0], intervals, "it has no image of one of the two sides" * (values[0] is None))
        else:
            errors = [joint_error(labelling.joint.get(subset), {detector.label: 1}) for labelling in labellings]
            value, _ = seed_mean(values, AUROC, errors)
        place = {} if subset == facts.whole else {"images": images}
        yield _result(facts, detector, AUROC, value, values, **place)


def _table(record: PoolRecord, label: str, name: str) -> np.ndarray:
    """float64[R, C], a metric in every cell; NaN where it is N/A."""

    def number(cell: CellRecord | None) -> float:
        value = cell and getattr(cell, name)
        value = value.value if isinstance(value, Area) else value
        return np.nan if value is None else value

    return np.array([[number(cell) for cell in row] for row in record.detectors[label].cells], dtype=np.float64)


def _cells(facts, detector, counting: str, name: str, tables: Sequence[np.ndarray]) -> Iterator[Result]:
    """The mean over the seeds in every cell, with the interval of the AUROC over images, given the seeds.

    Its ends are averaged over the seeds. Errors of seeds on the same images go together at most fully, so the interval
    of their mean is never wider than that.
    """
    records, counts = facts.pools(detector.model, counting), facts.counts(counting)
    for row, column in np.ndindex(counts.shape):
        values = tuple(None if np.isnan(table[row, column]) else float(table[row, column]) for table in tables)
        value = Value(mean(values), reason=f"it has fewer than {facts.least} images" if None in values else "")
        if name == "auroc" and value.value is not None:
            ends = [record.detectors[detector.label].cells[row][column].auroc.interval for record in records]
            ends = None if None in ends else [float(np.mean(side)) for side in zip(*ends, strict=True)]
            value = replace(value, intervals=interval_of(ends, "images", int(counts[row, column])))
        where = {"id_classes": counting, "covariate_level": row, "semantic_level": column}
        yield _result(facts, detector, CELL_METRICS[name], value, values, **where)


def _along(facts, detector, metric: Metric, trends: Sequence[ShiftTrend], **where) -> Iterator[Result | Comparison]:
    """The curve of a metric along an axis, its slope with the test of it, and its correlation with the level."""
    axis, kind, main = where["axis"], CELLS[where["cells"]], where["id_classes"] == facts.counting
    records = facts.pools(detector.model, where["id_classes"]) if metric is AUROC else []
    curves = [getattr(trend, f"{axis}_curve") for trend in trends]
    for level, values in enumerate(zip(*curves, strict=True)):
        errors = [record.detectors[detector.label].over_pictures for record in records]
        ends = errors[0][axis][kind].curve[level] if len(errors) == 1 and errors[0] else None
        value = over_seeds(values, metric, intervals=interval_of(ends, "images"), reason="it has no cell")
        yield _result(facts, detector, metric, value, values, level=level, **where)
    along_axis = [getattr(trend, axis) for trend in trends]
    reason = along_axis[0].reason or ""
    slopes, correlations = (tuple(getattr(trend, name) for trend in along_axis) for name in ("slope", "correlation"))
    joint = [record.joint[axis][kind] if record.joint else None for record in records] or [None]
    if len(slopes) == 1 and slopes[0] is not None and joint == [None]:
        line = np.array(curves[0], dtype=np.float64)
        value, p = with_error(slopes[0], line_error(line), slope_of(metric), "levels", n=int(np.isfinite(line).sum()))
    else:
        errors = [joint_error(errors, {detector.label: 1}) for errors in joint]
        value, p = seed_mean(slopes, slope_of(metric), errors, reason)
    yield _result(facts, detector, slope_of(metric), value, slopes, **where)
    correlation = over_seeds(correlations, correlation_of(metric), reason=reason)
    yield _result(facts, detector, correlation_of(metric), correlation, correlations, **where)
    if metric is AUROC and main:
        untested = reason if value.value is None else "its error is not known" * (p is None)
        yield Comparison(detector.title, NO_SLOPE, slope_of(metric), value.value, p, untested, value.over(), where)


def _result(facts: ShiftFacts, detector: Detector, metric: Metric, value: Value, values: Sequence, **where) -> Result:
    return Result(detector.title, metric, value, where, facts.seeds(detector.model), tuple(values))


def _count(key: str, count: int, **where) -> Result:
    return Result("", PRESENT if key == PRESENT.key else METRICS[key], Value(int(count)), where)
