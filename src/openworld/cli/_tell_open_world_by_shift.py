"""What the command line says of open-world quality by measured shift: learners and estimators by levels."""

from openworld import report
from openworld.report.open_world_shifts import Levels, open_world_shift_verdict, terminal_open_world_shifts
from openworld.report.open_world_shifts.exports import FORMS

__all__ = ["FORMS", "MORE", "TABLES", "build", "export", "load", "say"]

MORE = "Cell by cell: openworld report {folder} --table cells"

load, build, export = report.load_open_world_shifts, report.build_open_world_shifts, report.export_open_world_shifts


def say(run, out) -> None:
    """A table per axis and kind of base pictures, those of the estimators, and the verdict."""
    levels = Levels(run)
    for heading, table in terminal_open_world_shifts(levels):
        out.print(f"\n{heading}", style="bold", markup=False)
        out.print(table)
    out.print()
    for sentence in open_world_shift_verdict(levels):
        out.print(sentence, markup=False)


TABLES = {"text": say}
