"""OpenworldAUC's figures (Hua et al., 2025): which runs each needs; `recognition.py` draws them."""

from dataclasses import replace

from openworld.papers import TABLES, PaperTable
from openworld.reproduction.figures.mixes import draw_mixes
from openworld.reproduction.figures.paper_figure import PaperFigure

PAPER = "openworldauc"

ABSENT = {
    "1": "it is a drawing of the method and holds no results",
}
"""Numbers of figures that hold no results, and what they are."""


def _table(number: str, *datasets: str) -> PaperTable:
    """A table whose runs a figure is drawn from; of some of its data sets, where these are named."""
    table = TABLES[PAPER][number]
    return replace(table, datasets=datasets or table.datasets)


FIGURES: dict[str, PaperFigure] = {
    figure.number: figure
    for figure in (
        PaperFigure(
            "2", "four metrics against the ratio of new to base images", draw_mixes, (_table("11"), _table("12"))
        ),
    )
}
"""Number -> the figure."""
