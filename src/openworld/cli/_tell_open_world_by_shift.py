"""What the command line says of open-world quality by measured shift: learners and estimators by levels."""

from openworld.evaluations.recognition_by_shift.exports import FORMS, export_open_world_shifts
from openworld.evaluations.recognition_by_shift.numbers import Levels
from openworld.evaluations.recognition_by_shift.page import build_open_world_shifts
from openworld.evaluations.recognition_by_shift.run import load_open_world_shifts
from openworld.evaluations.recognition_by_shift.terminal import terminal_open_world_shifts
from openworld.evaluations.recognition_by_shift.verdict import open_world_shift_verdict

__all__ = ["FORMS", "MORE", "TABLES", "build", "export", "load", "say"]

MORE = "Cell by cell: openworld report {folder} --table cells"

load, build, export = load_open_world_shifts, build_open_world_shifts, export_open_world_shifts


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
