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
            help="Print the numbers instead, as: text, csv, markdown, latex or json; as parquet into --output; as hub "
            "(evaluation entries for the head of a model card) or card (a section of one)."
        ),
    ] = "",
    of: Annotated[str, typer.Option(help="With --table hub or card: only this learner, detector or method.")] = "",
    figures: Annotated[
        str,
        typer.Option(
            help="Save every figure for a paper instead, as: pdf, svg or png, at column width; into --output (default "
            "the folder figures of the run). Needs matplotlib: pip install 'openworld[plots]'."
        ),
    ] = "",
) -> None:
    """Write the report of a finished run again from its records: one HTML file, or tables, or figures for a paper.

    ```
    openworld report runs/demo --table latex --output tables.tex
    openworld report runs/demo --figures pdf
    openworld report runs/demo --table card --of GMoP
    ```
    """
    from openworld._errors import OpenworldError
    from openworld.cli._run_reports import save_figures, write_report, write_table

    if table and figures:
        raise OpenworldError("--table and --figures were both given; ask for one, and then for the other.")
    if of and table not in ("hub", "card"):
        raise OpenworldError("--of goes with --table hub or --table card; leave it out, or ask for one of them.")
    if figures:
        save_figures(folder, output, figures)
    elif table:
        write_table(folder, output, table, of)
    else:
        write_report(folder, output)
