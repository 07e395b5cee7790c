"""Predictions of one's own, scored, and two finished runs side by side: `openworld score` and `openworld compare`."""

import os
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from openworld.api.arguments import OutputFolder, Report, Run, Scores
from openworld.api.finished_run import folder_of
from openworld.api.work import made_by
from openworld.core.console import Ending
from openworld.core.errors import OpenworldError, failing
from openworld.core.types import checked

TABLE = "predictions.parquet"


@checked
def score(
    predictions: Scores,
    out: Annotated[Path | str | None, OutputFolder(own=("a run",))] = None,
    *,
    name: str = "",
    all_pairs: bool = False,
) -> Report:
    """Score predictions that you made with your own code: OpenworldAUC and its companions.

    ```
    openworld score predictions.csv --out runs/mine
    ```

    A classifier that knows base classes alone is scored too: leave `correct` empty for new images. It has no
    OpenworldAUC then, which the page says; base accuracy, AUROC, FPR95 either way, AUPR either way and AURC stand.

    One row per image, columns:

    - `side` base or new: is the image of a class that the model was tuned on?
    - `score` number, larger = more base-like.
    - `correct` true or false: named right among the names of its own side? Or, instead, `label` and `prediction`.
      Empty for all new images, and no base image, where the classifier knows no new names.
    - `joint_prediction` (optional): the name among base and new names together, for the overall accuracy.
    - `confidence` (optional): probability of the prediction, for the calibration error.
    - `group` (optional): images that are not independent share a number or name; intervals and tests use it.
    - `part` (optional) test or validation: rows of validation enter no number here; `openworld decide` chooses a
      threshold on them (keep the records with `--out`).
    - `model`, `seed`, `id` (optional): several models in one file, compared on the images whose `id` they share;
      without `id`, row by row.

    Args:
        predictions: a .parquet, .csv, .npz, .safetensors or .jsonl file; in Python also columns: a mapping of arrays,
            or a table of pandas, polars or pyarrow.
        out: folder that keeps records and report.
        name: of the model where the table has no column `model`, and of the run in `compare`; default: model.
        all_pairs: test every model against every other, also of more than 100, of which the best alone is tested
            against all others. Corrections are for all pairs either way, since the best was chosen by these numbers.

    Returns:
        A finished run: `.results` are its numbers, `.images` what was kept of every image.

    Raises:
        OpenworldError: a table that lacks a column or holds what it cannot, as the message says.

    >>> mine = {"side": ["base", "base", "new", "new"], "score": [3, 2, 1, 0], "correct": [True, False, True, True]}
    >>> score(mine).verdict[0][:24]
    'OpenworldAUC of model is'
    """
    # Arrow's own memory keeps what is freed for later: 400 MB of ten million rows.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    from openworld.evaluations.finished_runs import read_report
    from openworld.own_data import score as scoring
    from openworld.runs.atomic import write_file
    from openworld.runs.scratch import ScratchFolder
    from openworld.tables.parquet import table_bytes

    held = ScratchFolder()
    scratch = Path(held.name)
    folder = scratch / "run" if out is None else Path(out)
    try:
        if isinstance(predictions, str):
            file = Path(predictions)
        else:  # columns are written into a file, of a matrix a column of lists
            file = scratch / TABLE
            columns: Any = predictions  # of `api.inputs`
            write_file(file, table_bytes(".parquet", columns.table()))
        title = "predictions" if file.parent == scratch else file.name
        scoring.score_file(file, folder, made_by("score"), title, name or "model", all_pairs=all_pairs)
        with failing():
            report = read_report(folder)
            place = "" if out is None else f"Report: {report.write()}   Records: {folder}/"
        run = replace(report, title="" if out is not None else name or title, ending=Ending(place))
    except BaseException as error:
        held.cleanup()
        if isinstance(error, OpenworldError):  # columns have no path that anybody knows
            error.args = (str(error).replace(str(scratch / TABLE), "the table"),)
        raise
    weakref.finalize(run, held.cleanup)
    return run


@checked
def compare(first: Run, second: Run, metric: str = "") -> Report:
    """Compare two runs on the same test images, and say for each learner or detector whether it got better.

    Change one thing between the runs, such as the backbone or the number of training images: that is what is compared.
    Whatever else differs, such as the settings of a learner, is listed above the table. Runs on other test images are
    refused, because part of their difference would come from the images.

    Every row is a paired test, and the p-values of the table are corrected for their number (Holm). Runs of learners,
    and predictions that were scored, are paired image by image; runs of OOD detection cell by cell; runs of other
    evaluations number by number, over the seeds that both runs have.

    Args:
        first: a run, or its folder.
        second: another run on the same test images.
        metric: what is compared: openworld_auc (default), auroc, base_accuracy, new_accuracy, harmonic_mean, ...; of
            runs of OOD detection auroc (default), auroc_slope, fpr_out_positive, aupr_in, ...

    Returns:
        A report: `.found.pairs` has each pair of numbers and its test, `.found.changes` what was asked differently.

    Raises:
        OpenworldError: runs of two evaluations, on other data, without a number in common; an unknown metric.
    """
    from openworld.evaluations.finished_runs import compare_runs
    from openworld.report.run_comparison import comparison_report

    folders = [folder_of(run) for run in (first, second)]
    here, there = (
        str(folder) if isinstance(run, str | Path) else str(getattr(run, "title", "") or folder)
        for run, folder in zip((first, second), folders, strict=True)
    )
    return comparison_report(compare_runs(*folders, metric, (here, there)))
