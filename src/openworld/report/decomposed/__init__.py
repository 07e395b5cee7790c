"""The report of decomposed zero-shot accuracy: its table and one page, from records alone.

run = load_decomposed(folder)          records by method
build_decomposed(folder)               the page; returns its path
export_decomposed(run, "csv" | "json" | "markdown"), terminal_decomposed(run)
"""

from openworld.report.decomposed.page import build_decomposed, render_decomposed
from openworld.report.decomposed.run import DecomposedRun, decomposed_run, load_decomposed
from openworld.report.decomposed.tables import decomposed_verdict, export_decomposed, terminal_decomposed

__all__ = [
    "DecomposedRun",
    "build_decomposed",
    "decomposed_run",
    "decomposed_verdict",
    "export_decomposed",
    "load_decomposed",
    "render_decomposed",
    "terminal_decomposed",
]
