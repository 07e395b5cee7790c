"""Commands about finished runs: `openworld report`, `compare`, `average` and `cite`."""

from pathlib import Path
from typing import Annotated

import typer

from openworld.cli import console
from openworld.cli._options import AsJson


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


def compare(
    first: Annotated[Path, typer.Argument(help="Folder of a run.")],
    second: Annotated[Path, typer.Argument(help="Folder of another run on the same test images.")],
    of: Annotated[
        str,
        typer.Option(
            help="What to compare: openworld_auc (default), auroc, base_accuracy, new_accuracy, harmonic_mean, ...; "
            "runs of OOD detection: auroc (default), auroc_slope, fpr_out_positive, aupr_in, ..."
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Compare two runs on the same test images, and say for each learner or detector whether it got better.

    Change one thing between the runs, such as the backbone or the number of training images: that is what is compared.
    Whatever else differs, such as the settings of a learner, is listed above the table. Runs on other test images are
    refused, because part of their difference would come from the images.

    Every row is a paired test, and the p-values of the table are corrected for their number (Holm). Runs of learners,
    and predictions that were scored, are paired image by image; runs of OOD detection cell by cell; runs of other
    evaluations number by number, over the seeds that both runs have.
    """
    from openworld.cli._run_reports import show_comparison

    show_comparison(first, second, of, as_json=as_json)


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

    report = averaged(runs, of=of, out=out)
    if as_json:
        console.write(report.results.to_json())
        return
    kept = "" if out is None else f"Numbers: {out / 'results.parquet'}"
    console.show(report, console.output(), out=out, kept=kept)


def cite(runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="Folder of a finished run.")]) -> None:
    """Print BibTeX entries of everything that runs used: evaluations, methods, models and data sets, each once.

    What has no entry, such as a data set of your own, is named in a comment. Entries of methods that you name:
    `openworld list --cite CoOp MSP`.

    ```
    openworld cite runs/demo runs/shots > references.bib
    ```
    """
    from openworld.api.citing import cite as cite_runs

    console.write(cite_runs(*runs))
