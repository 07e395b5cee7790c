"""Reports on measured shift: how far one's own pictures are, and how detectors see runs of incremental shift.

run = load_shifts(folder)                              a run of incremental shift: cells by model, detector and seed
overall(run, run.judged[0]), slope(run.cells, run.judged[0], "semantic", common=True)
build_shifts(folder)                                   the page; returns its path
export_shifts(run, "csv" | "cells" | "json" | "markdown" | "latex"), terminal_shifts(run), shift_verdict(run)
compare_shifts(run, another, names)                    two runs of one pool, detector by detector
"""

from openworld.report.shifts.exports import export_shifts
from openworld.report.shifts.numbers import Number, Slope, overall, slope
from openworld.report.shifts.page import build_shifts, render_shifts
from openworld.report.shifts.pairing import ShiftPair, compare_shifts
from openworld.report.shifts.run import Judged, ShiftRun, load_shifts, shift_run
from openworld.report.shifts.terminal import terminal_shifts
from openworld.report.shifts.verdict import shift_verdict

__all__ = [
    "Judged",
    "Number",
    "ShiftPair",
    "ShiftRun",
    "Slope",
    "build_shifts",
    "compare_shifts",
    "export_shifts",
    "load_shifts",
    "overall",
    "render_shifts",
    "shift_run",
    "shift_verdict",
    "slope",
    "terminal_shifts",
]
