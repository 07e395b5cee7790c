"""Methods on several data sets: the table of their means, and the diagram of their mean ranks.

A data set is a block: it counts once, whatever its size (Demsar, 2006).
"""

from collections.abc import Mapping, Sequence

from openworld.report.charts import RankChart
from openworld.report.figure import Figure
from openworld.report.sentences import listed
from openworld.report.series_style import SeriesStyle
from openworld.report.table import Column, Row, Table
from openworld.results import TEXT, Value
from openworld.results.over_datasets import CRITICAL_DIFFERENCE, DATA_SETS, FRIEDMAN_P, MEAN_RANK, SEEDS, DatasetMeans
from openworld.results.value import SHARES


def averages_table(
    means: DatasetMeans, opponent: str | None, name: str, *, label: str = "learner", place: str = ""
) -> Table:
    """Return methods by data sets, with the mean and what its intervals are over, the mean rank, and the test.

    Args:
        means: of one metric.
        opponent: with whom every method is compared over the data sets; None for nobody.
        name: of the table.
        label: what the methods are.
        place: what else the title says, such as "4 shots".
    """
    metric = means.metric
    columns = [
        Column(metric, "mean", intervals=0, headline=True, priority=7),
        Column(metric, "95 % over seeds", show="interval", over=SEEDS, priority=5),
        Column(metric, "95 % over data sets", show="interval", over=DATA_SETS, priority=5),
        Column(MEAN_RANK, priority=6),
        *([Column(TEXT, f"against {opponent}", priority=4)] if opponent else []),
        *(Column(metric, dataset, intervals=0, priority=3) for dataset in means.datasets),
    ]
    ranks = {row.entity: row.value for row in means.rows() if row.metric == MEAN_RANK}
    rows = []
    for method, numbers in means.numbers.items():
        mean = means.mean(method).value
        rank = ranks.get(method) or Value(None, reason=mean.reason)
        test = [means.compare(method, opponent)] if opponent else []
        each = (row.value if row else Value(None, reason="it was not run there") for row in numbers)
        rows.append(Row(method, (mean, mean, mean, rank, *test, *each), method))
    title = f"{metric.title} on {len(means.datasets)} data sets{f', {place}' if place else ''}"
    return Table(name, title, _caption(means, opponent, label), label, tuple(columns), tuple(rows))


def _caption(means: DatasetMeans, opponent: str | None, label: str) -> str:
    tested = f" Tests against {opponent}: paired over the data sets, p after Holm over all pairs." if opponent else ""
    unit = f", {means.metric.unit}" if means.metric.unit in SHARES else ""
    return (
        f"{means.metric.title}{unit}, means over the seeds; every data set counts the same in the mean. 95 % over "
        "seeds: these data sets, other draws and trainings; over data sets: these are a sample, and the mean is that "
        f"of others like them. Both after Student. {ranks_in_words(means, label)}{tested} Intervals over images and "
        "tests on each data set stand in its own table."
    )


def ranks_in_words(means: DatasetMeans, label: str = "learner") -> str:
    """Say whether the ranks differ over the data sets, or why that is not tested."""
    found = {row.metric.key: row.value for row in means.rows() if not row.entity}
    if not found:
        return f"No {label} has a value on every data set."
    p, distance = found[FRIEDMAN_P.key], found[CRITICAL_DIFFERENCE.key]
    if p.value is None or distance.value is None:
        return f"Mean ranks (1 = best) are not tested: {p.reason or distance.reason}."
    text = "< 0.001" if p.value < 0.001 else f"= {p.value:.2g}"
    return f"Mean ranks, 1 = best: Friedman's p {text}; Nemenyi's critical difference {distance.value:.2f} at 5 %."


def ranks_figure(
    every: Mapping[str, DatasetMeans], styles: Mapping[str, SeriesStyle], names: Sequence[str], label: str = "learner"
) -> Figure | None:
    """Return a critical-difference diagram for each of several means; None where there are none.

    Args:
        every: {title of the diagram, or "": means over the same data sets}.
        styles: of the methods.
        names: what a diagram's title and its series are called in data.
        label: what the methods are.
    """
    charts, refused = [], []
    for title, means in every.items():
        found = {(row.entity, row.metric.key): row.value for row in means.rows()}
        missing = Value(None, reason=f"no {label} was run on every data set")
        distance = found.get(("", CRITICAL_DIFFERENCE.key), missing)
        if distance.value is None:
            refused.append(distance.reason)
            continue
        ranks_of = {method: found[method, MEAN_RANK.key].value for method in means.complete}
        further = {"friedman_p": found["", FRIEDMAN_P.key].value, "data_sets": len(means.datasets)}
        charts.append(RankChart(title, ranks_of, distance.value, further))
    if not every:
        return None
    metric = next(iter(every.values())).metric
    what = f"Mean rank of {metric.title} over the data sets, 1 = best, one block per data set"
    if not charts:
        caption = (f"No diagram is drawn: {listed(tuple(dict.fromkeys(refused)))}.", f"{what}.")
    else:
        equal = f"A bar joins {label}s whose mean ranks lie closer than the critical difference CD"
        caption = (f"{what}.", f"{equal}, so that they are not shown to differ at 5 % (Nemenyi).")
    return Figure("critical-difference", "Which ranks differ?", caption, tuple(charts), styles, names=tuple(names))
