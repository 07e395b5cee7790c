"""OpenworldAUC's figures (Hua et al., 2025): what each shows, and which runs it needs.

The text that is published has neither the pictures nor their captions; what a panel shows is what the text says of it.
Where it names data sets for a figure of the main text and one of the appendix together, the former shows the first.
"""

from collections.abc import Sequence
from functools import partial

from openworld.papers import TABLES
from openworld.reproduction.figures.mixes import draw_mixes
from openworld.reproduction.figures.paper_figure import PaperFigure
from openworld.reproduction.figures.profile import draw_miss_hit, draw_profile
from openworld.reproduction.figures.sweep_charts import draw_sweep
from openworld.reproduction.figures.sweeps import SWEEPS
from openworld.reproduction.figures.tradeoff import draw_costs, draw_tradeoff

PAPER = "openworldauc"

ABSENT = {
    "1": "it is a drawing of the method and holds no results",
    "4": "the text that is published neither mentions it nor says what it shows",
}
"""Numbers of figures that hold no results, and what they are."""

_TABLES = TABLES[PAPER]


def _of_table(number: str, title: str, draw, table: str, **options) -> PaperFigure:
    """A figure that is drawn from the runs of a table."""
    shown = _TABLES[table]
    return PaperFigure(number, title, partial(draw, table=shown, **options), (shown,))


def _sweep(number: str, name: str, title: str, datasets: Sequence[str] = ()) -> PaperFigure:
    """A figure that has runs of its own, on all data sets of its sweep, or on some."""
    shown, sweep = tuple(datasets or SWEEPS[name].datasets), SWEEPS[name]
    words = ", ".join(shown)
    draw = partial(draw_sweep, name=name, datasets=shown)
    return PaperFigure(number, f"{title} on {words}", draw, runs=partial(sweep.runs, datasets=shown))


_SWEPT = {
    "partitions": ("6a", "10", "number of pseudo base-to-new partitions K"),
    "shots": ("6b", "11", "training images of each class"),
    "lambda": ("6c", "12", "weight lambda of the detectors' cross-entropy"),
    "mixture": ("6d", "13", "ablations of the mixture of prompts"),
}
"""Sweep -> its figure in the main text, that of the appendix, and what both show."""

_RATIOS = tuple(_TABLES[number] for number in ("11", "12"))

_FIGURES = (
    PaperFigure("2", "four metrics against the ratio of new to base images", draw_mixes, _RATIOS),
    _of_table("3", "Miss-Hit curves", draw_miss_hit, "2"),
    _of_table("5a", "HM against AUROC, mean over the data sets", draw_tradeoff, "8-9", averaged=True),
    PaperFigure(
        "5b",
        "OpenworldAUC against tuned parameters, mean over the data sets",
        partial(draw_costs, table=_TABLES["2"], sizes=_TABLES["7"]),
        (_TABLES["2"], _TABLES["7"]),
    ),
    _of_table("5c", "HM against AUROC, mean over ImageNet's variants", draw_tradeoff, "10", averaged=True),
    *(_sweep(main, name, title, SWEEPS[name].datasets[:1]) for name, (main, _, title) in _SWEPT.items()),
    _of_table("7", "HM against AUROC, data set by data set", draw_tradeoff, "8-9", averaged=False),
    _of_table("8", "HM against AUROC, variant by variant", draw_tradeoff, "10", averaged=False),
    _of_table("9", "base accuracy, new accuracy and AUROC", draw_profile, "14"),
    *(_sweep(appendix, name, title) for name, (_, appendix, title) in _SWEPT.items()),
)

FIGURES: dict[str, PaperFigure] = {figure.number: figure for figure in _FIGURES}
"""Number -> the figure."""
