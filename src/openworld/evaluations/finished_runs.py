"""What finished runs say, whatever they evaluate: a report of one, two side by side, means over several.

A slice is imported when it is asked for, and never torch. Its `report.py` holds `report(run) -> Report`, and perhaps
`compare(first, second, metric)` of two reports, which returns pairs or a whole `RunComparison`, where numbers can be
paired more closely than by seed.

Of several runs, a data set each, a number counts where every run has one of the same metric at the same place, such as
the mean over near sets. Where the places name the data set, the number of each run as a whole counts, or the mean over
its places, such as targets. Methods that some run lacks are shown there and have no mean. A spec is carried out several
times where it has tables of `[[each]]`, which say what is otherwise there.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from openworld.core.errors import OpenworldError, unknown_name
from openworld.evaluations import read_protocol, report_of
from openworld.report.finished_runs import RunComparison
from openworld.report.layout import Bars, Brief, Layout, Pivot, Ranks, Tests
from openworld.report.report import Report
from openworld.report.sentences import listed
from openworld.results import Result, Results, RunFolder, Value, pair_results, require_same_data
from openworld.results.join import mean_of
from openworld.results.over_datasets import CRITICAL_DIFFERENCE, FRIEDMAN_P, MEAN_RANK, DatasetMeans
from openworld.results.run_folder import differing_settings
from openworld.runs import RunStore

EACH = "each"
_NAME = re.compile(r"[\w][\w.,+-]*")
DATA_SET = "data_set"
MEANS = "Every data set counts the same, whatever its size; mean ranks: 1 = best."


def evaluation_name(folder: Path | str) -> str:
    """Return the evaluation of the run in a folder, whole or not; predictions that were scored are of recognition."""
    resolved = RunStore(folder).description()["resolved"]
    return (isinstance(resolved, dict) and resolved.get("protocol")) or "recognition"


def read_report(folder: Path | str) -> Report:
    return _report(evaluation_name(folder)).report(RunFolder.read(folder))


def compare_runs(
    first: Path | str, second: Path | str, metric: str = "", names: tuple[str, str] | None = None
) -> RunComparison:
    """Return two runs of one evaluation on the same data side by side."""
    reports = [_report(evaluation_name(folder)) for folder in (first, second)]
    runs = [RunFolder.read(folder) for folder in (first, second)]
    kinds = [run.evaluation or "recognition" for run in runs]
    pairing = [getattr(report, "compare", None) for report in reports]
    if kinds[0] != kinds[1] and (pairing[0] is None or pairing[0] is not pairing[1]):
        raise OpenworldError(f"{first} holds a run of {kinds[0]} and {second} one of {kinds[1]}; give two of one kind.")
    require_same_data(*runs)
    ours, theirs = (report.report(run) for report, run in zip(reports, runs, strict=True))
    pair = pairing[0] or (lambda first, other, of: pair_results(first.results, other.results, of or first.headline))
    comparison = pair(ours, theirs, metric)
    if not isinstance(comparison, RunComparison):
        comparison = RunComparison((str(first), str(second)), comparison[0].first.metric, comparison)
    changed = {setting for setting, _, _ in comparison.changes}
    settings = [change for change in differing_settings(*runs) if change[0] not in changed]
    return replace(comparison, names=names or comparison.names, changes=(*comparison.changes, *settings))


def _report(evaluation: str):
    module = report_of(evaluation)
    if not module:
        raise OpenworldError(
            f"{evaluation} brings no report, so that its runs have no page, figures or comparison; their numbers: "
            "openworld report RUN --table json."
        )
    return import_module(module)


def means_of_runs(runs: Mapping[str, Results], metric: str = "", headline: str = "") -> tuple[DatasetMeans, ...]:
    """Return the means over runs, {data set: what its run measured}, one for every place that all runs share.

    Args:
        metric: whose means; "" for the headline, or where that has none, the first metric that has some.
    """
    first, *others = runs.values()
    known = {key: each for key, each in first.metrics().items() if all(key in other.metrics() for other in others)}
    if metric and metric not in known:
        raise unknown_name("metric of all these runs", metric, known)
    headline_first = sorted(known, key=lambda key: (key != headline, known[key].better == 0))
    for key in [metric] if metric else headline_first:
        if means := tuple(_means(runs, key)):
            return means
    raise OpenworldError(f"these runs have no {metric or 'number'} of the same thing; they name their methods apart.")


def _means(runs: Mapping[str, Results], metric: str) -> Iterator[DatasetMeans]:
    rows = [[row for row in results if row.metric.key == metric and row.entity] for results in runs.values()]
    places = set.intersection(*({frozenset(row.where.items()) for row in each} for each in rows))
    if not places:
        rows = [_as_a_whole(results, metric) for results in runs.values()]
        places = {frozenset()} if all(rows) else set()
    for place in map(dict, sorted(places, key=lambda place: (len(place), sorted(map(str, place))))):
        here = [{row.entity: row for row in each if dict(row.where) == place} for each in rows]
        methods = dict.fromkeys(name for each in here for name in each)
        numbers = {name: tuple(each.get(name) for each in here) for name in methods}
        yield DatasetMeans(next(row.metric for each in here for row in each.values()), tuple(runs), numbers, place)


def _as_a_whole(results: Results, metric: str) -> list[Result]:
    """The number of a run as a whole for every method: its only one, or the mean over its places, such as targets."""
    rows: dict[str, list[Result]] = {}
    for row in results.overall():
        if row.metric.key == metric and row.entity:
            rows.setdefault(row.entity, []).append(row)
    return [replace(own[0], where={}) if len(own) == 1 else mean_of(own, {}) for own in rows.values()]


def average_runs(runs: Mapping[str, Path], metric: str = "") -> Report:
    """Return means over the data sets of several runs of one evaluation, with tests and ranks, as tables and a page.

    Args:
        runs: {name of the data set: folder}, two or more.
    """
    if len(runs) < 2:
        raise OpenworldError(f"{len(runs)} run came, and a mean is over two or more; give the folders of several.")
    reports = {name: read_report(folder) for name, folder in runs.items()}
    evaluation, *others = dict.fromkeys(each.results.evaluation for each in reports.values())
    if others:
        raise OpenworldError(f"these are runs of {listed((evaluation, *others))}; give runs of one evaluation.")
    measured = {name: each.results for name, each in reports.items()}
    every = means_of_runs(measured, metric, next(iter(reports.values())).headline)
    first_metric, values = every[0].metric, {}
    for means in every:
        for key, value in means.where.items():
            values.setdefault(key, set()).add(value)
    keys = tuple(key for key, known in values.items() if len(known) > 1)
    beside = tuple(key for key in values if key not in keys)
    rows = tuple(row for means in every for row in (*means.rows(), *_by_data_set(means)))
    results = Results(evaluation, rows, tuple(test for means in every for test in means.tests))
    over, each = "Over the data sets", "Data set by data set"
    parts = (
        Pivot("means", over, (first_metric.key, MEAN_RANK.key), per=keys, note=MEANS),
        Ranks("critical-difference", over, (MEAN_RANK.key,), per=keys),
        Pivot("ranks", over, (FRIEDMAN_P.key, CRITICAL_DIFFERENCE.key), per=keys, folded=True),
        Tests("pairs", over, per=(*keys, "over"), folded=True),
        Pivot("data-sets", each, (first_metric.key,), columns=(DATA_SET,), per=keys, terminal=True),
        Bars("by-data-set", each, (first_metric.key,), per=(*keys, DATA_SET)),
    )
    layout = Layout(f"{evaluation} on {len(runs)} data sets", first_metric.key, parts, keys, beside)
    made = {"runs": ", ".join(str(folder) for folder in runs.values()), "metric": first_metric.key}
    return layout.report(Brief(results, label="method", subtitle=tuple(runs)), made=made, found=every)


def _by_data_set(means: DatasetMeans) -> Iterator[Result]:
    """The number of every method on every data set; one that was not run there has none."""
    for method, numbers in means.numbers.items():
        for name, row in zip(means.datasets, numbers, strict=True):
            where = {**means.where, DATA_SET: name}
            missing = Result(method, means.metric, Value(None, reason="it was not run there"))
            yield replace(row or missing, where=where)


def expand(given: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the specs of a spec with `[[each]]`, by name.

    Args:
        given: a spec as read; every table of `each` has a `name`, which its run's folder gets, and fields that stand in
            the place of those of the spec, whole.

    >>> given = {"seeds": [1], "each": [{"name": "dtd", "dataset": "dtd"}, {"name": "pets", "dataset": "oxford_pets"}]}
    >>> expand(given)["pets"]
    {'seeds': [1], 'dataset': 'oxford_pets'}
    """
    tables, shared = given[EACH], {key: value for key, value in given.items() if key != EACH}
    if not isinstance(tables, list | tuple) or not tables or not all(isinstance(table, Mapping) for table in tables):
        raise OpenworldError(
            f"{EACH} came as {tables!r}, expected tables [[{EACH}]] with a name and what is otherwise."
        )
    specs: dict[str, dict[str, Any]] = {}
    for place, table in enumerate(tables):
        name = table.get("name")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise OpenworldError(
                f"{EACH}[{place}] has the name {name!r}; give each a name of letters, digits and . , + - _: its run's "
                "folder gets it."
            )
        if name in specs:
            raise OpenworldError(f"two tables of {EACH} are called {name!r}; names tell the runs apart.")
        specs[name] = shared | {key: value for key, value in table.items() if key != "name"}
    return specs


def read_each(given: Mapping[str, Any]) -> dict[str, tuple[dict[str, Any], Any]]:
    """Return the specs of a spec with `[[each]]` by name, as given and as checked; their data are there."""
    from openworld.evaluations.running import require_data  # who reads runs need not load what carries them out

    specs = {}
    for name, fields in expand(given).items():
        try:
            specs[name] = fields, read_protocol(fields)
            require_data(specs[name][1])
        except OpenworldError as error:
            raise OpenworldError(f"{EACH} {name!r}: {error}") from error
    return specs
