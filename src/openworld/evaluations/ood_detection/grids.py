"""The tables of a shift report; Markdown and LaTeX read the same grids.

One line per model and detector, in the order of the run; the largest of a column in bold where large is good.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from openworld.evaluations.ood_detection.numbers import (
    Number,
    Slope,
    blind,
    curves,
    ends,
    firsts,
    leader,
    means,
    mixed,
    overall,
    slope,
)
from openworld.evaluations.ood_detection.run import METRICS, SUBSETS, Cells, Judged, ShiftRun
from openworld.evaluations.ood_detection.wording import (
    LEVELS,
    bracketed_points,
    caption,
    correlated,
    over,
    over_slopes,
    spanned,
)
from openworld.report.grid import Cell, Column, Grid, Line
from openworld.report.marks import swatch
from openworld.report.series_style import Look
from openworld.report.shift_axes import AXES
from openworld.report.text import bracketed, percent, signed

Looks = dict[str, Look]
TRENDS = {"auroc": "AUROC", "fpr_openood": "FPR@95", "aupr_in": "AUPR"}
"""Metrics whose trends IS-OOD prints, as it names them."""

SMALL = ("fpr", "fpr_openood")  # the smaller the better


def overview_grid(run: ShiftRun, looks: Looks) -> Grid:
    """AUROC against the whole pool, at the ends of both axes, its slopes, and where a detector leads or is blind."""
    titles = ["whole pool"]
    titles += [f"{axis}: {what}" for axis in AXES for what in ("near → far", "slope, all cells", "slope, common")]
    titles += ["best in", "blind in"]
    columns = (*_heads(run), *map(Column, titles))
    best = leader(run)
    first = firsts(run.cells, run.judged)
    rows = tuple(Line(one.detector, tuple(_overview(run, one, looks, best, first[one]))) for one in run.judged)
    told = f"{caption(run)} Best in, blind in: of {int(run.cells.present.sum())} cells; blind: the interval over "
    told += "pictures reaches down to 50. *: the mix of cells makes the slope over all cells."
    return Grid("overview", "AUROC of every detector", told, columns, rows)


def trends_grid(run: ShiftRun, looks: Looks, metric: str) -> Grid:
    """Slope and Pearson's correlation of a metric along both axes, over all cells and on common ones."""
    kinds = [f"{axis}, {which}" for axis in AXES for which in ("all cells", "common")]
    titles = [f"{kind}: {what}" for kind in kinds for what in ("slope", "r")]
    columns = (*_heads(run), *map(Column, titles))
    rows = tuple(Line(one.detector, (*_names(run, one, looks), *_trend_cells(run, one, metric))) for one in run.judged)
    told = (
        f"Slope: least squares, points of {TRENDS[metric]} per level, with its sign {over_slopes(run, metric)}; its "
        "size is the sensitivity of IS-OOD. r: Pearson's correlation with the level, mean over the seeds. All cells: a "
        "level's value is the mean of its present cells; common: of the levels of the other axis that all levels "
        "share. *: the mix of cells makes the trend: on common cells it turns or differs by a point."
    )
    return Grid(f"trends-{metric}", f"Trends of {TRENDS[metric]}", told, columns, rows)


def metrics_grid(run: ShiftRun, looks: Looks) -> Grid:
    """Every metric as the mean over the present cells, and below it over those nearest and farthest in meaning."""
    columns = (*_heads(run), *(Column(title) for title in METRICS.values()))
    held = {name: {one: _mean(means(run.cells, one, name)) for one in run.judged} for name in METRICS}
    rows = []
    for one in run.judged:
        cells = [_led(run, one, name, told.values()) for name, told in held.items()]
        rows.append(Line(one.detector, (*_names(run, one, looks), *cells)))
    told = (
        "Unweighted means over all cells that are there, percent; below them those of the nearest → farthest semantic "
        "level. FPR@95, ID positive: share of out-of-distribution pictures that pass where 95 % of the in-distribution "
        "ones do; OOD positive (OpenOOD v1.5, IS-OOD): share of in-distribution pictures flagged where 95 % of the "
        "others are. AUPRs depend on how many pictures a cell has, but for the last: as if half were in distribution."
    )
    return Grid("metrics", "Every metric", told, columns, tuple(rows))


def kept_grid(run: ShiftRun, looks: Looks) -> Grid:
    """AUROC with the pool's pictures of in-distribution classes and without them, in total and over the cells."""
    choices = sorted((run.cells, run.otherwise), key=lambda one: not one.id_kept)
    kinds = ("whole pool", "mean of cells", *(f"{axis} slope" for axis in AXES))
    titles = [f"{kind}: {which}" for kind in kinds for which in ("kept", "removed")]
    columns = (*_heads(run), *map(Column, titles))
    rows = tuple(Line(one.detector, (*_names(run, one, looks), *_kept(run, one, choices))) for one in run.judged)
    sizes = [f"{int(one.counts.sum()):,} pictures in {int(one.present.sum())} cells" for one in choices]
    told = (
        f"AUROC, percent, and its slopes over all cells in points per level. Kept: {sizes[0]}, as published; removed: "
        f"without pictures of in-distribution classes, {sizes[1]}. Means and slopes are over the cells of each."
    )
    return Grid("kept", "Pictures of in-distribution classes kept and removed", told, columns, rows)


def labelling_grid(run: ShiftRun, looks: Looks) -> Grid:
    """AUROC against subsets of the pool with fewer and fewer pictures that may show what is in distribution."""
    sizes = run.told[0]["labelling"]["subsets"]
    columns = (*_heads(run), *(Column(f"{title} ({sizes[name]:,})") for name, title in SUBSETS.items()))
    held = {name: {one: overall(run, one, name) for one in run.judged} for name in SUBSETS}
    rows = []
    for one in run.judged:
        cells = [_interval_cell(held[name][one], max(map(_value, held[name].values()))) for name in SUBSETS]
        rows.append(Line(one.detector, (*_names(run, one, looks), *cells)))
    whose = over(one for told in held.values() for one in told.values())
    told = (
        f"AUROC, percent {whose}; in brackets the number of pictures. Other classes: without pictures "
        "of in-distribution classes; far: the upper half of the semantic levels. IS-OOD's Table 8 does not say where "
        "its larger shift begins."
    )
    return Grid("labelling", "How much is labelling", told, columns, tuple(rows))


def levels_grid(run: ShiftRun) -> Grid:
    """Where levels begin, how many pictures they hold, and how many of their cells are there."""
    levels, cells = run.told[0]["levels"], run.cells
    titles = [f"{axis}: {what}" for axis in AXES for what in ("from", "pictures", "cells")]
    columns = (Column("level", words=True), *map(Column, titles))
    there = {"semantic": cells.present.sum(axis=0), "covariate": cells.present.sum(axis=1)}
    rows = []
    for level in range(max(map(len, there.values()))):
        told = [cell for axis in AXES for cell in _level(levels[axis], there[axis], level)]
        rows.append(Line("", (Cell(str(level)), *told)))
    text = f"{LEVELS}. From: the degree, a cosine distance, at which a level begins; a dash where cells were given."
    return Grid("levels", "Levels", text, columns, tuple(rows))


def models_grid(run: ShiftRun) -> Grid:
    """What was judged, and how well it names the in-distribution test pictures."""
    columns = (Column("model", words=True), Column("kind", words=True), *map(Column, ("seeds", "accuracy")))
    rows = []
    for model in run.models:
        told = run.of(model)
        accuracy = percent(float(np.mean([one["source"]["accuracy"] for one in told])))
        seeds = " ".join(str(one["seed"]) for one in told)
        rows.append(Line("", (Cell(model), Cell(told[0]["kind"], css="words"), Cell(seeds), Cell(accuracy))))
    told = "Accuracy on the in-distribution test pictures, percent, mean over the seeds."
    return Grid("models", "The judged models", told, columns, tuple(rows))


def _heads(run: ShiftRun) -> tuple[Column, ...]:
    model = (Column("model", words=True),) if len(run.models) > 1 else ()
    return (Column("detector", words=True), *model)


def _names(run: ShiftRun, judged: Judged, looks: Looks) -> tuple[Cell, ...]:
    model = (Cell(judged.model, css="words"),) if len(run.models) > 1 else ()
    return (Cell(judged.detector, picture=swatch(looks[judged.detector])), *model)


def _overview(run: ShiftRun, judged: Judged, looks: Looks, best: Judged | None, first: np.ndarray) -> Iterator[Cell]:
    yield from _names(run, judged, looks)
    whole = overall(run, judged)
    leads = "leads " if judged == best and len(run.judged) > 1 else ""
    yield _under(percent(whole.value), whole, bracketed(whole.interval), f"{leads}headline")
    for axis in AXES:
        reached = ends(curves(run.cells, judged, axis))
        yield Cell(spanned(reached), "" if reached[1] is None else f"{reached[1]:.6f}")
        yield from _slope_cells(slope(run.cells, judged, axis), slope(run.cells, judged, axis, common=True))
    yield Cell(str(int(first.sum())))
    yield Cell(str(int(blind(run.cells, judged).sum())))


def _slope_cells(everything: Slope, common: Slope) -> tuple[Cell, Cell]:
    star = "*" * mixed(everything, common)
    return _slope_cell(everything, star), _slope_cell(common)


def _slope_cell(one: Slope, star: str = "") -> Cell:
    told = one.slope
    if told.value is None:
        return Cell("–", hint=one.reason or "")
    return _under(signed(told.value) + star, told, bracketed_points(told))


def _under(text: str, told: Number, interval: str, css: str = "") -> Cell:
    """A number with its interval below it."""
    value = "" if told.value is None else f"{told.value:.6f}"
    return Cell(text, value, interval, f"{css} under".strip(), hint=f"over {told.over}" if interval else "")


def _trend_cells(run: ShiftRun, judged: Judged, metric: str) -> Iterator[Cell]:
    for axis in AXES:
        both = [slope(run.cells, judged, axis, metric, common=common) for common in (False, True)]
        for one, cell in zip(both, _slope_cells(*both), strict=True):
            yield cell
            yield Cell(correlated(one), "" if one.correlation is None else f"{one.correlation:.6f}")


def _kept(run: ShiftRun, judged: Judged, choices: Sequence[Cells]) -> Iterator[Cell]:
    for subset in ("all", "unknown"):
        yield Cell(percent(overall(run, judged, subset).value))
    for cells in choices:
        yield Cell(percent(_mean(means(cells, judged))))
    for axis in AXES:
        yield from (_slope_cell(slope(cells, judged, axis)) for cells in choices)


def _interval_cell(told: Number, largest: float) -> Cell:
    leads = "leads" if told.value is not None and told.value == largest else ""
    return _under(percent(told.value), told, bracketed(told.interval), leads)


def _led(run: ShiftRun, judged: Judged, metric: str, column: Iterable[float | None]) -> Cell:
    """A mean over cells, bold where it is the best of its column, with the ends of the semantic axis below it."""
    value, known = _mean(means(run.cells, judged, metric)), [one for one in column if one is not None]
    best = min if metric in SMALL else max
    leads = "leads " if len(known) > 1 and value == best(known) else ""
    reached = spanned(ends(curves(run.cells, judged, "semantic", metric)))
    return Cell(percent(value), "" if value is None else f"{value:.6f}", reached, f"{leads}under")


def _level(told, there: np.ndarray, level: int) -> tuple[Cell, Cell, Cell]:
    if level >= len(there):
        return Cell("–"), Cell("–"), Cell("–")
    start = "–" if told["edges"] is None else f"{told['edges'][level]:.4f}"
    return Cell(start), Cell(f"{told['counts'][level]:,}"), Cell(str(int(there[level])))


def _mean(values: np.ndarray) -> float | None:
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else None


def _value(one: Number) -> float:
    return -np.inf if one.value is None else one.value
