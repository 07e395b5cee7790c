"""The papers' figures: which runs each is drawn from, and how; one visible dict per paper."""

from openworld.core.errors import OpenworldError, unknown_name
from openworld.reproduction.figures import frap, isood, openpl, openworldauc
from openworld.reproduction.planned_runs import PaperFigure

_PAPERS = (openworldauc, openpl, frap, isood)
FIGURES: dict[str, dict[str, PaperFigure]] = {paper.PAPER: dict(paper.FIGURES) for paper in _PAPERS}
"""Paper -> its figures by number."""

ABSENT: dict[str, dict[str, str]] = {paper.PAPER: paper.ABSENT for paper in _PAPERS}
"""Paper -> numbers of figures that hold no results, and what they are."""

ALL = "all"


def find_figures(paper: str, number: str) -> tuple[PaperFigure, ...]:
    """Return the figures of a paper that a number means: one, its panels, or "all"."""
    figures = FIGURES[paper]
    if number == ALL:
        return tuple(figures.values())
    numbers = tuple(figure for name, figure in figures.items() if number in (name, name.rstrip("abcdefgh")))
    if numbers:
        return numbers
    reason = ABSENT[paper].get(number)
    if reason:
        raise OpenworldError(f"Figure {number} of {paper} cannot be made: {reason}.")
    raise unknown_name(f"figure of {paper}", number, (*figures, ALL))


__all__ = ["ABSENT", "ALL", "FIGURES", "PaperFigure", "find_figures"]
