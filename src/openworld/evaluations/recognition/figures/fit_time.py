"""What training time buys: OpenworldAUC against the seconds of fitting."""

from openworld.evaluations.recognition.figures.costs import Cost, against_cost
from openworld.evaluations.recognition.summary import Row, Table
from openworld.report.panels import Figure
from openworld.report.series_style import Look
from openworld.report.text import seconds


def fit_time(tables: tuple[Table, ...], looks: dict[str, Look]) -> Figure | None:
    """One plot, one dot per learner; `None` where no time is known."""
    caption = (
        "Each dot is one learner: its OpenworldAUC against the seconds that one fit took on the machine of the run, on "
        "a logarithmic scale; the bar through a dot spans its seeds.",
        "Up and to the left is better; no learner that fits as fast or faster reaches above the thin steps, and what "
        "fits nothing stands before the break.",
    )
    texts = {"name": "fit-time", "heading": "What does training time buy?", "caption": caption}
    cost = Cost("seconds to fit, one seed", "fit_seconds", _spent, lambda spent: f"{seconds(spent)} to fit")
    return against_cost(tables, looks, cost, **texts)


def _spent(row: Row) -> float | None:
    """Seconds of one fit; none for a learner that tunes nothing, whatever its few milliseconds were spent on."""
    return 0.0 if row.tuned_parameters == 0 and row.fit_seconds is not None else row.fit_seconds
