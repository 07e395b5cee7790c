"""Tables, figures and one self-contained page, from records alone.

build(folder)                          the page of a run; returns its path
summary = summarise(load(folder).outcomes)
terminal_table(table), losses_line(row), export(summary, "csv" | "markdown" | "latex"), verdict(summary)
"""

from openworld.report.exports import export
from openworld.report.outcome import load
from openworld.report.page import build
from openworld.report.pictures import choose
from openworld.report.summary import Summary, Table, summarise
from openworld.report.tables import losses_line, terminal_table
from openworld.report.verdict import verdict

__all__ = [
    "Summary",
    "Table",
    "build",
    "choose",
    "export",
    "load",
    "losses_line",
    "summarise",
    "terminal_table",
    "verdict",
]
