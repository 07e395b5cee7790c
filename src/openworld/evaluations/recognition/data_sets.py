"""Several data sets of a run side by side, by OpenworldAUC."""

from collections.abc import Sequence

from openworld.evaluations.recognition.results import SettingResults, dataset_means
from openworld.report.data_set_means import averages_table, ranks_figure
from openworld.report.figure import Figure
from openworld.report.series_style import SeriesStyle
from openworld.report.table import Table
from openworld.results.over_datasets import DatasetMeans


def shots_of(means: DatasetMeans) -> str:
    """Return the number of shots of means, in words; "" where the run has one number alone."""
    return f"{means.where['shots']} shots" if "shots" in means.where else ""


def table_of(means: DatasetMeans, opponent: str | None, name: str) -> Table:
    """Return learners by data sets."""
    return averages_table(means, opponent, name, place=shots_of(means))


def ranks(settings: Sequence[SettingResults], styles: dict[str, SeriesStyle]) -> Figure | None:
    """Return the critical-difference diagram over the data sets; None where there are not several data sets."""
    every = {shots_of(means): means for means in dataset_means(settings)}
    return ranks_figure(every, styles, ("shots", "learner"))
