"""`openworld score FILE`: bring your own predictions."""

from pathlib import Path
from typing import Annotated

import typer

from openworld.cli._options import AsJson


def score(
    file: Annotated[Path, typer.Argument(help="Predictions: .parquet, .csv or .npz, columns as above.")],
    out: Annotated[Path | None, typer.Option(help="Also keep records and a report in this folder.")] = None,
    name: Annotated[str, typer.Option(help="Of the model, where the file has no column `model`.")] = "",
    all_pairs: Annotated[
        bool,
        typer.Option(
            "--all-pairs", help="Test every model against every other, also of more than 100, where only the best is."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """OpenworldAUC and its companions for predictions that you made with your own code.

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
    """
    import os

    # Arrow's own memory keeps what is freed for later: 400 MB of ten million rows.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    from openworld.applications import score as scoring
    from openworld.cli import console
    from openworld.evaluations.finished_runs import read_report
    from openworld.runs.scratch import ScratchFolder

    with ScratchFolder() as scratch:
        folder = out or Path(scratch)
        scoring.score_file(file, folder, console.command(), model=name or "model", all_pairs=all_pairs)
        with console.working():
            report = read_report(folder)
            page = report.write() if out else None
        if as_json:
            console.write(report.export("json"))
            return
        screen = console.output()
        report.show(screen)
        if page:
            screen.print(f"Report: {page}   Records: {folder}/")
