"""`openworld report RUN`: the page of a finished run, made again from its records."""

from pathlib import Path
from typing import Annotated

import typer


def report(
    folder: Annotated[Path, typer.Argument(help="Folder of a run (it holds run.json).")],
    output: Annotated[
        Path | None, typer.Option(help="Where to write the page; default report.html in the folder.")
    ] = None,
    table: Annotated[str, typer.Option(help="Print the tables instead, as: text, csv, markdown, latex or json.")] = "",
) -> None:
    """Build the report of a run from its records alone: one HTML file that needs no network."""
    from openworld import report as reports
    from openworld.cli import console
    from openworld.cli._running import say_table

    if reports.played_courses(folder):
        _report_courses(folder, output, table)
        return
    if not table:
        page = reports.build(folder, output=output)
        print(f"Report: {page}")
        return
    summary = reports.summarise(reports.load(folder).outcomes)
    if table != "text":
        print(reports.export(summary, table), end="")
        return
    out = console.output()
    for one in summary.tables:
        say_table(one, [one.best], out)


def _report_courses(folder: Path, output: Path | None, table: str) -> None:
    """The same for a run of dynamic scenarios."""
    from openworld import report as reports
    from openworld._errors import unknown_name
    from openworld.cli import console

    if not table:
        print(f"Report: {reports.build_courses(folder, output=output)}")
        return
    tables = reports.load_courses(folder)
    writers = {"csv": reports.robustness_csv, "json": reports.courses_json}
    if table == "text":
        out = console.output()
        for one in tables:
            out.print(f"\n{one.key.title}", style="bold", markup=False)
            out.print(reports.terminal_course(one))
        return
    if table not in writers:
        raise unknown_name("table form", table, ("text", *writers))
    print(writers[table](tables), end="")
