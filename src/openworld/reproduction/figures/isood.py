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
from openworld.reproduction.figures.paper_figure import FigureRuns, PaperFigure
from openworld.reproduction.isood import generated_runs
from openworld.reproduction.settings import ReproductionSetup
from openworld.results import RunFolder

PAPER = "is-ood"
ABSENT = {"3": "it is a drawing of LAID and holds no results"}

REAL, GENERATED = "ImageNet-21K", "Syn-IS"
STAND_INS = {REAL: "Drawings stand in", GENERATED: "Redrawn drawings, the rendered twin, stand in"}
TREND_TABLES = {
    (REAL, AREA): "1",
    (GENERATED, AREA): "2",
    (REAL, FALSE_ALARMS): "4",
    (GENERATED, FALSE_ALARMS): "5",
    (REAL, PRECISION): "6",
    (GENERATED, PRECISION): "7",
}
"""Data and metric -> the table that prints the slopes of its curves."""

MAPS = {
    (REAL, AREA): ("5", "10"),
    (GENERATED, AREA): ("7", "11"),
    (REAL, FALSE_ALARMS): ("12",),
    (GENERATED, FALSE_ALARMS): ("14",),
    (REAL, PRECISION): ("16",),
    (GENERATED, PRECISION): ("18",),
}
CURVES = {
    (REAL, AREA): "6",
    (GENERATED, AREA): "8",
    (REAL, FALSE_ALARMS): "13",
    (GENERATED, FALSE_ALARMS): "15",
    (REAL, PRECISION): "17",
    (GENERATED, PRECISION): "19",
}
"""Data and metric -> the numbers of their figures."""

IMAGE_ROOM = 1_500_000
"""Bytes that the images of a figure of cells may take together."""

NO_IMAGES = "These runs keep no such images: embeddings have none."


def draw_images(given: FigureRuns) -> Figure:
    """Return a map with up to four images of every cell."""
    results = _read(given)
    figure = cell_images(results.facts, IMAGE_ROOM, small=False)
    return figure or Figure("", "", (NO_IMAGES,), ())


def draw_marginal(given: FigureRuns) -> Figure:
    """Return the images of other classes that pass most surely, with prediction and confidence."""
    return marginal_figure(_read(given).facts) or Figure("", "", (NO_IMAGES,), ())


def draw_counts(given: FigureRuns) -> Figure:
    """Return a map of the numbers of images."""
    return cell_counts(_read(given).facts)


def draw_maps(given: FigureRuns, drawn: DrawnMetric) -> Figure:
    """Return a map of a metric per detector."""
    return heat_maps(_read(given), drawn)


def draw_curves(given: FigureRuns, drawn: DrawnMetric, table: str) -> Figure:
    """Return a metric by semantic and by covariate level, over all cells as in the paper, and over common ones.

    Args:
        given: the finished run.
        drawn: the metric.
        table: that prints the slopes of its curves.
    """
    results, charts, caption = _read(given), [], []
    styles = series_styles(results.facts.labels)
    for axis in AXES:
        for figure in level_figures(results, axis, styles, drawn):
            charts += [replace(chart, title=f"{axis} shift, {chart.title[0].lower()}{chart.title[1:]}")
                       for chart in figure.charts]  # fmt: skip
            caption += figure.caption
    sentences = (*dict.fromkeys(caption), *(_slopes(results, axis, drawn, table) for axis in AXES))
    return Figure("", "", sentences, tuple(charts), styles, names=("cells", "method"))


def _slopes(results: DetectionResults, axis: str, drawn: DrawnMetric, table: str) -> str:
    """A sentence with the sizes of our slopes and the printed ones, in points per level."""
    metric, setting = slope_of(drawn.metric), f"{axis} shift"
    printed = {
        number.method: number.value
        for number in published_numbers(PAPER, table)
        if number.setting == setting and number.metric.startswith("sensitivity")
    }
    known = []
    for detector in results.facts.detectors:
        slope = results.trend(detector, axis, ALL, metric.key).value
        if slope is not None and detector.label in printed:
            known.append(f"{detector.label} {100 * abs(slope):.2f} ({printed[detector.label]:.2f})")
    return f"Sensitivity to {setting}, ours (printed in Table {table}), points per level: {', '.join(known)}."


def draw_generated(given: FigureRuns) -> Figure:
    """Return the AUROC of real against generated images by semantic level."""
    results = _read(given)
    figure = generated_figure(results, series_styles(results.facts.labels))
    return figure or Figure("", "", (TOO_FEW,), ())


def _apart(setup: ReproductionSetup) -> str:
    """Why the published lists do not do."""
    if setup.embedded:
        return ""
    return (
        "the published lists divide ImageNet-21K by its images and Syn-IS by its prompts, so that no degree of the one "
        "is a degree of the other; run a spec of ood-detection whose pool holds both, with generated = true for images "
        "that are"
    )


def _read(given: FigureRuns) -> DetectionResults:
    return given.runs[0].read(read_run)


def read_run(folder: Path) -> DetectionResults:
    """Return the results of a run."""
    return DetectionResults.read(RunFolder.read(folder))


def _figure(number: str, title: str, draw: Callable[[FigureRuns], Figure], data: str) -> PaperFigure:
    table = TABLES[PAPER][TREND_TABLES[data, AREA]]
    return PaperFigure(number, f"{title}, {data}", partial(_drawn, draw=draw, data=data), (table,))


def _drawn(given: FigureRuns, draw: Callable[[FigureRuns], Figure], data: str) -> Figure:
    """A figure, with what stands in for its data."""
    figure, stand_in = draw(given), (f"{STAND_INS[data]} for {data}.",) if given.setup.embedded else ()
    return replace(figure, caption=(*figure.caption, *stand_in))


def _metric_figures() -> Iterator[PaperFigure]:
    """Yield maps and curves; of the AUROC the main text has a part of the detectors and the appendix all."""
    for (data, drawn), numbers in MAPS.items():
        for number in numbers:
            yield _figure(number, f"{drawn.title} in every cell", partial(draw_maps, drawn=drawn), data)
    for (data, drawn), number in CURVES.items():
        draw = partial(draw_curves, drawn=drawn, table=TREND_TABLES[data, drawn])
        yield _figure(number, f"{drawn.title} by level of shift", draw, data)


_EVERY = (
    _figure("1", "images of the cells", draw_images, REAL),
    _figure("2", "images of other classes that pass for known ones", draw_marginal, REAL),
    _figure("4", "images of the cells", draw_images, GENERATED),
    _figure("9", "images per cell", draw_counts, REAL),
    _figure("20", "predictions and confidence of such images", draw_marginal, REAL),
    *_metric_figures(),
)
_AT_EQUAL_DEGREE = PaperFigure(
    "generated",
    "real against generated images at equal degree (section 3.2)",
    draw_generated,
    (),
    generated_runs,
    _apart,
)

FIGURES: dict[str, PaperFigure] = {
    figure.number: figure for figure in (*sorted(_EVERY, key=lambda figure: int(figure.number)), _AT_EQUAL_DEGREE)
}
"""Number -> the figure, and a check of what section 3.2 assumes of generated images.

Each is drawn from the run of the table that prints the AUROC's trends on its data.
"""
