"""The figures of measured shift: AUROC by level, and maps of cells: AUROC, differences of models, images.

Blue and orange are told apart by protanope, deuteranope and tritanope eyes, and the number stands in every cell.
"""

import numpy as np

from openworld.evaluations.ood_detection.album import examples
from openworld.evaluations.ood_detection.numbers import CHANCE, bands, blind, curves, means, overall, spans
from openworld.evaluations.ood_detection.run import Judged, ShiftRun
from openworld.report.charts import Cell, CellChart, CellImage, Line, LineChart, Quantity, Reference
from openworld.report.charts.cells import count_cell, level_map, scale_key
from openworld.report.figure import Figure
from openworld.report.series_style import Look
from openworld.report.shift_axes import AXES, LEVELS, NEAR
from openworld.report.text import percent

HINTED = 24  # maps; of more, cells have no tooltip, for the page would grow too large
MOST, MOST_PAIRS = 32, 12  # maps that a page has room for
KINDS = {False: "all cells", True: "common cells"}
AUROC = Quantity("auroc", "AUROC, %", covers=(CHANCE,))
KEY = (
    (Cell(shade=-1.0), "0"),
    (Cell(shade=-0.5), "25"),
    (Cell(shade=0.0), "50: chance"),
    (Cell(shade=0.5), "75"),
    (Cell(shade=1.0), "100"),
    (Cell(shade=0.0, dashed=True), "blind"),
    (Cell("N/A"), "N/A"),
)


def level_curves(run: ShiftRun, axis: str, styles: dict[str, Look]) -> tuple[Figure, ...]:
    """Return a figure over all cells and one over common cells: a chart per model, a line per detector.

    Both have one range, so that what the mix of cells does is seen; none where no level has a cell.
    """
    found = {common: {one: curves(run.cells, one, axis, common=common) for one in run.judged} for common in KINDS}
    known = np.concatenate([curve[np.isfinite(curve)] for lines in found.values() for curve in lines.values()])
    if not known.size:
        return ()
    y = Quantity("auroc", "AUROC, %", covers=(CHANCE, float(known.min()), float(known.max())))
    figures = (_by_level(run, axis, common, lines, y, styles) for common, lines in found.items())
    return tuple(figure for figure in figures if any(chart.lines for chart in figure.charts))


def _by_level(run: ShiftRun, axis: str, common: bool, found: dict[Judged, np.ndarray], y: Quantity, styles) -> Figure:
    other = "columns (meaning)" if axis == "covariate" else "rows (looks)"
    cells = (
        f"Common cells: only of those {other} that are present at every level that has any cell. Where this differs "
        "from all cells, the mix of cells makes the difference."
        if common
        else f"All cells: whatever a level has, so that levels may differ in their {other}."
    )
    caption = (
        f"AUROC at every level of {axis} shift ({AXES[axis]}), 0 the nearest: mean of its cells and over the seeds; "
        "the band behind a line spans the seeds, lowest to highest, or of one seed is its 95 % interval over pictures; "
        "dashed: chance.",
        cells,
    )
    charts = tuple(_level_chart(run, model, axis, common, found, y) for model in run.models)
    name, title = f"{axis}-{'common' if common else 'all'}", f"Does {axis} shift raise the AUROC?"
    return Figure(name, title, caption, charts, styles, names=("model", "detector"))


def _level_chart(run: ShiftRun, model: str, axis: str, common: bool, found, y: Quantity) -> LineChart:
    own = {one: curve for one, curve in found.items() if one.model == model}
    lines = {
        one.detector: _line(curve, *bands(run.cells, one, axis, common=common), KINDS[common])
        for one, curve in own.items()
    }
    leader = max(own, key=lambda one: overall(run, one).value or 0.0).detector
    title = f"{model}, {KINDS[common]}" if len(run.models) > 1 else KINDS[common].capitalize()
    x = Quantity("level", LEVELS[axis], "number", 6, at_values=True)
    return LineChart(title, x, y, lines, (leader,), references=(Reference(CHANCE),), named=True)


def _line(curve: np.ndarray, low: np.ndarray, high: np.ndarray, kind: str) -> Line:
    """Means over the seeds where all have a value, the band, and the lowest and highest seed."""
    whole = np.isfinite(curve).all(axis=0)

    def known(values: np.ndarray) -> list[float | None]:
        return [float(value) if held else None for value, held in zip(values, whole, strict=True)]

    seeds = {"lowest_seed": known(curve.min(axis=0)), "highest_seed": known(curve.max(axis=0))}
    further = {"cells": [kind] * len(whole)} | seeds
    return Line(range(len(whole)), known(curve.mean(axis=0)), known(low), known(high), further=further)


def heat_maps(run: ShiftRun) -> Figure:
    """Return a map of the AUROC per model and detector, all on one scale."""
    charts = tuple(_area_map(run, one) for one in run.judged)
    beyond = f" {len(charts) - MOST} more maps are left out; the data has all." if len(charts) > MOST else ""
    caption = (
        f"AUROC, percent, mean over the seeds. {NEAR}. Blue above 50, orange below, the darker the farther from it; "
        "one scale for all.",
        "Dashed: blind, the 95 % interval over pictures (given the seeds) reaches 50. Hatched: N/A, with its number of "
        f"pictures, fewer than {run.least}. Over another pool levels mean other degrees.{beyond}",
    )
    rows = [
        {"model": one.model, "detector": one.detector} | row
        for one, chart in zip(run.judged, charts, strict=True)
        for row in chart.rows()
        if "auroc" in row
    ]
    return Figure(
        "cells", "Where does a detector see it?", caption, charts[:MOST], key=scale_key(KEY), shared=tuple(rows)
    )


def _area_map(run: ShiftRun, judged: Judged) -> CellChart:
    cells, table, dashed = run.cells, means(run.cells, judged), blind(run.cells, judged)
    low, high = spans(run.cells, judged)

    def cell(place: tuple[int, int]) -> Cell:
        count, value = int(cells.counts[place]), float(table[place])
        if np.isnan(value):
            return count_cell(count)
        ends = (float(low[place]), float(high[place])) if np.isfinite(low[place]) else None
        text = percent(value) + (f" [{percent(ends[0])} {percent(ends[1])}]" if ends else "")
        hint = f"covariate {place[0]}, semantic {place[1]}: {text}, {count:,} pictures"
        row = {"pictures": count, "auroc": value, "low": ends and ends[0], "high": ends and ends[1]}
        shade = (value - CHANCE) / CHANCE
        return Cell(percent(value), shade, hint if len(run.judged) <= HINTED else "", bool(dashed[place]), row=row)

    return level_map(judged.title, {place: cell(place) for place in np.ndindex(table.shape)}, table.shape, LEVELS)


def cell_differences(run: ShiftRun) -> Figure | None:
    """Return maps of each other model's AUROC minus the first one's, of detectors that both have; None without any."""
    first = {one.detector: one for one in run.judged if one.model == run.models[0]}
    pairs = [(first[one.detector], one) for one in run.judged if one.model != run.models[0] and one.detector in first]
    if not pairs:
        return None
    shown, beyond = pairs[:MOST_PAIRS], len(pairs) - MOST_PAIRS
    apart = {pair: means(run.cells, pair[1]) - means(run.cells, pair[0]) for pair in shown}
    largest = max(float(np.abs(one[run.cells.present]).max(initial=0.0)) for one in apart.values()) or 1.0
    charts = tuple(_difference_map(run, *pair, values, largest) for pair, values in apart.items())
    caption = (
        f"Difference of the AUROCs, whole points, means over the seeds. {NEAR}."
        + f" {beyond} more pairs are not shown." * (beyond > 0),
        f"Blue where the other model is better, orange where {run.models[0]} is; nothing is tested here.",
    )
    shared = tuple(row for chart in charts for row in chart.rows() if "difference" in row)
    return Figure("differences", "Model against model", caption, charts, shared=shared)


def _difference_map(run: ShiftRun, before: Judged, after: Judged, values: np.ndarray, largest: float) -> CellChart:
    points = Quantity("difference", "", "points", 0)
    models = {"detector": after.detector, "first_model": before.model, "second_model": after.model}

    def cell(place: tuple[int, int]) -> Cell:
        value = float(values[place])
        if np.isnan(value):
            return count_cell(int(run.cells.counts[place]))
        return Cell(points.write(value), value / largest, row=models | {"difference": value})

    cells = {place: cell(place) for place in np.ndindex(values.shape)}
    return level_map(f"{after.detector}: {after.model} − {before.model}", cells, values.shape, LEVELS)


def cell_counts(run: ShiftRun) -> Figure:
    """Return two maps: the darker a cell, the more images; and an image of each cell where a record keeps some."""
    counts, present = run.cells.counts, run.cells.present
    cells = {}
    for place in np.ndindex(counts.shape):
        row = {"pictures": int(counts[place]), "present": bool(present[place])}
        cells[place] = count_cell(int(counts[place]), int(counts.max()) if present[place] else None, row)
    charts = [level_map("Pictures per cell", cells, counts.shape, LEVELS)]
    shown = examples(run)
    if shown:
        images = {}
        for place, address in shown.items():
            image = CellImage(address, f"covariate {place[0]}, semantic {place[1]}")
            images[place] = Cell(images=(image,), faint=not present[place])
        charts.append(level_map("One picture of each cell", images, counts.shape, LEVELS))
    caption = (
        f"{NEAR}. Hatched: fewer than {run.least} pictures, N/A; they count nowhere.",
        "From left to right pictures should mean other things, from bottom to top they should look otherwise; faint "
        "ones are of cells that are N/A. If that is not what you see, do not trust the levels.",
    )
    return Figure("counts", "What is in the cells?", caption, tuple(charts), shared=tuple(charts[0].rows()))
