"""OpenPL's figures: Dynamic Robustness Curves, one panel per data set whose classes or images are new (section 4).

What is printed are curves without numbers; the areas under them are printed in Tables 10 to 33, and stand beside ours
in the data of each figure.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median

from openworld.evaluations.dynamic.averages import Average
from openworld.evaluations.dynamic.curves import ScenarioCurves
from openworld.evaluations.dynamic.figures import curve_figure
from openworld.evaluations.dynamic.paper import PlacedRun, scenario_runs
from openworld.papers import TABLES, PaperTable, published_numbers
from openworld.report.charts import LineChart
from openworld.report.figure import Figure
from openworld.report.series_style import series_styles
from openworld.report.text import percent
from openworld.reproduction.figures.paper_figure import FigureRuns, PaperFigure
from openworld.results import Results

PAPER = "openpl"
AREA = "AUC"

ABSENT: dict[str, str] = {}
"""The paper has no other figures."""


def _figure(number: str, table: str, title: str) -> PaperFigure:
    averaged = TABLES[PAPER][table]
    return PaperFigure(number, title, lambda runs: draw_curves(runs, averaged), (averaged,))


FIGURES: dict[str, PaperFigure] = {
    figure.number: figure
    for figure in (
        _figure("1", "6", "accuracy under emerging new classes, data set by data set"),
        _figure("2", "7", "accuracy under a varying ratio of new classes, data set by data set"),
        _figure("3", "8", "accuracy under dynamic distribution shift, variant by variant"),
        _figure("4", "9", "accuracy under co-evolution of distribution and classes, data set by data set"),
    )
}
"""Number -> the figure; each is read from the runs of the table that averages its scenario."""


def draw_curves(given: FigureRuns, averaged: PaperTable) -> Figure:
    """Return one chart per data set of a scenario, one line per method, in the order of the paper.

    Args:
        given: the finished runs.
        averaged: the table that averages the scenario's data sets.
    """
    known = list(scenario_runs(given.runs, averaged))
    order = list(averaged.datasets)
    known.sort(key=lambda each: order.index(each[0]) if each[0] in order else len(order))
    curves = [_in_papers_words(each) for each in known]
    runs = [Average((each,)) for each in curves]
    results = Results("dynamic", tuple(row for run in runs for row in run.rows()))
    baseline = curves[0].baseline
    styles = series_styles(list(dict.fromkeys(name for each in curves for name in each.learners)), [baseline])
    figure = curve_figure(results, runs, baseline, styles)
    areas = _printed_areas(averaged.tasks[0])
    charts = tuple(
        _with_areas(chart, each, areas, dataset)
        for chart, each, (dataset, *_) in zip(figure.charts, curves, known, strict=True)
    )
    tuning = f"Tuning pays where a line stays above that of {baseline}, grey and dashed, which saw the same images."
    caption = (figure.caption[0], tuning, *_about_areas(curves, areas, [dataset for dataset, *_ in known]))
    return replace(figure, charts=charts, caption=caption, names=("data_set", "method"))


def _in_papers_words(placed: PlacedRun) -> ScenarioCurves:
    """The curves with the paper's names of the methods and of what is new."""
    dataset, curves, run = placed
    key = replace(curves.key, **({"against": dataset} if curves.key.against else {"source": dataset}))
    return replace(
        curves,
        key=key,
        curves={run.method(name): curve for name, curve in curves.curves.items()},
        answers={run.method(name): answers for name, answers in curves.answers.items()},
        baseline=run.method(curves.baseline),
    )


Areas = Mapping[tuple[str, str], float]
"""(data set, method) -> the printed area, a fraction."""


def _printed_areas(scenario: str) -> Areas:
    """The areas that are printed of a scenario, in any table."""
    tables = [table for table in TABLES[PAPER].values() if table.tasks == (scenario,) and AREA in table.metrics]
    numbers = (number for table in tables for number in published_numbers(PAPER, table.number))
    return {(number.dataset, number.method): number.in_data for number in numbers if number.metric == AREA}


def _with_areas(chart: LineChart, curves: ScenarioCurves, areas: Areas, dataset: str) -> LineChart:
    """The chart with the area under every line, ours and the printed one, as columns of its data."""
    series = {}
    for name, line in chart.series.items():
        count, ours = len(line.x), curves.curves[name].robustness.auc
        columns = {"area": [ours] * count, "printed_area": [areas.get((dataset, name))] * count}
        series[name] = replace(line, further={**line.further, **columns})
    return replace(chart, series=series)


def _about_areas(curves: Sequence[ScenarioCurves], areas: Areas, datasets: Sequence[str]) -> Iterator[str]:
    """What is printed of these curves."""
    pairs = [
        (each.curves[name].robustness.auc, areas[dataset, name])
        for each, dataset in zip(curves, datasets, strict=True)
        for name in each.learners
        if (dataset, name) in areas
    ]
    if not pairs:
        yield "The paper prints its curves without numbers, and of other data: nothing is subtracted."
        return
    size = median(abs(ours - printed) for ours, printed in pairs)
    yield (
        f"The paper prints its curves without numbers; of {len(pairs)} areas under them that its tables print, ours "
        f"differ by {percent(size)} points in the median, and both are in the data of the figure."
    )
