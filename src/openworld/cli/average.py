"""`openworld average RUN RUN ...`: means over the data sets of several runs."""

from pathlib import Path
from typing import Annotated

import typer

from openworld.cli._options import AsJson


def average(
    runs: Annotated[list[Path], typer.Argument(help="Folders of finished runs of one evaluation, a data set each.")],
    of: Annotated[
        str, typer.Option(help="Metric, such as auroc or absolute_error; default: the first of the evaluation.")
    ] = "",
    out: Annotated[Path | None, typer.Option(help="Keep page and numbers here.")] = None,
    as_json: AsJson = False,
) -> None:
    """Average several runs of one evaluation, one on each data set, and say which methods differ over data sets.

    ```
    openworld average runs/dtd runs/eurosat runs/pets
    openworld average runs/near-*/ --of fpr_out_positive --out runs/all
    ```

    The mean counts every data set the same. Its two intervals say what they are over: seeds (these data sets, other
    draws and trainings) and data sets (these are a sample). Methods are tested in pairs over the data sets (Student's
    t, Holm), and ranked: Friedman's test, and Nemenyi's critical difference in a diagram. The page has a panel for
    each data set. Data sets bear the names of their folders.

    A spec with `[[each]]` makes such runs in one go: `openworld run --help`.
    """
    from openworld.api.averaging import average as averaged
    from openworld.cli import console

    report = averaged(runs, of=of, out=out)
    if as_json:
        console.write(report.results.to_json())
        return
    screen = console.output()
    report.show(screen)
    if out is not None:
        screen.print(f"Report: {out / 'report.html'}   Numbers: {out / 'results.parquet'}", markup=False)
