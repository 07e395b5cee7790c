"""`openworld compare RUN RUN`: is the second run better than the first?"""

from pathlib import Path
from typing import Annotated

import typer

from openworld.cli._options import AsJson


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
