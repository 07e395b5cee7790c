"""IS-OOD's figures: what is in the cells, maps and curves of three metrics, and marginal images.

Each is drawn twice in the paper, of ImageNet-21K and of the generated images of Syn-IS. Maps hold no number that the
paper prints as text; what it prints of the curves, their slopes in Tables 1, 2 and 4 to 7, stands beside ours.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from openworld.evaluations.ood_detection.cell_contents import cell_counts, cell_images
from openworld.evaluations.ood_detection.drawn_metrics import AREA, FALSE_ALARMS, PRECISION, DrawnMetric
from openworld.evaluations.ood_detection.figures import level_figures
from openworld.evaluations.ood_detection.generated_report import TOO_FEW, generated_figure
from openworld.evaluations.ood_detection.maps import heat_maps
from openworld.evaluations.ood_detection.marginal_report import marginal_figure
from openworld.evaluations.ood_detection.measurements import ALL, slope_of
from openworld.evaluations.ood_detection.results import DetectionResults
from openworld.papers import TABLES, published_numbers
from openworld.report.figure import Figure
from openworld.report.series_style import series_styles
from openworld.report.shift_axes import AXES
from openworld.reproduction.figures.paper_figure import FigureRuns, PaperFigure, by_number
from openworld.reproduction.isood import generated_runs
from openworld.results import RunFolder

PAPER = "is-ood"
ABSENT = {"3": "it is a drawing of LAID and holds no results"}

REAL, GENERATED = "ImageNet-21K", "Syn-IS"
STAND_INS = {REAL: "Drawings stand in", GENERATED: "Redrawn drawings, the rendered twin, stand in"}
IMAGE_ROOM = 1_500_000  # bytes that the images of a figure of cells may take together
NO_IMAGES = "These runs keep no such images: embeddings have none."
APART = (
    "the published lists divide ImageNet-21K by its images and Syn-IS by its prompts, so that no degree of one is a "
    "degree of the other; run a spec of ood-detection whose pool holds both, with generated = true for images that are"
)

METRICS = {
    AREA: {REAL: (("5", "10"), "6", "1"), GENERATED: (("7", "11"), "8", "2")},
    FALSE_ALARMS: {REAL: (("12",), "13", "4"), GENERATED: (("14",), "15", "5")},
    PRECISION: {REAL: (("16",), "17", "6"), GENERATED: (("18",), "19", "7")},
}
"""Metric and data -> the figures of its maps, that of its curves, the table of their slopes.

Of the AUROC the main text has a part of the detectors and the appendix all.
"""


def draw_curves(results: DetectionResults, drawn: DrawnMetric, table: str) -> Figure:
    """Return a metric by semantic and by covariate level, over all cells as in the paper, and over common ones.

    Args:
        results: of the finished run.
        drawn: the metric.
        table: that prints the slopes of its curves.
    """
    charts, caption, styles = [], [], series_styles(results.facts.labels)
    for axis in AXES:
        for figure in level_figures(results, axis, styles, drawn):
            titled = (f"{axis} shift, {chart.title[0].lower()}{chart.title[1:]}" for chart in figure.charts)
            charts += [replace(chart, title=title) for chart, title in zip(figure.charts, titled, strict=True)]
            caption += figure.caption
    for axis in AXES:
        printed = {
            number.method: number.value
            for number in published_numbers(PAPER, table)
            if number.setting == f"{axis} shift" and number.metric.startswith("sensitivity")
        }
        known = []
        for detector in results.facts.detectors:
            slope = results.trend(detector, axis, ALL, slope_of(drawn.metric).key).value
            if slope is not None and detector.label in printed:
                known.append(f"{detector.label} {100 * abs(slope):.2f} ({printed[detector.label]:.2f})")
        about = f"Sensitivity to {axis} shift, ours (printed in Table {table}), points per level"
        caption.append(f"{about}: {', '.join(known)}.")
    return Figure("", "", tuple(dict.fromkeys(caption)), tuple(charts), styles, names=("cells", "method"))


def draw_generated(results: DetectionResults) -> Figure:
    """Return the AUROC of real against generated images by semantic level."""
    figure = generated_figure(results, series_styles(results.facts.labels))
    return figure or Figure("", "", (TOO_FEW,), ())


def _images(results: DetectionResults) -> Figure:
    return cell_images(results.facts, IMAGE_ROOM, small=False) or Figure("", "", (NO_IMAGES,), ())


def _marginal(results: DetectionResults) -> Figure:
    return marginal_figure(results.facts) or Figure("", "", (NO_IMAGES,), ())


def _drawn(given: FigureRuns, draw: Callable[[DetectionResults], Figure], data: str = "") -> Figure:
    """A figure, with what stands in for its data."""
    figure = draw(given.runs[0].read(read_run))
    stand_in = (f"{STAND_INS[data]} for {data}.",) if data and given.setup.embedded else ()
    return replace(figure, caption=(*figure.caption, *stand_in))


def read_run(folder: Path) -> DetectionResults:
    """Return the results of a run."""
    return DetectionResults.read(RunFolder.read(folder))


def _figures() -> Iterator[PaperFigure]:
    def of(number: str, title: str, draw: Callable[[DetectionResults], Figure], data: str) -> PaperFigure:
        table = TABLES[PAPER][METRICS[AREA][data][-1]]
        return PaperFigure(number, f"{title}, {data}", partial(_drawn, draw=draw, data=data), (table,))

    yield of("1", "images of the cells", _images, REAL)
    yield of("2", "images of other classes that pass for known ones", _marginal, REAL)
    yield of("4", "images of the cells", _images, GENERATED)
    yield of("9", "images per cell", lambda results: cell_counts(results.facts), REAL)
    yield of("20", "predictions and confidence of such images", _marginal, REAL)
    for drawn, by_data in METRICS.items():
        for data, (maps, curves, table) in by_data.items():
            for number in maps:
                yield of(number, f"{drawn.title} in every cell", partial(heat_maps, drawn=drawn), data)
            yield of(curves, f"{drawn.title} by level of shift", partial(draw_curves, drawn=drawn, table=table), data)
    yield PaperFigure(
        "generated",
        "real against generated images at equal degree (section 3.2)",
        partial(_drawn, draw=draw_generated),
        runs=generated_runs,
        refused=lambda setup: "" if setup.embedded else APART,
    )


FIGURES = by_number(_figures())
"""Number -> the figure, and a check of what section 3.2 assumes of generated images.

Each is drawn from the run of the table that prints the AUROC's trends on its data.
"""
