"""`openworld report RUN`: the page of a finished run, made again from its records."""

from pathlib import Path
from typing import Annotated

import typer


def report(
    folder: Annotated[Path, typer.Argument(help="Folder of a run (it holds run.json).")],
    output: Annotated[
        Path | None, typer.Option(help="Where to write the page; default report.html in the folder.")
    ] = None,
    table: Annotated[
        str,
        typer.Option(
            help="Print the tables instead, as: text, csv, markdown, latex or json; mixtures or mixtures-csv: with one "
            "half of the classes shrunk; estimates: every accuracy that was estimated without labels, as CSV; "
            "cells: every cell of measured shift, as CSV."
        ),
    ] = "",
) -> None:
    """Build the report of a run from its records alone: one HTML file that needs no network."""
    from openworld import report as reports
    from openworld.cli import console
    from openworld.cli._open_world_shifts import report_open_world_shifts
    from openworld.cli._running import say_tables

    if reports.played_courses(folder):
        _report_courses(folder, output, table)
        return
    if reports.estimated_accuracy(folder):
        _report_estimates(folder, output, table)
        return
    if reports.shifted(folder):
        _report_shifts(folder, output, table)
        return
    if reports.played_open_world_shifts(folder):
        report_open_world_shifts(folder, output, table)
        return
    if not table:
        page = reports.build(folder, output=output)
        print(f"Report: {page}")
        return
    summary = reports.summarise(reports.load(folder).outcomes)
    if table.startswith("mixtures"):
        _report_mixtures(summary, table)
        return
    if table != "text":
        print(reports.export(summary, table), end="")
        return
    say_tables(summary, console.output())


def _report_mixtures(summary, form: str) -> None:
    """Learners with one half of the classes shrunk."""
    from openworld._errors import OpenworldError, unknown_name
    from openworld.cli import console
    from openworld.report.mix_tables import mixes_csv, terminal_mixes

    if form not in ("mixtures", "mixtures-csv"):
        raise unknown_name("table form", form, ("mixtures", "mixtures-csv"))
    drawn = [terminal_mixes(table) for table in summary.tables]
    if None in drawn:
        raise OpenworldError("these records hold no other mixes of base and new images; only a run of ours draws them.")
    if form == "mixtures-csv":
        print(mixes_csv(summary.tables), end="")
        return
    out = console.output()
    for table, one in zip(summary.tables, drawn, strict=True):
        out.print(f"\n{table.title}", style="bold", markup=False)
        out.print(one)


def _report_estimates(folder: Path, output: Path | None, table: str) -> None:
    """The same for a run that estimated accuracies."""
    from openworld import report as reports
    from openworld.cli import console
    from openworld.cli._running import say_error_table

    if not table:
        print(f"Report: {reports.build_estimates(folder, output=output)}")
        return
    run = reports.load_estimates(folder)
    if table == "text":
        say_error_table(run, console.output())
        return
    print(reports.export_estimates(run, table), end="")


def _report_shifts(folder: Path, output: Path | None, table: str) -> None:
    """The same for a run of incremental shift."""
    from openworld import report as reports
    from openworld.cli import console
    from openworld.cli._running import say_shift_table

    run = reports.load_shifts(folder)
    if not table:
        print(f"Report: {reports.build_shifts(folder, output=output, run=run)}")
        return
    if table == "text":
        say_shift_table(run, console.output())
        return
    print(reports.export_shifts(run, table), end="")


def _report_courses(folder: Path, output: Path | None, table: str) -> None:
    """The same for a run of dynamic scenarios."""
    from openworld import report as reports
    from openworld.cli import console
    from openworld.cli._running import say_course_tables

    if not table:
        print(f"Report: {reports.build_courses(folder, output=output)}")
        return
    tables = reports.load_courses(folder)
    if table == "text":
        say_course_tables(tables, console.output())
        return
    print(reports.export_courses(tables, table), end="")
