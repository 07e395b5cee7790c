"""FRAP's figures: a reference's probabilities, its calibration by temperature, and what fusing adds in meaning.

Figures 4 to 7 measure nearness in meaning by each data set's own tree: ImageNet and its 200 classes by WordNet, the
BREEDS tasks by their own hierarchy. On embedded data one world, in Unicode's tree of emoji, stands in for all of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from openworld.evaluations.accuracy_estimation.measurements import Measurements
from openworld.evaluations.accuracy_estimation.reference_figures import (
    TEMPERATURES,
    alignment_gap,
    examples_figure,
    temperature_chart,
    temperatures_caption,
)
from openworld.evaluations.accuracy_estimation.reference_results import ALL
from openworld.evaluations.accuracy_estimation.results import read_results
from openworld.papers import TABLES, PaperTable, published_numbers
from openworld.papers.results import PaperRun
from openworld.report.charts import IntervalChart, Reference
from openworld.report.figure import Figure
from openworld.report.series_style import series_styles
from openworld.reproduction.figures.paper_figure import FigureRuns, PaperFigure
from openworld.results import Results, RunFolder

PAPER = "frap"
ABSENT = {"1": "it is a drawing of the method and holds no results"}

CALIBRATED = TABLES[PAPER]["2"]
"""Its runs hold the references and the calibration errors of all of FRAP's data sets."""

PRINTED = {"TTC": "printed TTC", "raw": "printed raw"}
"""How a method of Table 2 ends -> what a line at its printed error says."""

NO_EXAMPLES = "These runs keep no example images: none of their references is a model."
NO_FIXED = "These runs hold no calibration errors at fixed temperatures: they have no reference."

EXAMPLES_OF = "ImageNet"
"""The paper does not say of which data its example images are."""

STAND_IN = " One embedded world stands in for all of the paper's data sets, so that Figures 4 to 7 are one."


def _of(dataset: str) -> tuple[PaperTable, ...]:
    return (replace(CALIBRATED, datasets=(dataset,)),)


def draw_examples(given: FigureRuns, dataset: str) -> Figure:
    """Return a chart per reference: example images with the probabilities of the two likeliest classes."""
    figure = examples_figure(*_run_of(given, dataset).read(_folder_and_measurements))
    return figure or Figure("", "", (NO_EXAMPLES,), ())


def draw_temperatures(given: FigureRuns) -> Figure:
    """Return a chart per data set and reference: calibration error at fixed temperatures and at that of TTC."""
    charts = [chart for run in given.runs for chart in _temperature_charts(run, given)]
    if not charts:
        return Figure("", "", (NO_FIXED,), ())
    order = list(CALIBRATED.datasets)
    charts.sort(key=lambda chart: next((place for place, name in enumerate(order) if chart.title.startswith(name)), 99))
    caption = (*temperatures_caption(), "Upright lines: the paper's Table 2, which prints TTC and bare similarities.")
    caption = caption if any(chart.references for chart in charts) else caption[:-1]
    return Figure("", "", caption, tuple(charts), series_styles(TEMPERATURES), names=("data_set", "temperature"))


def draw_alignment(given: FigureRuns, dataset: str) -> Figure:
    """Return charts of natural and of synthetic shifts per reference: what fusing adds in semantic alignment."""
    _, measured = _run_of(given, dataset).read(read_run)
    figure, taxonomy = alignment_gap(measured, by_kind=True), measured.records[0].taxonomy
    if figure is None:
        reason = taxonomy.reason or "no reference was fused"
        return Figure("", "", (f"Semantic alignment is not known: {reason}.",), ())
    text = f"Nearness in meaning is that of {taxonomy.name}.{STAND_IN * given.setup.embedded}"
    return replace(figure, caption=(*figure.caption, text))


def _alignment(number: str, dataset: str) -> PaperFigure:
    title = f"semantic alignment gained by fusing, {dataset}"
    return PaperFigure(number, title, partial(draw_alignment, dataset=dataset), _of(dataset))


FIGURES: dict[str, PaperFigure] = {
    figure.number: figure
    for figure in (
        PaperFigure(
            "2",
            "a reference's probabilities, raw and calibrated",
            partial(draw_examples, dataset=EXAMPLES_OF),
            _of(EXAMPLES_OF),
        ),
        PaperFigure("3", "calibration error by temperature, data set by data set", draw_temperatures, (CALIBRATED,)),
        _alignment("4", "ImageNet"),
        _alignment("5", "Tiny-ImageNet"),
        _alignment("6", "Living-17"),
        _alignment("7", "Nonliving-26"),
    )
}
"""Number -> the figure."""


def _run_of(given: FigureRuns, dataset: str) -> PaperRun:
    """The run of a data set, or what stands in for it."""
    return next((run for run in given.runs if dataset in run.datasets.values()), given.runs[0])


def _temperature_charts(run: PaperRun, given: FigureRuns) -> Iterator[IntervalChart]:
    results, measured = run.read(read_run)
    source = run.dataset(measured.records[0].sources[0].dataset)
    several = len(measured.references) > 1
    for name in measured.references:
        title = f"{source}, {name}" if several else source
        chart = temperature_chart(results, name, ALL, title)
        if chart is not None:
            yield replace(chart, references=tuple(_printed(name, source)))


def _printed(reference: str, dataset: str) -> Sequence[Reference]:
    """The errors of Table 2; none of data that stand in for the paper's."""
    numbers = [each for each in published_numbers(PAPER, CALIBRATED.number) if each.dataset == dataset]
    by_kind = {each.method.rpartition(" ")[2]: each.value for each in numbers if each.method.startswith(reference)}
    return [Reference(by_kind[kind], text, axis="x") for kind, text in PRINTED.items() if kind in by_kind]


def read_run(folder: Path) -> tuple[Results, Measurements]:
    """Return the results and the measurements of a run."""
    return read_results(RunFolder.read(folder))


def _folder_and_measurements(folder: Path) -> tuple[RunFolder, Measurements]:
    run = RunFolder.read(folder)
    return run, read_results(run)[1]
