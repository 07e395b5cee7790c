"""What the command line says of dynamic scenarios: a table per course, of many courses one per scenario."""

from openworld import report

MORE = "As text: openworld report {folder} --table markdown"

FORMS = report.COURSE_FORMS
load, build = report.load_course_run, report.build_courses


def export(run, form: str) -> str:
    """The tables of all courses."""
    return report.export_courses(run.tables, form)


def say(run, out) -> None:
    """A table per course; of many courses one per scenario, with the means over its courses."""
    tables = run.tables
    many = len(tables) > report.MANY
    for table in report.scenario_tables(tables) if many else tables:
        title = table.title if many else table.key.title
        out.print(f"\n{title}", style="bold", markup=False)
        out.print(report.terminal_scenario(table) if many else report.terminal_course(table))
    out.print(f"\n{report.terminal_legend(tables[0].yardstick)}", markup=False)
    if many:
        out.print(f"Every one of the {len(tables)} courses is in the report.", markup=False)


TABLES = {"text": say}
