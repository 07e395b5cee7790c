"""Figures 5, 7 and 8 of OpenworldAUC (Hua et al., 2025): naming against noticing, and what parameters buy."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from openworld.evaluations.recognition.figures.costs import PARAMETERS
from openworld.evaluations.recognition.figures.learners import NAMING, NOTICING
from openworld.papers import AVERAGE, PaperTable
from openworld.report.charts import Cloud, Quantity, ScatterChart
from openworld.report.figure import Figure
from openworld.report.series_style import series_styles
from openworld.reproduction.figures.numbers import FigureNumbers
from openworld.reproduction.figures.paper_figure import FigureRuns

BASELINE = "CLIP"
AUC = Quantity("openworld_auc", "OpenworldAUC, %")
TAILS = "The thin line from a dot leads to where the paper prints the method."
COOP = (
    "The printed places are means of printed rows: CoOp's eleven average 49.11, and not 47.59, which the paper prints "
    "as their mean."
)
APART = "Ours are of other data than the paper's, whose printed numbers have panels of their own."
Point = tuple[float, float]


@dataclass(frozen=True)
class Plane:
    """Two axes of a scatter: (what the paper calls it, the axis), and the thin line under the dots."""

    x: tuple[str, Quantity]
    y: tuple[str, Quantity]
    guide: str

    def cloud(self, point: Point, printed: Point | None) -> Cloud:
        """Return a method's dot, with a line to the printed one where that is of the same data."""
        words = [self._words(point), *([f"printed {self._words(printed)}"] if printed else [])]
        columns = {f"printed_{axis.key}": (printed and printed[at],) for at, (_, axis) in enumerate((self.x, self.y))}
        return Cloud((point,), (point, printed) if printed else (), "; ".join(words), columns)

    def _words(self, point: Point) -> str:
        return ", ".join(
            f"{name} {axis.write(value)}" for (name, axis), value in zip((self.x, self.y), point, strict=True)
        )

    def chart(
        self, title: str, dots: Mapping[str, Point], printed: Mapping[str, Point], *, named: bool
    ) -> ScatterChart:
        """Return one chart: a dot per method, and where `printed` holds it, the line to it."""
        clouds = {method: self.cloud(point, printed.get(method)) for method, point in dots.items()}
        return ScatterChart(title, self.x[1], self.y[1], clouds, self.guide, named=named)


NAMING_NOTICING = Plane(("HM", NAMING), ("AUROC", NOTICING), "products")
PARAMETERS_AUC = Plane(("parameters", PARAMETERS.quantity), ("OpenworldAUC", AUC), "frontier")
Place = Callable[[str], Point | None]
"""Method -> its dot."""


def draw_tradeoff(given: FigureRuns, table: PaperTable, *, averaged: bool) -> Figure:
    """Return HM against AUROC, one dot per method.

    Args:
        given: finished runs.
        table: that has both metrics.
        averaged: one chart of means over the data sets; else one per data set.
    """
    numbers = FigureNumbers.of(table, given.runs)
    plane, ours = NAMING_NOTICING, numbers.methods()
    if averaged and len(numbers.datasets) > 1:
        title = f"mean of {len(numbers.datasets)} data sets"
        places = {title: (_ours(numbers, AVERAGE), _printed_mean(numbers, numbers.datasets))}
        beside = {f"printed, mean of {len(table.datasets)} data sets": _printed_mean(numbers, table.datasets)}
    else:
        places = {name: (_ours(numbers, name), _printed(numbers, name)) for name in numbers.datasets}
        beside = {f"{name}, printed": _printed(numbers, name) for name in table.datasets}
    charts = [
        plane.chart(name, _dots(ours, dot), _dots(ours, printed) if numbers.same_data else {}, named=averaged)
        for name, (dot, printed) in places.items()
    ]
    if not numbers.same_data:
        methods = numbers.methods(printed=True)
        charts += [plane.chart(name, _dots(methods, dot), {}, named=averaged) for name, dot in beside.items()]
    caption = (
        "Each dot is one method: how well it names (HM, the harmonic mean of base and new accuracy) and how well it "
        "tells base from new (AUROC), means over the seeds; the thin curves join equal products of the two.",
        "Further up and to the right is better: methods that name well and do not notice stand on the right below, "
        f"those that notice and name badly on the left above. {TAILS if numbers.same_data else APART}",
    )
    return _figure(caption, charts)


def draw_costs(given: FigureRuns, table: PaperTable, sizes: PaperTable) -> Figure:
    """Return OpenworldAUC, the mean over the data sets, against tuned parameters, one dot per method.

    Args:
        given: finished runs.
        table, sizes: of OpenworldAUC by data set, and of parameters.
    """
    numbers, counts = FigureNumbers.of(table, given.runs), FigureNumbers.of(sizes, given.runs)
    plane, ours, metric = PARAMETERS_AUC, numbers.methods(), table.metrics[0]
    several = len(numbers.datasets) > 1
    place = AVERAGE if several else numbers.datasets[0]

    def dot(method: str) -> Point | None:
        return _point(_number(counts, "", method, "n_params"), _number(numbers, place, method, metric))

    def printed(method: str, datasets: Sequence[str] = table.datasets) -> Point | None:
        size = counts.printed.get(("", method, "n_params"))
        return _point(size, numbers.printed_mean(method, metric, datasets))

    title = f"mean of {len(numbers.datasets)} data sets" if several else place
    tails = _dots(ours, lambda method: printed(method, numbers.datasets)) if numbers.same_data else {}
    charts = [plane.chart(title, _dots(ours, dot), tails, named=True)]
    if not numbers.same_data:
        dots = _dots(numbers.methods(printed=True), printed)
        charts.append(plane.chart(f"printed, mean of {len(table.datasets)} data sets", dots, {}, named=True))
    caption = (
        "Each dot is one method: its OpenworldAUC, mean over data sets and seeds, against how many numbers it tunes, "
        "on a logarithmic scale; what tunes nothing stands before the break.",
        "Up and to the left is better; no method that tunes as little or less reaches above the thin steps. "
        f"{TAILS if numbers.same_data else APART}",
        COOP,
    )
    return _figure(caption, charts)


def _figure(caption: tuple[str, ...], charts: Sequence[ScatterChart]) -> Figure:
    methods = dict.fromkeys(name for chart in charts for name in chart.series)
    return Figure("", "", caption, tuple(charts), series_styles(list(methods), [BASELINE]), names=("panel", "method"))


def _dots(methods: Sequence[str], place: Place) -> dict[str, Point]:
    """The dots of the methods that have one."""
    found = {method: place(method) for method in methods}
    return {method: point for method, point in found.items() if point is not None}


def _ours(numbers: FigureNumbers, dataset: str) -> Place:
    return lambda method: _point(*(_number(numbers, dataset, method, metric) for metric in ("HM", "AUROC")))


def _printed(numbers: FigureNumbers, dataset: str) -> Place:
    return lambda method: _point(*(numbers.printed.get((dataset, method, metric)) for metric in ("HM", "AUROC")))


def _printed_mean(numbers: FigureNumbers, datasets: Sequence[str]) -> Place:
    return lambda method: _point(*(numbers.printed_mean(method, metric, datasets) for metric in ("HM", "AUROC")))


def _number(numbers: FigureNumbers, dataset: str, method: str, metric: str) -> float | None:
    value = numbers.value(dataset, method, metric)
    return value and value.value


def _point(x: float | None, y: float | None) -> Point | None:
    return None if x is None or y is None else (x, y)
