"""Several data sets of a run side by side: means over them, ranks, and tests, of OpenworldAUC.

A data set is a block: it counts once, whatever its size (Demsar, 2006).
"""

from collections.abc import Sequence

from openworld.evaluations.recognition.results import AUC, SettingResults, dataset_means
from openworld.report.charts import RankChart
from openworld.report.figure import Figure
from openworld.report.sentences import listed
from openworld.report.series_style import SeriesStyle
from openworld.report.table import Column, Row, Table
from openworld.results import TEXT, Value
from openworld.results.over_datasets import CRITICAL_DIFFERENCE, DATA_SETS, FRIEDMAN_P, MEAN_RANK, SEEDS, DatasetMeans


def averages_table(means: DatasetMeans, opponent: str | None, name: str) -> Table:
    """Return learners by data sets, with the mean and what its intervals are over, the mean rank, and the test.

    Args:
        means: of OpenworldAUC.
        opponent: with whom every learner is compared over the data sets; None for nobody.
        name: of the table.
    """
    columns = [
        Column(AUC, "mean", intervals=0, headline=True, priority=7),
        Column(AUC, "95 % over seeds", show="interval", over=SEEDS, priority=5),
        Column(AUC, "95 % over data sets", show="interval", over=DATA_SETS, priority=5),
        Column(MEAN_RANK, priority=6),
        *([Column(TEXT, f"against {opponent}", priority=4)] if opponent else []),
        *(Column(AUC, dataset, intervals=0, priority=3) for dataset in means.datasets),
    ]
    ranks = {row.entity: row.value for row in means.rows() if row.metric == MEAN_RANK}
    rows = []
    for learner, numbers in means.numbers.items():
        mean = means.mean(learner).value
        rank = ranks.get(learner) or Value(None, reason=mean.reason)
        test = [means.compare(learner, opponent)] if opponent else []
        each = (row.value if row else Value(None, reason="it was not run there") for row in numbers)
        rows.append(Row(learner, (mean, mean, mean, rank, *test, *each), learner))
    shots = f", {means.where['shots']} shots" if "shots" in means.where else ""
    title = f"OpenworldAUC on {len(means.datasets)} data sets{shots}"
    return Table(name, title, _caption(means, opponent), "learner", tuple(columns), tuple(rows))


def _caption(means: DatasetMeans, opponent: str | None) -> str:
    tested = f" Tests against {opponent}: paired over the data sets, p after Holm over all pairs." if opponent else ""
    return (
        "OpenworldAUC, percent, means over the seeds; every data set counts the same in the mean. 95 % over seeds: "
        "these data sets, other draws and trainings; over data sets: these are a sample, and the mean is that of "
        f"others like them. Both after Student. {ranks_in_words(means)}{tested} Intervals over images and tests on "
        "each data set stand in its own table."
    )


def ranks_in_words(means: DatasetMeans) -> str:
    """Say whether the ranks differ over the data sets, or why that is not tested."""
    found = {row.metric.key: row.value for row in means.rows() if not row.entity}
    if not found:
        return "No learner has a value on every data set."
    p, distance = found[FRIEDMAN_P.key], found[CRITICAL_DIFFERENCE.key]
    if p.value is None or distance.value is None:
        return f"Mean ranks (1 = best) are not tested: {p.reason or distance.reason}."
    text = "< 0.001" if p.value < 0.001 else f"= {p.value:.2g}"
    return f"Mean ranks, 1 = best: Friedman's p {text}; Nemenyi's critical difference {distance.value:.2f} at 5 %."


def ranks(settings: Sequence[SettingResults], styles: dict[str, SeriesStyle]) -> Figure | None:
    """Return the critical-difference diagram over the data sets; None where there are not several data sets."""
    every = dataset_means(settings)
    charts, refused = [], []
    for means in every:
        found = {(row.entity, row.metric.key): row.value for row in means.rows()}
        distance = found.get(("", CRITICAL_DIFFERENCE.key), Value(None, reason="no learner was run on every data set"))
        if distance.value is None:
            refused.append(distance.reason)
            continue
        ranks_of = {learner: found[learner, MEAN_RANK.key].value for learner in means.complete}
        further = {"friedman_p": found["", FRIEDMAN_P.key].value, "data_sets": len(means.datasets)}
        title = f"{means.where['shots']} shots" if "shots" in means.where else ""
        charts.append(RankChart(title, ranks_of, distance.value, further))
    if not every:
        return None
    what = "Mean rank of OpenworldAUC over the data sets, 1 = best, one block per data set"
    if not charts:
        caption = (f"No diagram is drawn: {listed(tuple(dict.fromkeys(refused)))}.", f"{what}.")
    else:
        equal = "A bar joins learners whose mean ranks lie closer than the critical difference CD"
        caption = (f"{what}.", f"{equal}, so that they are not shown to differ at 5 % (Nemenyi).")
    return Figure(
        "critical-difference", "Which ranks differ?", caption, tuple(charts), styles, names=("shots", "learner")
    )
