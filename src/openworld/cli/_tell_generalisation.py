"""What the command line says of generalisation: means over the targets of a kind; else all as of recognition."""

from openworld.cli import _tell_recognition as recognition
from openworld.cli._tell_recognition import FORMS, TABLES, compare, load
from openworld.evaluations.generalisation import exports
from openworld.evaluations.generalisation.page import build
from openworld.evaluations.generalisation.tables import terminal_reach
from openworld.evaluations.generalisation.target_means import reaches

__all__ = ["FORMS", "MORE", "TABLES", "build", "compare", "export", "load", "say"]

MORE = "Target by target: openworld report {folder} --table text"


def export(run, form: str) -> str:
    """The tables with the means over targets, or with "mixtures-csv" those of other mixes."""
    return recognition.export(run, form) if form == "mixtures-csv" else exports.export(run.summary, form)


def say(run, out) -> None:
    """A table per kind of target; target by target where learners lack some."""
    reached = reaches(run.summary)
    for reach in reached:
        out.print(f"\nOpenworldAUC in {reach.heading}", style="bold", markup=False)
        out.print(terminal_reach(reach))
    if not reached:
        recognition.say(run, out)
