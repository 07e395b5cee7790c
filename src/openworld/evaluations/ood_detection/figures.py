"""The figures of measured shift: AUROC by level, and maps of cells: AUROC, differences of models, images.

Blue and orange are told apart by protanope, deuteranope and tritanope eyes, and the number stands in every cell.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from openworld.evaluations.ood_detection.facts import Detector, ShiftFacts
from openworld.evaluations.ood_detection.leads import DIFFERENCE
from openworld.evaluations.ood_detection.measurements import ALL, AUROC, CELLS, COMMON
from openworld.evaluations.ood_detection.results import CHANCE, DetectionResults, is_blind
from openworld.report.charts import CellChart, CellImage, ChartCell, Line, LineChart, Quantity, Reference
from openworld.report.charts.cells import count_cell, scale_key
from openworld.report.data_files import data_address
from openworld.report.figure import Figure
from openworld.report.series_style import SeriesStyle
from openworld.report.shift_axes import AXES, NEAR, Place, level_map, level_quantity, place_text
from openworld.results import Result

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


def level_figures(results: DetectionResults, axis: str, styles: Mapping[str, SeriesStyle]) -> tuple[Figure, ...]:
    """Return a figure over all cells and one over common cells: a chart per model, a line per detector.

    Both have one range, so that what the mix of cells does is seen; none where no level has a cell.
    """
    facts = results.facts
    curves = {cells: {key: results.curve(key, axis, cells) for key in facts.detectors} for cells in CELLS}
    numbers = [
        seed for lines in curves.values() for line in lines.values() for level in line for seed in level.per_seed
    ]
    known = [number for number in numbers if number is not None]
    if not known:
        return ()
    other = f"columns ({AXES['semantic']})" if axis == "covariate" else f"rows ({AXES['covariate']})"
    which = {
        COMMON: f"Common cells: only of those {other} that are present at every level that has any cell. Where this "
        "differs from all cells, the mix of cells makes the difference.",
        ALL: f"All cells: whatever a level has, so that levels may differ in their {other}.",
    }
    about = (
        f"AUROC at every level of {axis} shift ({AXES[axis]}), 0 the nearest: mean of its cells and over the seeds; "
        "the band behind a line spans the seeds, lowest to highest, or of one seed is its 95 % interval over images; "
        "dashed: chance."
    )
    y = Quantity.of(AUROC, covers=(CHANCE, min(known), max(known)))
    figures = []
    for cells, lines in curves.items():
        charts = tuple(_level_chart(results, model, axis, cells, lines, y) for model in facts.models)
        if any(chart.lines for chart in charts):
            title, names = f"Does {axis} shift raise the AUROC?", ("model", "detector")
            figures.append(Figure(f"{axis}-{CELLS[cells]}", title, (about, which[cells]), charts, styles, names=names))
    return tuple(figures)


def _level_chart(
    results: DetectionResults, model: str, axis: str, cells: str, curves: Mapping[Detector, list[Result]], y: Quantity
) -> LineChart:
    detectors = [detector for detector in results.facts.detectors if detector.model == model]
    lines = {detector.label: _line(curves[detector], cells) for detector in detectors}
    leader = max(detectors, key=lambda detector: results.whole_pool(detector).value or 0.0).label
    title = f"{model}, {cells}" if len(results.facts.models) > 1 else cells.capitalize()
    references = (Reference(CHANCE),)
    return LineChart(title, level_quantity(axis), y, lines, (leader,), references=references, named=True)


def _line(curve: list[Result], cells: str) -> Line:
    """Means over the seeds, the band, and the lowest and highest seed, where all seeds have a value."""
    lowest, highest = ([None if level.value.value is None else end(level.per_seed) for level in curve]
                       for end in (min, max))  # fmt: skip
    intervals = [level.value.over("images") for level in curve]
    low = [getattr(interval, "low", seed) for interval, seed in zip(intervals, lowest, strict=True)]
    high = [getattr(interval, "high", seed) for interval, seed in zip(intervals, highest, strict=True)]
    further = {"cells": [cells] * len(curve), "lowest_seed": lowest, "highest_seed": highest}
    return Line(range(len(curve)), [level.value.value for level in curve], low, high, further=further)


def heat_maps(results: DetectionResults) -> Figure:
    """Return a map of the AUROC per model and detector, all on one scale."""
    facts = results.facts
    charts = {detector: _area_map(results, detector) for detector in facts.detectors}
    beyond = f" {len(charts) - MOST} more maps are left out; the data has all." if len(charts) > MOST else ""
    caption = (
        f"AUROC, percent, mean over the seeds. {NEAR}. Blue above 50, orange below, the darker the farther from it; "
        "one scale for all.",
        "Dashed: blind, the 95 % interval over images (given the seeds) reaches 50. Hatched: N/A, with its number of "
        f"images, fewer than {facts.least}. Over another pool levels mean other degrees.{beyond}",
    )
    rows = tuple(
        {"model": detector.model, "detector": detector.label} | row
        for detector, chart in charts.items()
        for row in chart.rows()
        if "auroc" in row
    )
    maps, title = tuple(charts.values())[:MOST], "Where does a detector see it?"
    return Figure("cells", title, caption, maps, key=scale_key(KEY), shared=rows)


def _area_map(results: DetectionResults, detector: Detector) -> CellChart:
    counts, cells = results.facts.counts(), {}
    for place, area in results.cells(detector).items():
        count, interval = int(counts[place]), area.over("images")
        if area.value is None:
            cells[place] = count_cell(count)
            continue
        number = AUROC.write(area.value)
        text = f"{number} {AUROC.write_interval(interval)}".rstrip()
        hint = f"{place_text(place)}: {text}, {count:,} images" if len(results.facts.detectors) <= HINTED else ""
        ends = {end: getattr(interval, end, None) for end in ("low", "high")}
        row = {"images": count, "auroc": area.value} | ends
        cells[place] = ChartCell(number, (area.value - CHANCE) / CHANCE, hint, is_blind(area), row=row)
    return level_map(detector.title, cells, counts.shape)


def cell_differences(results: DetectionResults) -> Figure | None:
    """Return maps of each other model's AUROC minus the first one's, of detectors that both have; None without any."""
    detectors, (model, *_) = results.facts.detectors, results.facts.models
    first = {detector.label: detector for detector in detectors if detector.model == model}
    others = [detector for detector in detectors if detector.model != model and detector.label in first]
    pairs = [(first[other.label], other) for other in others]
    if not pairs:
        return None
    drawn, beyond = pairs[:MOST_PAIRS], len(pairs) - MOST_PAIRS
    apart = {pair: _differences(results, *pair) for pair in drawn}
    sizes = [abs(value) for cells in apart.values() for value in cells.values() if value is not None]
    largest = max(sizes, default=0.0) or 1.0
    charts = tuple(_difference_map(results.facts, *pair, cells, largest) for pair, cells in apart.items())
    caption = (
        f"Difference of the AUROCs, whole points, means over the seeds. {NEAR}."
        + f" {beyond} more pairs are not shown." * (beyond > 0),
        f"Blue where the other model is better, orange where {model} is; nothing is tested here.",
    )
    rows = tuple(row for chart in charts for row in chart.rows() if "difference" in row)
    return Figure("differences", "Model against model", caption, charts, shared=rows)


def _differences(results: DetectionResults, first: Detector, second: Detector) -> dict[Place, float | None]:
    """Return the differences by cell; None where a cell is N/A."""
    before, after = results.cells(first), results.cells(second)
    return {place: None if before[place].value is None else after[place].value - before[place].value
            for place in before}  # fmt: skip


def _difference_map(
    facts: ShiftFacts, first: Detector, second: Detector, values: Mapping[Place, float | None], largest: float
) -> CellChart:
    counts, cells = facts.counts(), {}
    names = {"detector": second.label, "first_model": first.model, "second_model": second.model}
    for place, value in values.items():
        if value is None:
            cells[place] = count_cell(int(counts[place]))
        else:
            cells[place] = ChartCell(WHOLE_POINTS.write(value), value / largest, row=names | {"difference": value})
    return level_map(f"{second.label}: {second.model} − {first.model}", cells, counts.shape)


def cell_counts(facts: ShiftFacts) -> Figure:
    """Return two maps: the darker a cell, the more images; and an image of each cell where a record keeps some."""
    counts, present = facts.counts(), facts.present()
    cells, images = {}, {}
    for place, count in np.ndenumerate(counts):
        row = {"images": int(count), "present": bool(present[place])}
        cells[place] = count_cell(int(count), int(counts.max()) if present[place] else None, row)
    for place, address in example_images(facts).items():
        images[place] = ChartCell(images=(CellImage(address, place_text(place)),), faint=not present[place])
    titled = {"Images per cell": cells, "One image of each cell": images}
    charts = tuple(level_map(title, cells, counts.shape) for title, cells in titled.items() if cells)
    caption = (
        f"{NEAR}. Hatched: fewer than {facts.least} images, N/A; they count nowhere.",
        "From left to right images should mean other things, from bottom to top their appearance should change; faint "
        "ones are of cells that are N/A. If that is not what you see, do not trust the levels.",
    )
    return Figure("counts", "What is in the cells?", caption, charts, shared=tuple(charts[0].rows()))


def example_images(facts: ShiftFacts) -> dict[Place, str]:
    """Return the address of an image of every cell: thumbnails of the first record that keeps any.

    Of all the lightest that a page has room for together.
    """
    names: dict[Place, tuple] = {}
    for outputs in facts.outputs:
        for name in sorted(outputs.attachments):
            if place := _IMAGE.fullmatch(name):
                names.setdefault((int(place[1]), int(place[2])), (outputs, name))
        if names:
            break
    addresses = {place: data_address("image/png", outputs.attachment(name)) for place, (outputs, name) in names.items()}
    left, kept = IMAGE_BYTES, {}
    for place in sorted(addresses, key=lambda place: (len(addresses[place]), place)):
        left -= len(addresses[place])
        if left >= 0:
            kept[place] = addresses[place]
    return kept
