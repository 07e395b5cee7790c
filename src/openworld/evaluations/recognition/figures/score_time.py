"""What a slow answer buys: OpenworldAUC against the milliseconds of scoring one image."""

from openworld.evaluations.recognition.figures.costs import Cost, against_cost
from openworld.evaluations.recognition.summary import Row, Table
from openworld.report.panels import Figure
from openworld.report.series_style import Look
from openworld.report.text import milliseconds


def score_time(tables: tuple[Table, ...], looks: dict[str, Look]) -> Figure | None:
    """One plot, one dot per learner; `None` where no time is known."""
    caption = (
        "Each dot is one learner: its OpenworldAUC against the milliseconds that scoring one test image took on the "
        "machine of the run, on a logarithmic scale; the bar through a dot spans its seeds.",
        "Up and to the left is better, and no learner that answers as fast or faster reaches above the thin steps; "
        "encoding the names is counted in, encoding the images only where a learner does it by itself.",
    )
    texts = {"name": "score-time", "heading": "What does a slow answer buy?", "caption": caption}
    cost = Cost(
        "milliseconds to score an image",
        "score_milliseconds",
        _spent,
        lambda spent: f"{milliseconds(spent / 1000)} ms an image",
    )
    return against_cost(tables, looks, cost, **texts)


def _spent(row: Row) -> float | None:
    return None if row.score_seconds is None else 1000 * row.score_seconds
