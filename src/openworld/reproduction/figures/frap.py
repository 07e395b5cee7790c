"""FRAP's figures: a reference's probabilities, its calibration by temperature, and what fusing adds in meaning.

Figures 4 to 7 measure nearness in meaning by each data set's own tree: ImageNet and its 200 classes by WordNet, the
BREEDS tasks by their own hierarchy. On embedded data one world, in Unicode's tree of emoji, stands in for all of them.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path

from openworld.label_free.benchmark.arrays import RunArrays
from openworld.label_free.benchmark.figures import (
    ABOUT_TEMPERATURES,
    TEMPERATURES,
    alignment_gap,
    example_probabilities,
    temperature_chart,
)
from openworld.label_free.benchmark.results import ALL, read_results
from openworld.papers import TABLES, published_numbers
from openworld.papers.results import PaperRun
from openworld.report.charts import Reference
from openworld.report.figure import Figure
from openworld.report.series_style import series_styles
from openworld.reproduction.planned_runs import PaperFigure, Runs
from openworld.results import Results, RunFolder

PAPER = "frap"
ABSENT = {"1": "it is a drawing of the method and holds no results"}

CALIBRATED = TABLES[PAPER]["2"]  # its runs hold the references and the calibration errors of all of FRAP's data sets

NO_EXAMPLES = "These runs keep no example images. Make them anew."
NO_FIXED = "These runs hold no calibration errors at fixed temperatures: make them anew."
STAND_IN = " One embedded world stands in for all of the paper's data sets, so that Figures 4 to 7 are one."


def draw_examples(runs: Runs, dataset: str) -> Figure:
    """Return a chart per reference: example images with the probabilities of the two likeliest classes."""
    _, arrays = _run_of(runs, dataset).read(read_run)
    return example_probabilities(arrays) or Figure("", "", (NO_EXAMPLES,), ())


def draw_temperatures(runs: Runs) -> Figure:
    """Return a chart per data set and reference: calibration error at fixed temperatures and at that of TTC."""
    # Upright lines are the errors of Table 2; there are none of data that stand in for the paper's.
    printed = {(number.dataset, number.method): number.value for number in published_numbers(PAPER, CALIBRATED.number)}
    charts, order = [], list(CALIBRATED.datasets)
    for run in runs:
        results, arrays = run.read(read_run)
        source = run.dataset(arrays.facts["sources"][0]["dataset"])
        for name in arrays.references:
            title = f"{source}, {name}" if len(arrays.references) > 1 else source
            chart = temperature_chart(results, name, {"images": ALL}, title)
            lines = [Reference(printed[source, f"{name} {kind}"], f"printed {kind}", "x") for kind in ("TTC", "raw")
                     if (source, f"{name} {kind}") in printed]  # fmt: skip
            charts += [(source, replace(chart, references=tuple(lines)))] if chart else []
    if not charts:
        return Figure("", "", (NO_FIXED,), ())
    charts.sort(key=lambda chart: order.index(chart[0]) if chart[0] in order else len(order))
    charts_shown = tuple(chart for _, chart in charts)
    about = "Upright lines: the paper's Table 2, which prints TTC and bare similarities."
    caption = (*ABOUT_TEMPERATURES, *([about] if any(chart.references for chart in charts_shown) else []))
    return Figure("", "", caption, charts_shown, series_styles(TEMPERATURES), names=("data_set", "temperature"))


def draw_alignment(runs: Runs, dataset: str) -> Figure:
    """Return charts of natural and of synthetic shifts per reference: what fusing adds in semantic alignment."""
    run = _run_of(runs, dataset)
    _, arrays = run.read(read_run)
    figure, taxonomy = alignment_gap(arrays, by_kind=True), arrays.facts["taxonomy"]
    if figure is None:
        reason = taxonomy["reason"] or "no reference was fused"
        return Figure("", "", (f"Semantic alignment is not known: {reason}.",), ())
    about = f"Nearness in meaning is that of {taxonomy['name']}.{'' if run.datasets else STAND_IN}"
    return replace(figure, caption=(*figure.caption, about))


def _run_of(runs: Runs, dataset: str) -> PaperRun:
    return next((run for run in runs if dataset in run.datasets.values()), runs[0])


def read_run(folder: Path) -> tuple[Results, RunArrays]:
    return read_results(RunFolder.read(folder))


_ALIGNED = {"4": "ImageNet", "5": "Tiny-ImageNet", "6": "Living-17", "7": "Nonliving-26"}
_OF = {dataset: (replace(CALIBRATED, datasets=(dataset,)),) for dataset in _ALIGNED.values()}
_EXAMPLES = partial(draw_examples, dataset="ImageNet")  # the paper does not say of which data its example images are
FIGURES = {
    "2": PaperFigure("2", "a reference's probabilities, raw and calibrated", _EXAMPLES, _OF["ImageNet"]),
    "3": PaperFigure("3", "calibration error by temperature, data set by data set", draw_temperatures, (CALIBRATED,)),
} | {
    number: PaperFigure(
        number, f"semantic alignment gained by fusing, {data}", partial(draw_alignment, dataset=data), _OF[data]
    )
    for number, data in _ALIGNED.items()
}
"""Number -> the figure."""
