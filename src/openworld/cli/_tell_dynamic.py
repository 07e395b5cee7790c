"""What the command line says of dynamic scenarios: a table per course, of many courses one per scenario."""

from openworld.evaluations.dynamic.courses import load_course_run
from openworld.evaluations.dynamic.exports import FORMS as COURSE_FORMS
from openworld.evaluations.dynamic.exports import export_courses
from openworld.evaluations.dynamic.numbers import scenario_tables
from openworld.evaluations.dynamic.page import build_courses
from openworld.evaluations.dynamic.terminal import MANY, terminal_course, terminal_legend, terminal_scenario

MORE = "As text: openworld report {folder} --table markdown"

FORMS = COURSE_FORMS
load, build = load_course_run, build_courses


def export(run, form: str) -> str:
    """The tables of all courses."""
    return export_courses(run.tables, form)


def say(run, out) -> None:
    """A table per course; of many courses one per scenario, with the means over its courses."""
    tables = run.tables
    many = len(tables) > MANY
    for table in scenario_tables(tables) if many else tables:
        title = table.title if many else table.key.title
        out.print(f"\n{title}", style="bold", markup=False)
        out.print(terminal_scenario(table) if many else terminal_course(table))
    out.print(f"\n{terminal_legend(tables[0].yardstick)}", markup=False)
    if many:
        out.print(f"Every one of the {len(tables)} courses is in the report.", markup=False)


TABLES = {"text": say}
