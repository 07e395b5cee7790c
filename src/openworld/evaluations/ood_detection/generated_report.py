"""What a run says of generated images beside real ones at equal degree: a table, a curve and a sentence."""

from collections.abc import Mapping

from openworld.evaluations.ood_detection.generated import AGAINST, AREA, CHANCE, KINDS
from openworld.evaluations.ood_detection.results import DetectionResults
from openworld.report.charts import Line, LineChart, Quantity, Reference
from openworld.report.figure import Figure
from openworld.report.page import Section
from openworld.report.sentences import counted, over_what
from openworld.report.series_style import SeriesStyle
from openworld.report.shift_axes import level_quantity
from openworld.report.table import Column, Row, Table
from openworld.results import TEXT, Value

HEADING = "Are generated images themselves detectable?"
TOO_FEW = "No cell has enough real and enough generated images, so that nothing is known at equal degree."


def generated_section(results: DetectionResults, styles: Mapping[str, SeriesStyle]) -> Section | None:
    """Return the section; None where the pool has no generated images beside real ones."""
    if not results.facts.first.pool.generated:
        return None
    figure = generated_figure(results, styles)
    if figure is None:
        return Section(HEADING, (TOO_FEW,))
    return Section(HEADING, (_sentence(results),), (_table(results),), (figure,))


def generated_figure(results: DetectionResults, styles: Mapping[str, SeriesStyle]) -> Figure | None:
    """Return a chart per model of the AUROC of real against generated images by semantic level; None without any."""
    facts, charts = results.facts, []
    for model in facts.models:
        lines = {}
        for detector in facts.detectors:
            rows = [
                row
                for row in results.rows.where(entity=detector.label, metric=AGAINST.key, model=model)
                if "level" in row.where and detector.model == model
            ]
            if rows:
                levels, ends = [row.where["level"] for row in rows], [row.value.over() for row in rows]
                low, high = ([getattr(interval, end, None) for interval in ends] for end in ("low", "high"))
                lines[detector.label] = Line(levels, [row.value.value for row in rows], low, high)
        if lines:
            y = Quantity.of(AGAINST, covers=(CHANCE,))
            leader = results.ranked()[0].label
            marks = {"references": (Reference(CHANCE),), "named": True}
            charts.append(LineChart(model, level_quantity("semantic"), y, lines, (leader,), **marks))
    if not charts:
        return None
    caption = (
        "AUROC of real images against generated ones in one cell, mean over the cells of a semantic level that have "
        "enough of both; the band is its 95 % interval. Dashed: 50, a detector scores both alike.",
        "Above 50 generated images look less like the known ones than real images of the same measured shift do.",
    )
    return Figure("generated", HEADING, caption, tuple(charts), styles, names=("model", "detector"))


def _against(results: DetectionResults, detector) -> Value:
    rows = results.rows.where(entity=detector.label, metric=AGAINST.key, model=detector.model)
    return next(row.value for row in rows if "level" not in row.where)


def _table(results: DetectionResults) -> Table:
    facts, several = results.facts, len(results.facts.models) > 1
    columns = (
        *(Column(AREA, f"against {kind}", intervals=0) for kind in KINDS),
        Column(AGAINST, "real against generated", headline=True),
    )
    rows = []
    for detector in facts.detectors:
        place = {"id_classes": facts.counting}
        both = (results.value(detector, AREA.key, images=images, **place) for images in KINDS.values())
        cells = (*both, _against(results, detector))
        rows.append(Row(detector.label, (*[detector.model] * several, *cells), detector.label))
    heads = (*[Column(TEXT, "model")] * several, *columns)
    over = over_what([row.cells[-1] for row in rows])
    caption = (
        f"AUROC, percent, means over the cells that have enough real and enough generated images{over and ' ' + over}: "
        "the known test images against either kind, and real images against generated ones of the same cell."
    )
    title = "Real and generated images at equal degree"
    return Table("generated", title, caption, "detector", heads, tuple(rows), best="")


def _sentence(results: DetectionResults) -> str:
    values = [_against(results, detector) for detector in results.facts.detectors]
    intervals = [value.over() for value in values]
    seen = sum(interval is not None and interval.low > CHANCE for interval in intervals)
    reverse = sum(interval is not None and interval.high < CHANCE for interval in intervals)
    made = ", ".join(results.facts.first.pool.generated)
    return (
        f"At equal measured shift {seen} of {counted(len(values), 'detector')} give generated images ({made}) "
        f"significantly lower scores than real ones, and {reverse} significantly higher ones."
    )
