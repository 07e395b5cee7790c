"""What a unit measures: scores by image and places by image become numbers by subset, cell and level, and slopes.

A curve is the plain mean over the present cells of the other axis (IS-OOD, Tables 1 and 2), or over the levels that
all of its levels share ("common"). AUROCs, their curves and slopes err over images, all detectors of a model together;
slopes of other metrics have the error of the straight line through the levels.

Are generated images themselves detectable? "Rethinking the Evaluation of Out-of-Distribution Detection: A Sorites
Paradox" (Long et al., 2024, section 3.2) assumes so, because detectors do better on Syn-IS than on ImageNet-21K at the
same level. Here both kinds lie in one pool whose degrees are measured alike: in every cell that has enough of both,
real images stand for the known side and generated ones for the other. An AUROC of 50 says that a detector scores both
alike; above 50 generated images pass less often.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from openworld.core.errors import present
from openworld.evaluations.shift_levels import PoolLevels
from openworld.metrics import (
    MetricEstimate,
    RankedSides,
    auroc,
    detection_by_cell,
    rank_sides,
    shift_trend,
    shift_weights,
)
from openworld.metrics.by_cell import NOWHERE
from openworld.metrics.estimate import LEVEL, Influence, share_interval
from openworld.ood.by_shift.errors import Errors, JointErrors, errors_key, line_error, seed_mean, with_error
from openworld.ood.by_shift.metrics import (
    AGAINST,
    ALL,
    AUROC,
    CELL_METRICS,
    CELLS,
    COMMON,
    DEGREE,
    KEPT,
    KINDS,
    PRESENT,
    REMOVED,
    SHARED,
    SUBSETS,
    correlation_of,
    slope_of,
)
from openworld.report.shift_axes import AXES, KEYS
from openworld.results import METRICS, Metric, Result, Value, interval_of, over_seeds
from openworld.shifts.grid import ShiftGrid

Ends = tuple[float, float] | None
"""A 95 % interval over images; None where there is none."""


@dataclass(frozen=True, eq=False)
class ScoredPool:
    """Scores of in-distribution test images and of a pool, and where its images stand, whatever gave them."""

    test: Mapping[str, np.ndarray]  # by detector, float64[n] of in-distribution images, larger = more in-distribution
    pool: Mapping[str, np.ndarray]  # the same of the pool, float64[N]
    test_groups: np.ndarray  # int64[n], images that are not independent; no number is in both
    pool_groups: np.ndarray  # int64[N]
    levels: PoolLevels  # by half, where the pool's images stand
    known: np.ndarray  # bool[N], pool images of an in-distribution class
    generated: np.ndarray | None = None  # bool[N], generated images, where others are real; None where not known

    @cached_property
    def groups(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Groups of both sides; None where every image stands alone, for then intervals take less time."""
        sides = self.test_groups, self.pool_groups
        return sides if any(len(np.unique(groups)) < len(groups) for groups in sides) else None

    @property
    def subsets(self) -> dict[str, np.ndarray]:
        """Images of the pool, bool[N], with and without those whose label, or meaning, is in distribution."""
        # IS-OOD (Long et al., 2024, Table 8) holds the whole pool against "subsets with larger semantic shift" and
        # does not say which; here they are the upper half of the levels.
        far = self.levels.levels["semantic"] >= self.levels.counts["semantic"] // 2
        every = np.ones_like(self.known)
        return dict(zip(SUBSETS, (every, ~self.known, far, far & ~self.known), strict=True))


@dataclass(frozen=True, eq=False)
class Measurements:
    """The numbers of a unit: `rows` of detectors by label, `shared` counts of images, `errors` over images."""

    pool: ScoredPool
    ranked: RankedSides
    least: int  # cells with fewer images are N/A
    rows: list[Result] = field(default_factory=list)
    shared: list[Result] = field(default_factory=list)
    errors: Errors = field(default_factory=dict)

    def add_errors(self, metric: Metric, where: Mapping[str, str | float], joint: JointErrors | None) -> None:
        """Add how a number of all detectors errs over images, where that is known."""
        if joint is not None:
            self.errors[errors_key(metric, where)] = joint

    def count(self, metric: Metric, count: int, **where: str | int) -> None:
        """Add a count, which is of no detector."""
        self.shared.append(Result("", metric, Value(int(count)), where))


def measure(pool: ScoredPool, *, id_kept: bool, least: int) -> Measurements:
    """Return every number of scores and places; cells with fewer than `least` images are N/A."""
    # Where images of in-distribution classes count in the main numbers (`id_kept`), AUROCs without them are beside
    # them.
    scores = (np.stack([*side.values()]) for side in (pool.test, pool.pool))
    measured = Measurements(pool, rank_sides(*scores, groups=pool.groups), least)
    _measure_subsets(measured, "all" if id_kept else "unknown")
    measured.count(METRICS["images"], len(pool.test_groups), side="in-distribution")
    for name, chosen in pool.subsets.items():
        measured.count(METRICS["images"], chosen.sum(), images=SUBSETS[name])
    for kept in (id_kept, not id_kept):
        there = np.arange(len(pool.known)) if kept else np.flatnonzero(~pool.known)
        place = {"id_classes": KEPT if kept else REMOVED}
        if kept == id_kept:
            measured.count(METRICS["images"], len(there), side="pool")
        _measure_cells(measured, there, place, CELL_METRICS if kept == id_kept else {"auroc": AUROC})
    if pool.generated is not None:
        _measure_generated(measured, id_kept=id_kept)
    return measured


def _measure_subsets(measured: Measurements, whole: str) -> None:
    """Add AUROCs against subsets of the pool; of that which is the whole as the run counts it, at no place."""
    pool = measured.pool
    for name, chosen in pool.subsets.items():
        place = {} if name == whole else {"images": SUBSETS[name]}
        sums = measured.ranked.sums(np.where(chosen, 0, NOWHERE), [[1.0 * chosen.any()]])
        measured.add_errors(AUROC, place, JointErrors.of_sum(sums, 0, tuple(pool.test)))
        for label, test in pool.test.items():
            outside, groups = pool.pool[label][chosen], pool.pool_groups[chosen]
            area = auroc(test, outside, in_groups=pool.test_groups, out_groups=groups)
            reason = "it has no image of one of the two sides" if area.value is None else ""
            value = Value(area.value, interval_of(area.interval(), "images", int(chosen.sum())), reason)
            measured.rows.append(Result(label, AUROC, value, place))


def _measure_cells(
    measured: Measurements, there: np.ndarray, where: Mapping[str, str], metrics: Mapping[str, Metric]
) -> None:
    """Add what cells and levels hold of the pool's images `there`, and all numbers of all detectors over them."""
    pool = measured.pool
    grid = pool.levels.grid(there, measured.least)
    _count_images(measured, grid, there, where)
    cells = np.full(len(pool.known), NOWHERE)
    cells[there] = grid.covariate * grid.shape[1] + grid.semantic
    curves = _curve_intervals(measured, grid, cells, where)

    for (label, test), (of_cells, intervals) in zip(pool.test.items(), curves, strict=True):
        by_cell = detection_by_cell(test, pool.pool[label], cells, grid.present.size, least=grid.least)
        for name, metric in metrics.items():
            table = np.full(grid.shape, np.nan)  # where a cell has too few images
            for place, (cell, detection) in enumerate(zip(np.ndindex(grid.shape), by_cell, strict=True)):
                if detection is None:
                    value = Value(None, reason=f"it has fewer than {grid.least} images")
                else:
                    table[cell] = getattr(detection, name)
                    ends = of_cells[place] if metric is AUROC else None
                    value = Value(getattr(detection, name), interval_of(ends, "images", int(grid.counts[cell])))
                measured.rows.append(Result(label, metric, value, {**where, **dict(zip(KEYS, cell, strict=True))}))

            numbers = table[np.isfinite(table)]
            mean = Value(float(numbers.mean())) if numbers.size else Value(None, reason="no cell has enough images")
            measured.rows.append(Result(label, metric, mean, {**where, "cells": ALL}))
            _measure_levels(measured, label, metric, table, where, intervals if metric is AUROC else {})


def _count_images(measured: Measurements, grid: ShiftGrid, there: np.ndarray, where: Mapping[str, str]) -> None:
    """Add how many images every cell and level holds, how many cells count, and between which degrees levels lie."""
    for cell, size in np.ndenumerate(grid.counts):
        measured.count(METRICS["images"], size, **where, **dict(zip(KEYS, cell, strict=True)))
    measured.count(PRESENT, grid.present.sum(), **where)

    for axis, held in measured.pool.levels.facts(there).items():
        cells_that_count = grid.present.sum(axis=0 if axis == "semantic" else 1)
        for level, size in enumerate(held["counts"]):
            place = {**where, "axis": axis, "level": level}
            measured.count(METRICS["images"], size, **place)
            measured.count(PRESENT, cells_that_count[level], **place)
            if held["edges"] is not None:
                measured.shared.append(Result("", DEGREE, Value(held["edges"][level]), place))


def _measure_levels(
    measured: Measurements,
    label: str,
    metric: Metric,
    table: np.ndarray,
    where: Mapping[str, str],
    intervals: Mapping[tuple, Sequence[Ends]],
) -> None:
    """Add the curves of a metric along both axes, their slopes, and their correlations with the level."""
    # The table is float64[R, C], NaN where a cell is N/A; only an AUROC has intervals of its curves, by (cells, axis).
    slope, correlation = slope_of(metric), correlation_of(metric)
    for cells in CELLS:
        trend = shift_trend(table, np.isfinite(table), common=cells == COMMON)
        for axis in AXES:
            place, along = {**where, "cells": cells, "axis": axis}, getattr(trend, axis)
            curve, reason = getattr(trend, f"{axis}_curve"), along.reason or ""
            ends = intervals.get((cells, axis), [None] * len(curve))
            for level, number in enumerate(curve):
                interval = interval_of(ends[level], "images")
                value = over_seeds((number,), metric, intervals=interval, reason="it has no cell")
                measured.rows.append(Result(label, metric, value, {**place, "level": level}))
            if metric is AUROC or along.slope is None:
                joint = measured.errors.get(errors_key(slope, place))
                value, _ = seed_mean([along.slope], slope, [joint.error({label: 1})] if joint else (), reason)
            else:
                line = np.array(curve, np.float64)
                count = int(np.isfinite(line).sum())
                value, _ = with_error(along.slope, line_error(line), slope, "levels", n=count)
            measured.rows.append(Result(label, slope, value, place))
            value = over_seeds((along.correlation,), correlation, reason=reason)
            measured.rows.append(Result(label, correlation, value, place))


def _curve_intervals(
    measured: Measurements, grid: ShiftGrid, cells: np.ndarray, where: Mapping[str, str]
) -> list[tuple[dict[int, Ends], dict[tuple, list[Ends]]]]:
    """Return per detector the intervals of AUROCs by cell, and of curves by (cells, axis); add the errors of slopes."""
    labels, ranked = tuple(measured.pool.test), measured.ranked
    weights = {
        (kind, axis): weight
        for kind in CELLS
        for axis, weight in shift_weights(grid.present, common=kind == COMMON).items()
    }
    slopes = {place: slope.ravel() for place, (_, slope) in weights.items() if slope is not None}
    if slopes:
        sums = ranked.sums(cells, np.stack([*slopes.values()]))
        for number, (kind, axis) in enumerate(slopes):
            place = {**where, "cells": kind, "axis": axis}
            measured.add_errors(slope_of(AUROC), place, JointErrors.of_sum(sums, number, labels))
    curves = {place: curve.reshape(-1, grid.present.size) for place, (curve, _) in weights.items()}
    there, found = np.flatnonzero(grid.present).tolist(), []
    starts = np.cumsum([len(there), *map(len, curves.values())]).tolist()
    stacked = np.concatenate([np.eye(grid.present.size)[there], *curves.values()])
    for number in range(len(labels)):  # one detector after the other, for there are many
        sums = ranked.of(number).sums(cells, stacked)
        spreads = [sums.spread(row, np.ones(1)) for row in range(len(stacked))]
        ends = [share_interval(float(value), each, LEVEL) for value, each in zip(sums.values[0], spreads, strict=True)]
        of_curves = {place: ends[start:stop] for place, (start, stop) in zip(curves, pairwise(starts), strict=True)}
        found.append((dict(zip(there, ends[: len(there)], strict=True)), of_curves))
    return found


def mean_area(
    scores: np.ndarray, cell: np.ndarray, generated: np.ndarray, group: np.ndarray, cells: Sequence[int] | np.ndarray
) -> MetricEstimate:
    """Return the mean over some cells of the AUROC of real against generated images.

    Args:
        scores: float64[n]. cell, group: int64[n], of every image. generated: bool[n]. cells: that count.
    """
    sides = np.flatnonzero(~generated), np.flatnonzero(generated)
    pairs = [tuple(side[cell[side] == number] for side in sides) for number in cells]

    def estimate(real: np.ndarray, made: np.ndarray) -> MetricEstimate:
        return auroc(scores[real], scores[made], in_groups=group[real], out_groups=group[made])

    each = [estimate(*pair) for pair in pairs]

    def influence() -> Influence:
        effects = [np.zeros(len(side)) for side in sides]
        for pair, found in zip(pairs, each, strict=True):
            of_cell = present(found.influence, "an influence")
            for effect, side, chosen, part in zip(effects, sides, pair, (of_cell.base, of_cell.new), strict=True):
                # An influence counts in units of its own sample: a cell's is scaled up to the whole.
                scale = len(side) / len(chosen) / len(cells)
                effect[np.searchsorted(side, chosen)] = present(part, "that of a side") * scale
        return Influence(present(estimate(*sides).influence, "an influence").design, *effects)

    return MetricEstimate(float(np.mean([found.value for found in each])), None, influence)


def _measure_generated(measured: Measurements, *, id_kept: bool) -> None:
    """Add what each detector says of real and of generated images at equal degree, in cells with enough of both."""
    pool, levels = measured.pool, measured.pool.levels
    made, columns = present(pool.generated, "which images are generated"), levels.counts["semantic"]
    cell = levels.levels["covariate"] * columns + levels.levels["semantic"]
    counted, size = np.ones(len(made), bool) if id_kept else ~pool.known, levels.counts["covariate"] * columns
    enough = np.minimum(*(np.bincount(cell[counted & kind], minlength=size) for kind in (~made, made)))
    places = np.flatnonzero(counted & (enough >= measured.least)[cell])
    where, cells = {"id_classes": KEPT if id_kept else REMOVED}, np.unique(cell[places])
    if not cells.size:
        return
    cell, made, groups = cell[places], made[places], pool.pool_groups[places]

    by_level: dict[int | None, np.ndarray] = {None: cells}
    by_level |= {level: cells[cells % columns == level] for level in np.unique(cells % columns).tolist()}
    for level, of_level in by_level.items():
        place = {**where, "cells": SHARED} | ({} if level is None else {"axis": "semantic", "level": level})
        areas = {label: mean_area(scores[places], cell, made, groups, of_level) for label, scores in pool.pool.items()}
        measured.add_errors(AGAINST, place, JointErrors.of({label: area.spread for label, area in areas.items()}))
        for label, area in areas.items():
            interval = interval_of(area.interval(), "images", len(places))
            measured.rows.append(Result(label, AGAINST, Value(area.value, interval), place))
    for label, scores in pool.pool.items():
        for kind, images in enumerate(KINDS.values()):
            chosen = (scores[places][(cell == number) & (made == kind)] for number in cells)
            mean = float(np.mean([float(auroc(pool.test[label], each)) for each in chosen]))
            measured.rows.append(Result(label, AUROC, Value(mean), {**where, "images": images}))
