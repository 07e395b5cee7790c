"""The report of open-world quality by measured shift: tables, figures and one page, from records alone.

run = load_open_world_shifts(folder)          records by learner
Levels(run).of(learner, view, axis)           averages over the seeds at each level
build_open_world_shifts(folder)               the page; returns its path
export_open_world_shifts(run, "csv" | "cells" | "estimates" | "json" | "markdown"), terminal_open_world_shifts(levels)
"""

from openworld.report.open_world_shifts.exports import export_open_world_shifts
from openworld.report.open_world_shifts.numbers import Levels
from openworld.report.open_world_shifts.page import build_open_world_shifts, render_open_world_shifts
from openworld.report.open_world_shifts.run import (
    OpenWorldShiftRun,
    load_open_world_shifts,
    open_world_shift_run,
)
from openworld.report.open_world_shifts.terminal import terminal_open_world_shifts
from openworld.report.open_world_shifts.verdict import open_world_shift_verdict

__all__ = [
    "Levels",
    "OpenWorldShiftRun",
    "build_open_world_shifts",
    "export_open_world_shifts",
    "load_open_world_shifts",
    "open_world_shift_run",
    "open_world_shift_verdict",
    "render_open_world_shifts",
    "terminal_open_world_shifts",
]
