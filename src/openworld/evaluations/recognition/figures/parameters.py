"""What a tuned parameter buys: OpenworldAUC against the number of tuned parameters."""

from openworld.evaluations.recognition.figures.costs import Cost, against_cost
from openworld.evaluations.recognition.summary import Table
from openworld.report.panels import Figure
from openworld.report.series_style import Look
from openworld.report.text import tuned

PARAMETERS = Cost(
    "tuned parameters", "tuned_parameters", lambda row: row.tuned_parameters, lambda n: f"{tuned(round(n))} tuned"
)


def parameters(tables: tuple[Table, ...], looks: dict[str, Look]) -> Figure | None:
    """One plot, one dot per learner; `None` where no learner is known to tune anything."""
    caption = (
        "Each dot is one learner: its OpenworldAUC against how many numbers it tunes, on a logarithmic scale; the bar "
        "through a dot spans its seeds.",
        "Up and to the left is better; no learner that tunes as little or less reaches above the thin steps, and what "
        "tunes nothing stands before the break.",
    )
    texts = {"name": "parameters", "heading": "What do parameters buy?", "caption": caption}
    return against_cost(tables, looks, PARAMETERS, **texts)
