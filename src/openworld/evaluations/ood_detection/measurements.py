"""What a unit measures: every detector against the pool and its subsets, in cells and by level, and its slopes.

A curve is the plain mean over the present cells of the other axis (IS-OOD, Tables 1 and 2), or over the levels that
all of its levels share ("common"). AUROCs, their curves and slopes err over images, all detectors of a model together;
slopes of other metrics have the error of the straight line through the levels.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from openworld.evaluations.ood_detection.errors import (
    Errors,
    JointErrors,
    errors_key,
    line_error,
    seed_mean,
    with_error,
)
from openworld.evaluations.ood_detection.generated import generated_rows
from openworld.evaluations.ood_detection.metrics import (
    ALL,
    AUROC,
    CELL_METRICS,
    CELLS,
    COMMON,
    DEGREE,
    KEPT,
    PRESENT,
    REMOVED,
    SUBSETS,
    correlation_of,
    slope_of,
)
from openworld.evaluations.ood_detection.pool import ScoredPool
from openworld.evaluations.shift_cells import PoolLevels
from openworld.metrics import CellRules, RankedSides, auroc, detection_by_cell, rank_sides, shift_trend, shift_weights
from openworld.metrics.by_cell import NOWHERE
from openworld.metrics.estimate import LEVEL, share_interval
from openworld.report.shift_axes import AXES
from openworld.results import METRICS, Metric, Result, Value, interval_of, over_seeds
from openworld.shifts import ShiftGrid

PREVALENCE = 0.5
"""Share of in-distribution images at which AUPRs of cells of unequal size can be compared."""

Ends = tuple[float, float] | None
"""A 95 % interval over images; None where there is none."""


@dataclass(frozen=True, eq=False)
class Measurements:
    """The numbers of a unit: `rows` of detectors by label, `shared` counts of images, `errors` over images."""

    rows: tuple[Result, ...]
    shared: tuple[Result, ...]
    errors: Errors


def measure(pool: ScoredPool, *, id_kept: bool, least: int) -> Measurements:
    """Return every number of scores and places; cells with fewer than `least` images are N/A."""
    # Where images of in-distribution classes count in the main numbers (`id_kept`), AUROCs without them are beside
    # them.
    scores = (np.stack([*side.values()]) for side in (pool.test, pool.pool))
    ranked, errors = rank_sides(*scores, groups=pool.groups), {}
    rows = [*_against_subsets(pool, ranked, errors, "all" if id_kept else "unknown")]
    shared = [_count(METRICS["images"], len(pool.test_groups), side="in-distribution")]
    shared += [_count(METRICS["images"], chosen.sum(), images=SUBSETS[name]) for name, chosen in pool.subsets.items()]
    for kept in (id_kept, not id_kept):
        there = np.arange(len(pool.known)) if kept else np.flatnonzero(~pool.known)
        grid, place = pool.levels.grid(there, least), {"id_classes": KEPT if kept else REMOVED}
        if kept == id_kept:
            shared.append(_count(METRICS["images"], len(there), side="pool"))
        shared += _sizes(pool.levels, grid, there, place)
        metrics = CELL_METRICS if kept == id_kept else {"auroc": AUROC}
        rows += _over_cells(pool, ranked, errors, grid, there, place, metrics)
    rows += generated_rows(pool, errors, id_kept=id_kept, least=least)
    return Measurements(tuple(rows), tuple(shared), errors)


def _against_subsets(pool: ScoredPool, ranked: RankedSides, errors: Errors, whole: str) -> Iterator[Result]:
    """Yield AUROCs against subsets of the pool; of that which is the whole as the run counts it, at no place."""
    for name, chosen in pool.subsets.items():
        place = {} if name == whole else {"images": SUBSETS[name]}
        sums = ranked.sums(np.where(chosen, 0, NOWHERE), [[1.0 * chosen.any()]])
        _keep(errors, AUROC, place, JointErrors.of_sum(sums, 0, tuple(pool.test)))
        for label, test in pool.test.items():
            outside, groups = pool.pool[label][chosen], pool.pool_groups[chosen]
            area = auroc(test, outside, in_groups=pool.test_groups, out_groups=groups)
            reason = "it has no image of one of the two sides" if area.value is None else ""
            value = Value(area.value, interval_of(area.interval(), "images", int(chosen.sum())), reason)
            yield Result(label, AUROC, value, place)


def _sizes(levels: PoolLevels, grid: ShiftGrid, there: np.ndarray, where: Mapping[str, str]) -> Iterator[Result]:
    """Yield how many images cells and levels hold, how many cells are present, and where levels begin."""
    for row, column in np.ndindex(grid.shape):
        yield _count(METRICS["images"], grid.counts[row, column], **where, covariate_level=row, semantic_level=column)
    yield _count(PRESENT, grid.present.sum(), **where)
    for axis, held in levels.facts(there).items():
        present = grid.present.sum(axis=0 if axis == "semantic" else 1)
        for level, size in enumerate(held["counts"]):
            place = {**where, "axis": axis, "level": level}
            yield _count(METRICS["images"], size, **place)
            yield _count(PRESENT, present[level], **place)
            if held["edges"] is not None:
                yield Result("", DEGREE, Value(held["edges"][level]), place)


def _over_cells(
    pool: ScoredPool,
    ranked: RankedSides,
    errors: Errors,
    grid: ShiftGrid,
    there: np.ndarray,
    where: Mapping[str, str],
    metrics: Mapping[str, Metric],
) -> Iterator[Result]:
    """Yield all numbers of all detectors over the cells of the pool's images `there`; their errors join the others."""
    cells = np.full(len(pool.known), NOWHERE)
    cells[there] = grid.covariate * grid.shape[1] + grid.semantic
    curves = _over_images(pool, ranked, errors, grid, cells, where)
    rules = CellRules(prevalence=PREVALENCE, least=grid.least)
    for (label, test), own in zip(pool.test.items(), curves, strict=True):
        scores = pool.pool[label]
        found = detection_by_cell(test, scores, cells, grid.present.size, groups=pool.groups, rules=rules)
        for name, metric in metrics.items():
            numbers = [None if cell is None else getattr(cell, name) for cell in found]
            table = np.array(numbers, np.float64).reshape(grid.shape)  # None is NaN
            for place, cell, number in zip(np.ndindex(grid.shape), found, numbers, strict=True):
                ends = cell.interval if cell and metric is AUROC else None
                reason = f"it has fewer than {grid.least} images" if number is None else ""
                value = Value(number, interval_of(ends, "images", int(grid.counts[place])), reason)
                in_cell = dict(zip(("covariate_level", "semantic_level"), place, strict=True))
                yield Result(label, metric, value, {**where, **in_cell})
            known = table[np.isfinite(table)]
            value = Value(float(known.mean())) if known.size else Value(None, reason="no cell has enough images")
            yield Result(label, metric, value, {**where, "cells": ALL})
            yield from _along(label, metric, table, where, own if metric is AUROC else {}, errors)


def _along(
    label: str,
    metric: Metric,
    table: np.ndarray,
    where: Mapping[str, str],
    intervals: Mapping[tuple, Sequence[Ends]],
    errors: Errors,
) -> Iterator[Result]:
    """Yield the curves of a metric along both axes, their slopes, and their correlations with the level."""
    # The table is float64[R, C], NaN where a cell is N/A; only an AUROC has intervals of its curves, by (cells, axis).
    for cells in CELLS:
        trend = shift_trend(table, np.isfinite(table), common=cells == COMMON)
        for axis in AXES:
            place, along = {**where, "cells": cells, "axis": axis}, getattr(trend, axis)
            curve, reason = getattr(trend, f"{axis}_curve"), along.reason or ""
            ends = intervals.get((cells, axis), [None] * len(curve))
            for level, number in enumerate(curve):
                interval = interval_of(ends[level], "images")
                value = over_seeds((number,), metric, intervals=interval, reason="it has no cell")
                yield Result(label, metric, value, {**place, "level": level})
            slope = slope_of(metric)
            if metric is AUROC or along.slope is None:
                joint = errors.get(errors_key(slope, place))
                value, _ = seed_mean([along.slope], slope, [joint.error({label: 1})] if joint else (), reason)
            else:
                line = np.array(curve, np.float64)
                count = int(np.isfinite(line).sum())
                value, _ = with_error(along.slope, line_error(line), slope, "levels", n=count)
            yield Result(label, slope, value, place)
            correlation = over_seeds((along.correlation,), correlation_of(metric), reason=reason)
            yield Result(label, correlation_of(metric), correlation, place)


def _over_images(
    pool: ScoredPool,
    ranked: RankedSides,
    errors: Errors,
    grid: ShiftGrid,
    cells: np.ndarray,
    where: Mapping[str, str],
) -> list[dict[tuple, list[Ends]]]:
    """Return per detector the intervals of its AUROC's curves by (cells, axis); the slopes' errors join the others."""
    weights = {(kind, axis): weight for kind in CELLS
               for axis, weight in shift_weights(grid.present, common=kind == COMMON).items()}  # fmt: skip
    slopes = {place: weight.slope.ravel() for place, weight in weights.items() if weight.slope is not None}
    if slopes:
        sums = ranked.sums(cells, np.stack([*slopes.values()]))
        for number, (kind, axis) in enumerate(slopes):
            place = {**where, "cells": kind, "axis": axis}
            _keep(errors, slope_of(AUROC), place, JointErrors.of_sum(sums, number, tuple(pool.test)))
    curves = {place: weight.curve.reshape(-1, grid.present.size) for place, weight in weights.items()}
    starts = np.cumsum([0, *map(len, curves.values())]).tolist()
    stacked, found = np.concatenate([*curves.values()]), []
    for number in range(len(pool.test)):  # one detector after the other, for there are many
        sums = ranked.of(number).sums(cells, stacked)
        spreads = [sums.spread(row, np.ones(1)) for row in range(len(stacked))]
        ends = [share_interval(float(value), each, LEVEL) for value, each in zip(sums.values[0], spreads, strict=True)]
        found.append({place: ends[start:stop] for place, (start, stop) in zip(curves, pairwise(starts), strict=True)})
    return found


def _keep(errors: Errors, metric: Metric, where: Mapping[str, str], joint: JointErrors | None) -> None:
    if joint is not None:
        errors[errors_key(metric, where)] = joint


def _count(metric: Metric, count: int, **where: str | int) -> Result:
    return Result("", metric, Value(int(count)), where)
