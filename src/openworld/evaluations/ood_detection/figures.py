"""The figures of measured shift: AUROC by level, and maps of cells: AUROC, differences of models, images.

Blue and orange are told apart by protanope, deuteranope and tritanope eyes, and the number stands in every cell.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from openworld.evaluations.ood_detection.facts import Detector, ShiftFacts
from openworld.evaluations.ood_detection.leads import DIFFERENCE
from openworld.evaluations.ood_detection.results import (
    ALL,
    AUROC,
    CELLS,
    CHANCE,
    COMMON,
    cell_values,
    curve,
    is_blind,
    whole_pool,
)
from openworld.report.charts import CellChart, CellImage, ChartCell, Line, LineChart, Quantity, Reference
from openworld.report.charts.cells import count_cell, level_map, scale_key
from openworld.report.data_files import data_address
from openworld.report.figure import Figure
from openworld.report.series_style import SeriesStyle
from openworld.report.shift_axes import AXES, LEVELS, NEAR
from openworld.results import Result, Results, Value

HINTED = 24  # maps; of more, cells have no tooltip, for the page would grow too large
MOST, MOST_PAIRS = 32, 12  # maps that a page has room for
IMAGE_BYTES = 200_000  # of the page's 1.5 MB
WHOLE_POINTS = replace(DIFFERENCE, digits=0)
KEY = (
    (ChartCell(shade=-1.0), "0"),
    (ChartCell(shade=-0.5), "25"),
    (ChartCell(shade=0.0), "50: chance"),
    (ChartCell(shade=0.5), "75"),
    (ChartCell(shade=1.0), "100"),
    (ChartCell(shade=0.0, dashed=True), "blind"),
    (ChartCell("N/A"), "N/A"),
)
_IMAGE = re.compile(r"pictures/(\d+)-(\d+)/[^/]+")


def level_curves(found: Results, facts: ShiftFacts, axis: str, styles: Mapping[str, SeriesStyle]) -> tuple[Figure, ...]:
    """Return a figure over all cells and one over common cells: a chart per model, a line per detector.

    Both have one range, so that what the mix of cells does is seen; none where no level has a cell.
    """
    curves = {cells: {one: curve(found, facts, one, axis, cells) for one in facts.detectors} for cells in CELLS}
    known = [number for lines in curves.values() for line in lines.values() for one in line for number in one.per_seed]
    known = [number for number in known if number is not None]
    if not known:
        return ()
    y = Quantity.of(AUROC, covers=(CHANCE, min(known), max(known)))
    figures = (_by_level(found, facts, (axis, cells), lines, y, styles) for cells, lines in curves.items())
    return tuple(figure for figure in figures if any(chart.lines for chart in figure.charts))


def _by_level(found: Results, facts: ShiftFacts, place: tuple[str, str], lines, y: Quantity, styles) -> Figure:
    axis, cells = place
    other = f"columns ({AXES['semantic']})" if axis == "covariate" else f"rows ({AXES['covariate']})"
    which = {
        COMMON: f"Common cells: only of those {other} that are present at every level that has any cell. Where this "
        "differs from all cells, the mix of cells makes the difference.",
        ALL: f"All cells: whatever a level has, so that levels may differ in their {other}.",
    }
    caption = (
        f"AUROC at every level of {axis} shift ({AXES[axis]}), 0 the nearest: mean of its cells and over the seeds; "
        "the band behind a line spans the seeds, lowest to highest, or of one seed is its 95 % interval over images; "
        "dashed: chance.",
        which[cells],
    )
    charts = tuple(_level_chart(found, facts, model, place, lines, y) for model in facts.models)
    title = f"Does {axis} shift raise the AUROC?"
    return Figure(f"{axis}-{CELLS[cells]}", title, caption, charts, styles, names=("model", "detector"))


def _level_chart(found: Results, facts: ShiftFacts, model: str, place, curves, y: Quantity) -> LineChart:
    axis, cells = place
    own = [one for one in facts.detectors if one.model == model]
    lines = {one.label: _line(curves[one], cells) for one in own}
    leader = max(own, key=lambda one: whole_pool(found, facts, one).value or 0.0).label
    title = f"{model}, {cells}" if len(facts.models) > 1 else cells.capitalize()
    x = Quantity("level", LEVELS[axis], "number", 6, at_values=True)
    return LineChart(title, x, y, lines, (leader,), references=(Reference(CHANCE),), named=True)


def _line(results: list[Result], cells: str) -> Line:
    """Means over the seeds, the band, and the lowest and highest seed, where all seeds have a value."""
    lowest, highest = (
        [None if result.value.value is None else end(result.per_seed) for result in results] for end in (min, max)
    )
    intervals = [result.value.over("images") for result in results]
    low = [one.low if one else seed for one, seed in zip(intervals, lowest, strict=True)]
    high = [one.high if one else seed for one, seed in zip(intervals, highest, strict=True)]
    further = {"cells": [cells] * len(results), "lowest_seed": lowest, "highest_seed": highest}
    return Line(range(len(results)), [result.value.value for result in results], low, high, further=further)


def heat_maps(found: Results, facts: ShiftFacts) -> Figure:
    """Return a map of the AUROC per model and detector, all on one scale."""
    charts = tuple(_area_map(found, facts, one) for one in facts.detectors)
    beyond = f" {len(charts) - MOST} more maps are left out; the data has all." if len(charts) > MOST else ""
    caption = (
        f"AUROC, percent, mean over the seeds. {NEAR}. Blue above 50, orange below, the darker the farther from it; "
        "one scale for all.",
        "Dashed: blind, the 95 % interval over images (given the seeds) reaches 50. Hatched: N/A, with its number of "
        f"images, fewer than {facts.least}. Over another pool levels mean other degrees.{beyond}",
    )
    rows = [
        {"model": one.model, "detector": one.label} | row
        for one, chart in zip(facts.detectors, charts, strict=True)
        for row in chart.rows()
        if "auroc" in row
    ]
    return Figure(
        "cells", "Where does a detector see it?", caption, charts[:MOST], key=scale_key(KEY), shared=tuple(rows)
    )


def _area_map(found: Results, facts: ShiftFacts, detector: Detector) -> CellChart:
    values, counts, hinted = cell_values(found, facts, detector), facts.counts(), len(facts.detectors) <= HINTED
    cells = {place: _area_cell(place, value, int(counts[place]), hinted) for place, value in values.items()}
    return level_map(detector.title, cells, facts.shape, LEVELS)


def _area_cell(place: tuple[int, int], area: Value, count: int, hinted: bool) -> ChartCell:
    if area.value is None:
        return count_cell(count)
    interval, number = area.over("images"), AUROC.write(area.value)
    text = f"{number} {AUROC.write_interval(interval)}".rstrip()
    hint = f"covariate {place[0]}, semantic {place[1]}: {text}, {count:,} images" * hinted
    ends = {"low": interval and interval.low, "high": interval and interval.high}
    row = {"images": count, "auroc": area.value} | ends
    return ChartCell(number, (area.value - CHANCE) / CHANCE, hint, is_blind(area), row=row)


def cell_differences(found: Results, facts: ShiftFacts) -> Figure | None:
    """Return maps of each other model's AUROC minus the first one's, of detectors that both have; None without any."""
    models = facts.models
    first = {one.label: one for one in facts.detectors if one.model == models[0]}
    pairs = [(first[one.label], one) for one in facts.detectors if one.model != models[0] and one.label in first]
    if not pairs:
        return None
    shown, beyond = pairs[:MOST_PAIRS], len(pairs) - MOST_PAIRS
    apart = {pair: _differences(found, facts, *pair) for pair in shown}
    largest = max((abs(value) for one in apart.values() for value in one.values() if value is not None), default=0.0)
    charts = tuple(_difference_map(facts, *pair, values, largest or 1.0) for pair, values in apart.items())
    caption = (
        f"Difference of the AUROCs, whole points, means over the seeds. {NEAR}."
        + f" {beyond} more pairs are not shown." * (beyond > 0),
        f"Blue where the other model is better, orange where {models[0]} is; nothing is tested here.",
    )
    shared = tuple(row for chart in charts for row in chart.rows() if "difference" in row)
    return Figure("differences", "Model against model", caption, charts, shared=shared)


def _differences(found: Results, facts: ShiftFacts, before: Detector, after: Detector) -> dict:
    """By cell; None where it is N/A."""
    both = ({place: area.value for place, area in cell_values(found, facts, one).items()} for one in (before, after))
    first, second = both
    return {place: None if area is None else second[place] - area for place, area in first.items()}


def _difference_map(facts: ShiftFacts, before: Detector, after: Detector, values: Mapping, largest: float) -> CellChart:
    counts = facts.counts()
    names = {"detector": after.label, "first_model": before.model, "second_model": after.model}

    def cell(place: tuple[int, int]) -> ChartCell:
        value = values[place]
        if value is None:
            return count_cell(int(counts[place]))
        return ChartCell(WHOLE_POINTS.write(value), value / largest, row=names | {"difference": value})

    cells = {place: cell(place) for place in values}
    return level_map(f"{after.label}: {after.model} − {before.model}", cells, facts.shape, LEVELS)


def cell_counts(facts: ShiftFacts) -> Figure:
    """Return two maps: the darker a cell, the more images; and an image of each cell where a record keeps some."""
    counts, present = facts.counts(), facts.present()
    cells = {}
    for place in np.ndindex(counts.shape):
        row = {"images": int(counts[place]), "present": bool(present[place])}
        cells[place] = count_cell(int(counts[place]), int(counts.max()) if present[place] else None, row)
    charts = [level_map("Images per cell", cells, counts.shape, LEVELS)]
    examples = example_images(facts)
    if examples:
        images = {}
        for place, address in examples.items():
            image = CellImage(address, f"covariate {place[0]}, semantic {place[1]}")
            images[place] = ChartCell(images=(image,), faint=not present[place])
        charts.append(level_map("One image of each cell", images, counts.shape, LEVELS))
    caption = (
        f"{NEAR}. Hatched: fewer than {facts.least} images, N/A; they count nowhere.",
        "From left to right images should mean other things, from bottom to top they should look otherwise; faint "
        "ones are of cells that are N/A. If that is not what you see, do not trust the levels.",
    )
    return Figure("counts", "What is in the cells?", caption, tuple(charts), shared=tuple(charts[0].rows()))


def example_images(facts: ShiftFacts) -> dict[tuple[int, int], str]:
    """Return the address of an image of every cell by covariate and semantic level: thumbnails of the first record.

    Empty where no record keeps any; of all the lightest that a page has room for together.
    """
    for outputs in facts.outputs:
        names: dict[tuple[int, int], str] = {}
        for name in sorted(outputs.attachments):
            place = _IMAGE.fullmatch(name)
            if place:
                names.setdefault((int(place[1]), int(place[2])), name)
        if names:
            return _lightest(
                {place: data_address("image/png", outputs.attachment(name)) for place, name in names.items()}
            )
    return {}


def _lightest(addresses: Mapping[tuple[int, int], str]) -> dict[tuple[int, int], str]:
    left, kept = IMAGE_BYTES, {}
    for place in sorted(addresses, key=lambda place: (len(addresses[place]), place)):
        left -= len(addresses[place])
        if left >= 0:
            kept[place] = addresses[place]
    return kept
