"""Predictions of one's own, scored: `openworld score`."""

import os
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from openworld.api.arguments import OutputFolder, Report, Scores
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
            columns: Any = predictions  # of `as_input`
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
