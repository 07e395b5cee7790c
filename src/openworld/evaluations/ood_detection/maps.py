"""Maps of the differences of two models, cell by cell."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from openworld.evaluations.ood_detection.leads import DIFFERENCE
from openworld.evaluations.ood_detection.results import areas_of_cells
from openworld.report.charts import ChartCell
from openworld.report.charts.cells import count_cell
from openworld.report.figure import Figure
from openworld.report.layout import Brief
from openworld.report.shift_axes import NEAR, level_map
from openworld.results import Result

MOST_PAIRS = 12  # maps that a page has room for
WHOLE_POINTS = replace(DIFFERENCE, digits=0)


def cell_differences(brief: Brief) -> Iterator[Figure]:
    """Yield maps of each other model's AUROC minus the first one's, of detectors that both have."""
    facts, areas = brief.source, areas_of_cells(brief.results, brief.source)
    first = {each.label: each for each in facts.detectors if each.model == facts.models[0]}
    others = [each for each in facts.detectors if each.model != facts.models[0] and each.label in first]
    apart = {
        f"{other.label}: {other.model} − {facts.models[0]}": _differences(areas[first[other.label].title],
                                                                         areas[other.title])
        for other in others[:MOST_PAIRS]
    }  # fmt: skip
    if not apart:
        return
    sizes = [abs(value) for cells in apart.values() for value in cells.values() if value is not None]
    largest, counts = max(sizes, default=0.0) or 1.0, facts.counts
    charts = []
    for title, values in apart.items():
        cells = {
            place: count_cell(int(counts[place]))
            if value is None
            else ChartCell(WHOLE_POINTS.write(value), value / largest, row={"difference": value})
            for place, value in values.items()
        }
        charts.append(level_map(title, cells, counts.shape))
    beyond = f" {len(others) - MOST_PAIRS} more pairs are not shown." if len(others) > MOST_PAIRS else ""
    caption = (
        f"Difference of the AUROCs, whole points, means over the seeds. {NEAR}.{beyond}",
        f"Blue where the other model is better, orange where {facts.models[0]} is; nothing is tested here.",
    )
    yield Figure("differences", "Model against model", caption, tuple(charts))


def _differences(first: list[Result], second: list[Result]) -> Mapping[tuple[int, int], float | None]:
    """The differences by cell; None where a cell is N/A."""
    return {
        (before.where["covariate_level"], before.where["semantic_level"]): None
        if before.value.value is None
        else after.value.value - before.value.value
        for before, after in zip(first, second, strict=True)
    }
