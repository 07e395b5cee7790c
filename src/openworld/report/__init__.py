"""Tables, figures and one self-contained page, from records alone.

build(folder)                          the page of a run; returns its path (`build_courses`: of dynamic scenarios,
                                       `build_estimates`: of accuracies estimated without labels, `build_shifts`: of
                                       detectors over cells of measured shift)
summary = summarise(load(folder).outcomes)
terminal_table(table), losses_line(row), export(summary, "csv" | "markdown" | "latex"), verdict(summary)
"""

from openworld.report.course_exports import FORMS as COURSE_FORMS
from openworld.report.course_exports import courses_json, export_courses, robustness_csv
from openworld.report.course_numbers import scenario_tables
from openworld.report.course_page import build_courses
from openworld.report.course_tables import MANY, terminal_course, terminal_legend, terminal_scenario
from openworld.report.courses import load_course_run, load_courses
from openworld.report.estimates import (
    build_estimates,
    estimate_verdict,
    export_estimates,
    load_estimates,
    terminal_estimates,
)
from openworld.report.exports import FORMS, export
from openworld.report.open_world_shifts import (
    build_open_world_shifts,
    export_open_world_shifts,
    load_open_world_shifts,
)
from openworld.report.outcome import load
from openworld.report.page import build, render, write_page
from openworld.report.pictures import choose
from openworld.report.reach import reaches
from openworld.report.reach_tables import terminal_reach
from openworld.report.records import protocol_of
from openworld.report.shifts import (
    build_shifts,
    export_shifts,
    load_shifts,
    shift_verdict,
    terminal_shifts,
)
from openworld.report.summary import Summary, Table, summarise
from openworld.report.tables import losses_line, terminal_table
from openworld.report.verdict import verdict

__all__ = [
    "COURSE_FORMS",
    "FORMS",
    "MANY",
    "Summary",
    "Table",
    "build",
    "build_courses",
    "build_estimates",
    "build_open_world_shifts",
    "build_shifts",
    "choose",
    "courses_json",
    "estimate_verdict",
    "export",
    "export_courses",
    "export_estimates",
    "export_open_world_shifts",
    "export_shifts",
    "load",
    "load_course_run",
    "load_courses",
    "load_estimates",
    "load_open_world_shifts",
    "load_shifts",
    "losses_line",
    "protocol_of",
    "reaches",
    "render",
    "robustness_csv",
    "scenario_tables",
    "shift_verdict",
    "summarise",
    "terminal_course",
    "terminal_estimates",
    "terminal_legend",
    "terminal_reach",
    "terminal_scenario",
    "terminal_shifts",
    "terminal_table",
    "verdict",
    "write_page",
]
