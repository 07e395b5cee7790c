"""Figures 3 and 9 of OpenworldAUC (Hua et al., 2025): Miss-Hit curves, and what OpenworldAUC is made of."""

from collections.abc import Sequence
from dataclasses import replace

from openworld.datasets import DATASETS
from openworld.evaluations.recognition.figures.learners import miss_hit
from openworld.evaluations.recognition.outcome import Outcome, load
from openworld.evaluations.recognition.paper import dataset_of
from openworld.evaluations.recognition.results import SettingResults, learner_results, place_of
from openworld.evaluations.recognition.settings import by_setting
from openworld.papers import PaperTable
from openworld.papers.results import PaperRun
from openworld.report.charts import Line, LineChart, Quantity
from openworld.report.figure import Figure
from openworld.report.series_style import series_styles
from openworld.reproduction.changes import ADDED
from openworld.reproduction.figures.numbers import FigureNumbers
from openworld.reproduction.figures.paper_figure import FigureRuns
from openworld.reproduction.figures.tradeoff import BASELINE
from openworld.reproduction.openworldauc import STAND_INS
from openworld.results import Results

PARTS = ("BaseAcc", "NewAcc", "AUROC")
PART = Quantity("part", "", "number", labels=("base accuracy", "new accuracy", "AUROC"))
VALUE = Quantity("value", "%")
ON_SOURCE = (None, "source")


def settings_of(runs: Sequence[PaperRun]) -> tuple[SettingResults, ...]:
    """Return the outcomes of runs by setting, in the paper's words; those of targets of generalisation left out.

    A setting is called as its data set, and its results hold every number of every method, without tests.
    """
    named = [_in_papers_words(run, outcome) for run in runs for outcome in run.read(load)]
    titles = {id(outcome): title for title, outcome in named}
    kept = [outcome for _, outcome in named if outcome.record.kind in ON_SOURCE]
    settings = []
    for key, methods in by_setting(kept).items():
        title = titles[id(next(iter(methods.values()))[0])]
        place = place_of(key, title)
        rows = tuple(row for method, seeds in methods.items() for row in learner_results(method, seeds, place))
        settings.append(SettingResults(key, title, methods, Results("recognition", rows)))
    return tuple(settings)


def _in_papers_words(run: PaperRun, outcome: Outcome) -> tuple[str, Outcome]:
    record = outcome.record
    return dataset_of(run, record), replace(outcome, record=replace(record, learner=run.method(record.learner)))


def in_order(settings: Sequence[SettingResults], datasets: Sequence[str]) -> tuple[SettingResults, ...]:
    """Return the settings on a table's data sets, in its order; all where none is on one of them."""
    known = [setting for setting in settings if setting.title in datasets]
    return tuple(sorted(known, key=lambda setting: datasets.index(setting.title)) if known else settings)


def draw_miss_hit(given: FigureRuns, table: PaperTable) -> Figure:
    """Return one chart of Miss-Hit curves per data set, one curve per method."""
    settings = in_order(settings_of(given.runs), table.datasets)
    methods = dict.fromkeys(method for setting in settings for method in setting.learners)
    styles = series_styles(list(methods), [BASELINE])
    figure = miss_hit(settings, styles)
    if figure is None:
        return Figure(
            "", "", ("No method has base and new images that it names right, so that no curve is defined.",), ()
        )
    said = "The paper prints its curves without numbers; the areas under them are those of Tables 8 and 9."
    return replace(figure, caption=(*figure.caption, said))


def draw_profile(given: FigureRuns, table: PaperTable) -> Figure:
    """Return one chart per data set, one line per method over its three parts; the printed ones beside."""
    numbers = FigureNumbers.of(table, given.runs)
    shown = [name for name in numbers.datasets if name in _wanted(given, table)] or numbers.datasets
    ours = {name: _profiles(numbers, name) for name in shown}
    printed = {name: _printed(numbers, name) for name in table.datasets}
    if numbers.same_data:
        pairs = [_pair(name, ours[name], printed[name]) for name in shown]
        charts = tuple(chart for pair in pairs for chart in pair)
    else:
        alone = {f"{name}, ours": lines for name, lines in ours.items()}
        alone |= {f"{name}, printed": lines for name, lines in printed.items()}
        charts = tuple(LineChart(title, PART, VALUE, lines) for title, lines in alone.items())
    methods = dict.fromkeys(name for chart in charts for name in chart.series)
    caption = (
        "What OpenworldAUC is made of, one line per method: how many base images it names right, how many new ones, "
        "and how well it tells the two kinds apart; means over the seeds.",
        "A good method is high everywhere: one that was tuned to notice may fall in the middle, one that was tuned to "
        "name on the right. Printed is Table 14.",
    )
    return Figure(
        "", "", caption, charts, series_styles(list(methods), [BASELINE]), names=("panel", "method"), together=2
    )


def _pair(name: str, ours: dict[str, Line], printed: dict[str, Line]) -> tuple[LineChart, LineChart]:
    """Both charts of a data set on one range of values."""
    values = tuple(y for lines in (ours, printed) for line in lines.values() for _, y in line.known)
    axis = replace(VALUE, covers=values)
    return LineChart(f"{name}, ours", PART, axis, ours), LineChart(f"{name}, printed", PART, axis, printed)


def _wanted(given: FigureRuns, table: PaperTable) -> set[str]:
    """What our numbers call the data sets of the table: a run may hold further ones."""
    places = [given.setup.place(title, STAND_INS) for title in table.datasets]
    if not given.setup.embedded:
        return set(table.datasets)
    return {f"{place.dataset}, {place.domain or DATASETS[place.dataset].domains[0]}" for place in places}


def _profiles(numbers: FigureNumbers, dataset: str) -> dict[str, Line]:
    """Lines of the table's methods, and of added ones; of all where none of the table's was run."""
    analysed = [name for name in numbers.methods() if name in numbers.methods(printed=True) or name.endswith(ADDED)]
    chosen = analysed or numbers.methods()
    by_method = {method: [numbers.value(dataset, method, part) for part in PARTS] for method in chosen}
    return {
        method: Line(range(len(PARTS)), [value and value.value for value in values])
        for method, values in by_method.items()
        if any(values)
    }


def _printed(numbers: FigureNumbers, dataset: str) -> dict[str, Line]:
    by_method = {
        method: [numbers.printed.get((dataset, method, part)) for part in PARTS]
        for method in numbers.methods(printed=True)
    }
    return {method: Line(range(len(PARTS)), values) for method, values in by_method.items() if any(values)}
