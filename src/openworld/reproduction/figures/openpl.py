"""OpenPL's figures: Dynamic Robustness Curves, one panel per data set whose classes or images are new (section 4).

What is printed are curves without numbers; the areas under them are printed in Tables 10 to 33, and stand beside ours
in the data of each figure.
"""

from dataclasses import replace
from functools import partial
from statistics import median

from openworld.evaluations.dynamic.paper import scenario_runs
from openworld.evaluations.dynamic.report import Average
from openworld.papers import METRICS, TABLES, PaperTable, published_numbers
from openworld.report.charts import LineChart
from openworld.report.figure import Figure
from openworld.report.layout import Brief, Lines
from openworld.report.sentences import percent
from openworld.report.series_style import series_styles
from openworld.reproduction.planned_runs import PaperFigure, Runs
from openworld.results import Results

PAPER = "openpl"
AREA = "AUC"
CURVES = Lines(name="curves", title="", metrics=("accuracy",), along="level", per=("data_set",))

ABSENT: dict[str, str] = {}  # the paper has no other figures


def draw_curves(runs: Runs, averaged: PaperTable) -> Figure:
    """Return one chart per data set of a scenario, one line per method, in the order of the paper."""
    order = list(averaged.datasets)
    placed = list(scenario_runs(runs, averaged))
    placed.sort(key=lambda each: order.index(each[0]) if each[0] in order else len(order))
    rows, areas = [], {}
    for dataset, curves, run in placed:
        for row in Average((curves,)).rows():
            method, level = run.method(row.entity), row.where.get("level")
            if level is not None:
                rows.append(replace(row, entity=method, where={"data_set": dataset, "level": level}))
            elif row.metric.key == METRICS[AREA].key:
                areas[dataset, method] = row.value.value
    tables = [table for table in TABLES[PAPER].values() if table.tasks == averaged.tasks and AREA in table.metrics]
    numbers = [number for table in tables for number in published_numbers(PAPER, table.number)]
    printed = {(number.dataset, number.method): number.in_data for number in numbers if number.metric == AREA}

    baseline, results = placed[0][2].method(placed[0][1].baseline), Results("dynamic", tuple(rows))
    styles = series_styles(list(results.entities), [baseline])
    figure = CURVES.figure(Brief(results, baseline, label="method"), styles) or Figure("", "", (), ())
    charts = []
    for chart in (chart for chart in figure.charts if isinstance(chart, LineChart)):
        series = {}
        for name, line in chart.series.items():
            both = {"area": areas[chart.title, name], "printed_area": printed.get((chart.title, name))}
            columns = {key: [value] * len(line.x) for key, value in both.items()}
            series[name] = replace(line, further={**line.further, **columns})
        charts.append(replace(chart, series=series))
    apart = [abs(areas[key] - printed[key]) for key in areas if key in printed]
    about = (
        f"The paper prints its curves without numbers; of {len(apart)} areas under them that its tables print, ours "
        f"differ by {percent(median(apart))} points in the median, and both are in the data of the figure."
        if apart
        else "The paper prints its curves without numbers, and of other data: nothing is subtracted."
    )
    caption = (*figure.caption, about)
    return replace(figure, charts=tuple(charts), caption=caption, names=("data_set", "method"))


_SHOWN = {
    "1": ("6", "accuracy under emerging new classes, data set by data set"),
    "2": ("7", "accuracy under a varying ratio of new classes, data set by data set"),
    "3": ("8", "accuracy under dynamic distribution shift, variant by variant"),
    "4": ("9", "accuracy under co-evolution of distribution and classes, data set by data set"),
}
FIGURES: dict[str, PaperFigure] = {
    number: PaperFigure(number, title, partial(draw_curves, averaged=TABLES[PAPER][table]), (TABLES[PAPER][table],))
    for number, (table, title) in _SHOWN.items()
}
"""Number -> the figure; each is read from the runs of the table that averages its scenario."""
