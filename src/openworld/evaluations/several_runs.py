"""Several runs of one evaluation, a data set each: means over them, ranks, and one panel a data set.

A number counts where every run has one of the same metric at the same place, such as the mean over near sets. Where the
places name the data set, the number of each run as a whole counts, or the mean over its places, such as targets.
Methods that some run lacks are shown there and have no mean.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from openworld._errors import OpenworldError, unknown_name
from openworld.evaluations.stories import read_story
from openworld.report.charts import IntervalChart, IntervalRow, Quantity
from openworld.report.data_set_means import averages_table, ranks_figure
from openworld.report.figure import Figure
from openworld.report.page import Page, Section
from openworld.report.report import Report
from openworld.report.sentences import leads, listed
from openworld.report.series_style import series_styles
from openworld.results import Result, Results, Standing, Value, mean, standing
from openworld.results.over_datasets import DatasetMeans

MOST_PLACES = 12
"""Places of one metric that are shown, those with the fewest names first; all are in the results."""


@dataclass(frozen=True)
class SeveralRuns:
    """The results of runs by the name of their data set.

    Args:
        evaluation: of all of them.
        results: {data set: what its run measured}.
    """

    evaluation: str
    results: Mapping[str, Results]

    @classmethod
    def read(cls, runs: Mapping[str, Path]) -> "SeveralRuns":
        """Read finished runs.

        Args:
            runs: {name of the data set: folder of a run}, at least two.

        Raises:
            OpenworldError: fewer than two, runs of two evaluations, a folder without a finished run.
        """
        if len(runs) < 2:
            raise OpenworldError(f"{len(runs)} run came, and a mean is over two or more; give the folders of several.")
        results = {name: read_story(folder).results for name, folder in runs.items()}
        kinds = dict.fromkeys(each.evaluation for each in results.values())
        if len(kinds) > 1:
            raise OpenworldError(f"these are runs of {listed(tuple(kinds))}; give runs of one evaluation.")
        return cls(next(iter(kinds)), results)

    def means(self, metric: str = "") -> tuple[DatasetMeans, ...]:
        """Return the means of a metric, one for every place that all runs share, those with the fewest names first.

        Args:
            metric: its key; "" for the first metric of the first run that all runs share a place in.

        Raises:
            OpenworldError: a metric that a run does not have, or that no two runs have of the same thing.
        """
        first, *others = self.results.values()
        known = [key for key in first.metrics() if all(key in other.metrics() for other in others)]
        if metric and metric not in known:
            raise unknown_name("metric of all these runs", metric, known)
        for key in [metric] if metric else known:
            if found := self._means(key):
                return found
        raise OpenworldError(
            f"these runs have no {metric or 'number'} of the same thing; they name their methods apart."
        )

    def _means(self, metric: str) -> tuple[DatasetMeans, ...]:
        rows = [
            [row for row in results if row.metric.key == metric and row.entity] for results in self.results.values()
        ]
        places = set.intersection(*({frozenset(row.where.items()) for row in each} for each in rows))
        if not places:
            rows = [_as_a_whole(results, metric) for results in self.results.values()]
            places = {frozenset()} if all(rows) else set()
        ordered = sorted(places, key=lambda place: (len(place), sorted(map(str, place))))
        return tuple(self._mean_at(dict(place), rows) for place in ordered)

    def _mean_at(self, place: Mapping, rows: Sequence[Sequence[Result]]) -> DatasetMeans:
        here = [{row.entity: row for row in each if dict(row.where) == place} for each in rows]
        methods = dict.fromkeys(name for each in here for name in each)
        numbers = {name: tuple(each.get(name) for each in here) for name in methods}
        metric = next(row.metric for each in here for row in each.values())
        return DatasetMeans(metric, tuple(self.results), numbers, dict(place))


def _as_a_whole(results: Results, metric: str) -> list[Result]:
    """The number of a run as a whole for every method: its only one, or the mean over its places, such as targets."""
    rows: dict[str, list[Result]] = {}
    for row in results.overall():
        if row.metric.key == metric and row.entity:
            rows.setdefault(row.entity, []).append(row)
    return [replace(own[0], where={}) if len(own) == 1 else _mean_of(own) for own in rows.values()]


def _mean_of(rows: Sequence[Result]) -> Result:
    """The mean of one method's numbers at several places, each counting the same."""
    value = mean([row.value.value for row in rows])
    reason = "" if value is not None else "it is not defined everywhere"
    same = len({row.seeds for row in rows}) == 1
    per_seed = tuple(map(mean, zip(*(row.per_seed for row in rows), strict=True))) if same else ()
    seeds = rows[0].seeds if same else ()
    return Result(rows[0].entity, rows[0].metric, Value(value, reason=reason), {}, seeds, per_seed)


def average_runs(runs: Mapping[str, Path], metric: str = "") -> Report:
    """Return means over the data sets of several runs, with tests and ranks, as tables and a page.

    Args:
        runs, metric: as for `SeveralRuns.read` and `SeveralRuns.means`.

    Raises:
        OpenworldError: what these raise.
    """
    several = SeveralRuns.read(runs)
    every = several.means(metric)
    shown, named = every[:MOST_PLACES], every[0].metric
    methods = list(dict.fromkeys(name for means in every for name in means.numbers))
    styles = series_styles(methods)
    several_places = len(every) > 1
    tables = tuple(
        averages_table(
            means,
            found.names[0] if methods[1:] and (found := _standing(means)) else None,
            f"means-{number}",
            label="method",
            place=_in_words(means, several_places),
        )
        for number, means in enumerate(shown)
    )
    verdict = tuple(f"{_in_words(means, several_places) or named.title}: {_verdict(means)}" for means in shown)
    left_out = len(every) - len(shown)
    notes = (f"Of {len(every)} places the first {len(shown)} are shown; results.parquet has all.",) if left_out else ()
    charts = tuple(_panel(means, name) for means in shown[:1] for name in means.datasets)
    panels = Figure(
        "data-sets",
        "Data set by data set",
        _panel_caption(shown[0], several_places),
        charts,
        styles,
        names=("data_set", "method"),
    )
    ranked = ranks_figure(
        {_in_words(means, several_places): means for means in shown}, styles, ("place", "method"), "method"
    )
    sections = (
        Section("Over the data sets", tables=tables, figures=tuple(filter(None, (ranked,)))),
        Section("Data set by data set", figures=(panels,)),
    )
    rows = tuple(row for means in every for row in means.rows())
    tests = tuple(test for means in every for test in means.tests)
    title = f"{several.evaluation} on {len(runs)} data sets"
    page = Page(title, tuple(runs), verdict, sections, styles, "Methods")
    made = {"runs": ", ".join(str(folder) for folder in runs.values()), "metric": named.key}
    return Report(Results(several.evaluation, rows, tests), tables, page, verdict[1:], notes, made, several)


def _standing(means: DatasetMeans) -> Standing | None:
    """Who has the best mean, and over whom that is shown over data sets; None where no method has a mean."""
    values = {name: means.mean(name).value.value for name in means.complete}
    return standing(values, means.compare, means.metric.better or 1)


def _verdict(means: DatasetMeans) -> str:
    found = _standing(means)
    if found is None:
        return "no method has a value on every data set."
    number = means.metric.write(means.mean(found.names[0]).value.value)
    return f"{leads(found, 'mean', number, 'methods', 'smallest' if means.metric.better < 0 else 'largest')}."


def _in_words(means: DatasetMeans, several_places: bool) -> str:
    """The place of means; "" where all means have the same one."""
    names = (value if isinstance(value, str) else f"{name} {value}" for name, value in means.where.items())
    return ", ".join(dict.fromkeys(names)) if several_places else ""


def _panel(means: DatasetMeans, dataset: str) -> IntervalChart:
    place, rows = means.datasets.index(dataset), {}
    for name, numbers in means.numbers.items():
        number = numbers[place]
        if number is not None and number.value.value is not None:
            first = number.value.over()
            rows[name] = IntervalRow(number.value.value, None if first is None else (first.low, first.high))
    return IntervalChart(dataset, Quantity.of(means.metric), rows)


def _panel_caption(means: DatasetMeans, several_places: bool) -> tuple[str, ...]:
    over = dict.fromkeys(
        number.value.over().over
        for numbers in means.numbers.values()
        for number in numbers
        if number and number.value.over()
    )
    bars = f" The bar of each is its 95 % interval over {listed(tuple(over))}." if over else ""
    where = _in_words(means, several_places)
    return (f"{means.metric.title}{f' ({where})' if where else ''} of every method on every data set.{bars}",)
