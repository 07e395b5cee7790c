"""Figures 6 and 10 to 13 of OpenworldAUC (Hua et al., 2025), drawn: one chart per data set."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from openworld.evaluations.recognition.figures.sweeps import setting, shots
from openworld.evaluations.recognition.results import SettingResults
from openworld.papers import published_numbers
from openworld.report.charts import IntervalChart, IntervalRow, LineChart, Quantity, Reference, ScatterChart, Spot
from openworld.report.figure import Figure
from openworld.report.series_style import series_styles
from openworld.report.text import percent
from openworld.reproduction.figures.paper_figure import FigureRuns
from openworld.reproduction.figures.profile import in_order, settings_of
from openworld.reproduction.figures.sweeps import BASELINE, METHOD, SHOTS, SWEEPS

AUC = Quantity("openworld_auc", "OpenworldAUC, %")
TITLES = {"partitions": "detector prompts K", "lambda": "weight of the detectors' cross-entropy"}
PUBLISHED = {"partitions": "at K = 3", "lambda": "at 0.5", "mixture": "of GMoP"}


def draw_sweep(given: FigureRuns, name: str, datasets: Sequence[str]) -> Figure:
    """Return one chart per data set of a sweep.

    Args:
        given: finished runs.
        name: of `SWEEPS`.
        datasets: that the figure shows, as the paper calls them.
    """
    found = settings_of(given.named(f"{SWEEPS[name].name}-"))
    shown = in_order(found, datasets)
    methods = list(dict.fromkeys(method for each in shown for method in each.learners))
    styles, printed = series_styles(methods, [BASELINE]), printed_areas(given.paper)
    by_title = {each.title: [other for other in shown if other.title == each.title] for each in shown}
    if name == "shots":
        figures = {title: shots(tuple(each), dict(styles)) for title, each in by_title.items()}
        charts = [_with_rings(figure, title, printed) for title, figure in figures.items() if figure]
        caption = SHOTS_CAPTION
    elif name == "mixture":
        charts = [_intervals(title, each[0], printed) for title, each in by_title.items()]
        caption = MIXTURE_CAPTION
    else:
        figures = {title: setting(tuple(each), dict(styles)) for title, each in by_title.items()}
        charts = [_with_reference(figure, title, name, printed) for title, figure in figures.items() if figure]
        caption = SETTING_CAPTION
    if not charts:
        return Figure("", "", ("No value of the sweep has an OpenworldAUC, so that nothing can be drawn.",), ())
    same = bool(set(by_title) & {title for title, _ in printed})
    said = RINGS if name == "shots" else LINE
    return Figure("", "", (*caption, said if same else OTHER_DATA), tuple(charts), styles, names=("data_set", "method"))


LINE = "The line across is what Table 2 prints of the published mixture."
OTHER_DATA = "The printed figure is a picture without numbers, of other data than ours."
SETTING_CAPTION = (
    "OpenworldAUC of the mixture of prompts where a single setting differs, means over the seeds; the bar through a "
    "dot is 95 % over images, given the seeds.",
    "Where the line is level the setting hardly matters; bars of two dots may overlap although the two differ, for "
    "they were scored on the same images.",
)
SHOTS_CAPTION = (
    "OpenworldAUC of methods that were tuned with more and more images of each base class, on a logarithmic scale: "
    "means over the seeds, the band from the lowest to the highest of them where there are several.",
    "Where a line still rises at its end, more images would pay; what tunes nothing stays level, and whatever lies "
    "below it was better left untuned.",
)
RINGS = f"A ring at {SHOTS[-1]} images marks what Table 2 prints."
MIXTURE_CAPTION = (
    "OpenworldAUC of the mixture of prompts, of the mixture whose new classes are named by the prompt that was tuned "
    "on base classes (w/o ZS h), and of one prompt for all three roles: means over the seeds; the bar is 95 % over "
    "images, given the seeds, the faint one behind it spans the seeds.",
    "The further right, the better.",
)


def printed_areas(paper: str) -> dict[tuple[str, str], float]:
    """Return the printed OpenworldAUC by (data set, method): Table 2, at 16 shots and with published settings."""
    return {(number.dataset, number.method): number.in_data for number in published_numbers(paper, "2")}


def _with_rings(figure: Figure, title: str, printed: Mapping[tuple[str, str], float]) -> LineChart:
    chart, lines = figure.charts[0], {}
    for method, line in chart.series.items():
        area = printed.get((title, method))
        rings = () if area is None else (Spot(SHOTS[-1], area, f"printed {percent(area)} %"),)
        columns = {"printed": [area if shot == SHOTS[-1] else None for shot in line.x]}
        lines[method] = replace(line, rings=rings, further={**line.further, **columns})
    return replace(chart, title=title, series=lines)


def _with_reference(figure: Figure, title: str, name: str, printed: Mapping[tuple[str, str], float]) -> ScatterChart:
    chart = figure.charts[0]
    across = _references(title, name, printed)
    x, y = replace(chart.x, title=TITLES[name]), replace(chart.y, covers=tuple(line.value for line in across))
    return replace(chart, title=title, x=x, y=y, references=across)


def _references(
    title: str, name: str, printed: Mapping[tuple[str, str], float], axis: str = "y"
) -> tuple[Reference, ...]:
    area = printed.get((title, METHOD))
    return () if area is None else (Reference(area, f"printed {PUBLISHED[name]}", axis),)


def _intervals(title: str, results: SettingResults, printed: Mapping[tuple[str, str], float]) -> IntervalChart:
    rows = {}
    for method in results.learners:
        result = results.result(method, AUC.key)
        if result.value.value is not None:
            images = result.value.over("images")
            ends = (images.low, images.high) if images else None
            seeds = (min(result.per_seed), max(result.per_seed)) if len(result.per_seed) > 1 else None
            rows[method] = IntervalRow(result.value.value, ends, seeds, further={"seeds": len(result.per_seed)})
    return IntervalChart(title, AUC, rows, _references(title, "mixture", printed, "x"))
