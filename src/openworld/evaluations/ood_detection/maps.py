"""The maps of measured shift: a metric in every cell, and the differences of two models there."""

from collections.abc import Mapping
from dataclasses import replace

from openworld.evaluations.ood_detection.drawn_metrics import AREA, DrawnMetric, drawn_detectors, selection_text
from openworld.evaluations.ood_detection.facts import Detector, ShiftFacts
from openworld.evaluations.ood_detection.leads import DIFFERENCE
from openworld.evaluations.ood_detection.results import DetectionResults, is_blind
from openworld.report.charts import CellChart, ChartCell
from openworld.report.charts.cells import count_cell
from openworld.report.figure import Figure
from openworld.report.shift_axes import NEAR, Place, level_map, place_text

HINTED = 24  # maps; of more, cells have no tooltip, for the page would grow too large
MOST_PAIRS = 12  # maps of differences that a page has room for
WHOLE_POINTS = replace(DIFFERENCE, digits=0)


def heat_maps(results: DetectionResults, drawn: DrawnMetric = AREA) -> Figure:
    """Return a map of a metric per model and detector, all on one scale."""
    facts, key = results.facts, drawn.metric.key
    charts = {detector: _metric_map(results, detector, drawn) for detector in drawn_detectors(results, drawn)}
    beyond = f" {len(charts) - drawn.most} more maps are left out; the data has all." * (len(charts) > drawn.most)
    blind = "Dashed: blind, the 95 % interval over images (given the seeds) reaches 50. " * (drawn is AREA)
    caption = (
        f"{drawn.title}, percent, mean over the seeds. {NEAR}. {drawn.meaning}; one scale for all.",
        f"{blind}Hatched: N/A, with its number of images, fewer than {facts.least}. Over another pool levels mean "
        f"other degrees.{beyond} {selection_text(results, drawn)}".rstrip(),
    )
    rows = tuple(
        {"model": detector.model, "detector": detector.label} | row
        for detector, chart in charts.items()
        for row in chart.rows()
        if key in row
    )
    maps, title = tuple(charts.values())[: drawn.most], f"{drawn.title} in every cell"
    title = "Where does a detector see it?" if drawn is AREA else title
    return Figure(f"cells{drawn.suffix}", title, caption, maps, key=drawn.key, shared=rows)


def _metric_map(results: DetectionResults, detector: Detector, drawn: DrawnMetric) -> CellChart:
    counts, metric, cells = results.facts.counts(), drawn.metric, {}
    hinted = len(results.facts.detectors) <= HINTED
    for place, value in results.cells(detector, metric.key).items():
        count, interval = int(counts[place]), value.over("images")
        if value.value is None:
            cells[place] = count_cell(count)
            continue
        number = metric.write(value.value)
        text = f"{number} {metric.write_interval(interval)}".rstrip()
        hint = f"{place_text(place)}: {text}, {count:,} images" * hinted
        ends = {end: getattr(interval, end, None) for end in ("low", "high")} if drawn is AREA else {}
        row = {"images": count, metric.key: value.value} | ends
        dashed = drawn is AREA and is_blind(value)
        cells[place] = ChartCell(number, drawn.shade(value.value), hint, dashed, row=row)
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
