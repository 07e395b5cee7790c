"""`openworld report RUN`: the page of a finished run, made again from its records."""

from pathlib import Path
from typing import Annotated

import typer


def report(
    folder: Annotated[Path, typer.Argument(help="Folder of a run (it holds run.json).")],
    output: Annotated[
        Path | None,
        typer.Option(
            help="Where to write the page (default report.html in the folder), the tables of --table, or the folder of "
            "--figures."
        ),
    ] = None,
    table: Annotated[
        str,
        typer.Option(
            help="Print the numbers instead, as: text, csv, markdown, latex or json; or as parquet into --output."
        ),
    ] = "",
    figures: Annotated[
        str,
        typer.Option(
            help="Save every figure for a paper instead, as: pdf, svg or png, at column width; into --output (default "
            "the folder figures of the run). Needs matplotlib: pip install 'openworld[plots]'."
        ),
    ] = "",
) -> None:
    """Write the report of a finished run again from its records: one HTML file, or tables, or figures for a paper."""
    from openworld._errors import OpenworldError
    from openworld.cli._run_reports import save_figures, write_report, write_table

    if table and figures:
        raise OpenworldError("--table and --figures were both given; ask for one, and then for the other.")
    if figures:
        save_figures(folder, output, figures)
    elif table:
        write_table(folder, output, table)
    else:
        write_report(folder, output)
