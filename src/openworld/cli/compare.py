"""`openworld compare RUN RUN`: is the second run better than the first?"""

from pathlib import Path
from typing import Annotated

import typer


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
    as_json: Annotated[bool, typer.Option("--json", help="As JSON instead.")] = False,
) -> None:
    """Compare two runs record by record, and say for each learner whether it got better.

    Records are paired by task, learner and seed. What stands still within each run and differs between them, such as
    the backbone or the number of shots, is what you compare; with one learner in each run, it may be the learner. What
    else differs, such as the settings of a learner, is listed above the table.
    Every row is a paired test on the same test images, corrected over the table (Holm). Runs on other images are
    refused: their difference would be one of images too.

    Runs of recognition and generalisation, and predictions that were scored, are compared so. Two runs of OOD detection
    on one pool are set side by side detector by detector, with a paired test of every difference in AUROC (Holm). Runs
    of other evaluations are compared number by number, over the seeds that both runs have (Holm).
    """
    from openworld.cli._run_reports import show_comparison

    show_comparison(first, second, of, as_json=as_json)
