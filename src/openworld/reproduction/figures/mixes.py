"""Figure 2 of OpenworldAUC (Hua et al., 2025): which metric moves with the ratio of new to base images?"""

from collections.abc import Iterator, Sequence
from functools import partial

from openworld.papers import METRICS, PublishedNumber, published_numbers
from openworld.papers.results import PaperResult
from openworld.report.charts import Line, LineChart, Quantity
from openworld.report.figure import Figure
from openworld.report.series_style import series_styles
from openworld.reproduction.figures.paper_figure import FigureRuns
from openworld.reproduction.paper_results import paper_results

DRAWN = ("OverallAcc", "HM", "AUROC", "OpenworldAUC")
TABLES = ("11", "12")
METHOD = "TCP"  # of Tables 11 and 12
RATIO = Quantity("ratio", "new images for one base image", "number", 6, log=True, at_values=True)
VALUE = Quantity("value", "metric, %", ends=(0, 1))
SETTING = "new/base="


def draw_mixes(given: FigureRuns) -> Figure:
    """Return two charts per data set, ours and the printed one, one line per metric."""
    printed = {numbers[0].dataset: _printed(numbers) for numbers in map(partial(_sweep, given.paper), TABLES)}
    numbers = [number for table in TABLES for number in paper_results(given.paper, table, given.runs)]
    of_method = [number for number in numbers if number.method == METHOD]
    ours = {name: _ours(name, of_method) for name in dict.fromkeys(number.dataset for number in of_method)}
    same = [name for name in printed if name in ours]
    pairs = [(ours[name], printed[name]) for name in same]
    charts = [chart for pair in pairs for chart in pair] or [*ours.values(), *printed.values()]
    caption = (
        f"Four numbers of {METHOD} while base or new images are left out, so that there are more or fewer new images "
        "for one base image: means over the seeds and over draws of the images, the band one standard deviation of a "
        "single draw.",
        "A metric that should tell learners apart must stay level: overall accuracy follows the larger of the two "
        "kinds of images. Printed are Tables 11 and 12, of one draw each.",
    )
    styles = series_styles(list(DRAWN))
    return Figure("", "", caption, tuple(charts), styles, names=("panel", "metric"), together=2)


def _ours(dataset: str, numbers: Sequence[PaperResult]) -> LineChart:
    lines = {}
    for metric in DRAWN:
        values = {
            float(number.setting.removeprefix(SETTING)): number.value
            for number in numbers
            if (number.dataset, number.metric) == (dataset, metric) and number.setting.startswith(SETTING)
        }
        ratios = sorted(values)
        low, high = ([values[at].value + sign * (values[at].deviation or 0) for at in ratios] for sign in (-1, 1))
        lines[metric] = Line(ratios, [values[at].value for at in ratios], low, high)
    return LineChart(f"{dataset}, ours", RATIO, VALUE, lines, named=True)


def _sweep(paper: str, table: str) -> list[PublishedNumber]:
    """The printed numbers of a table that are of one ratio, and not of all."""
    return [number for number in published_numbers(paper, table) if number.setting.startswith(SETTING)]


def _printed(numbers: Sequence[PublishedNumber]) -> LineChart:
    lines = {metric: Line(*zip(*_points(numbers, metric), strict=True)) for metric in DRAWN}
    return LineChart(f"{numbers[0].dataset}, printed in Table {numbers[0].table}", RATIO, VALUE, lines, named=True)


def _points(numbers: Sequence[PublishedNumber], metric: str) -> Iterator[tuple[float, float]]:
    yield from sorted(
        (float(number.setting.removeprefix(SETTING)), number.value / METRICS[metric].scale)
        for number in numbers
        if number.metric == metric
    )
