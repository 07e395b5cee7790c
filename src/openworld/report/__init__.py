"""Tables, figures and one self-contained page, from records alone.

build(folder)                          the page of a run; returns its path (`build_courses`: of dynamic scenarios)
summary = summarise(load(folder).outcomes)
terminal_table(table), losses_line(row), export(summary, "csv" | "markdown" | "latex"), verdict(summary)
"""

from openworld.report.course_page import build_courses
from openworld.report.course_tables import courses_json, robustness_csv, terminal_course
from openworld.report.courses import load_courses, played_courses
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
    "build_courses",
    "choose",
    "courses_json",
    "export",
    "load",
    "load_courses",
    "losses_line",
    "played_courses",
    "robustness_csv",
    "summarise",
    "terminal_course",
    "terminal_table",
    "verdict",
]
