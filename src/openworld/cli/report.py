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
