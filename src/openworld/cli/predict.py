"""`openworld predict MODEL IMAGES...`: what a fitted learner says about images."""

from pathlib import Path
from typing import Annotated

import typer

from openworld.cli._options import AsJson, Device


def predict(
    model: Annotated[Path, typer.Argument(help="Folder that `FittedLearner.save` wrote, or the folder of a run.")],
    images: Annotated[list[Path], typer.Argument(help="Images, folders of images; or a data set.")],
    unit: Annotated[str, typer.Option(help='Which learner of a run, such as "GMoP, seed 1".')] = "",
    new: Annotated[list[str] | None, typer.Option(help="Name of a class that it was not tuned on; repeat it.")] = None,
    new_names: Annotated[Path | None, typer.Option(help="Text file of such names, one per line.")] = None,
    run_names: Annotated[bool, typer.Option("--run-names", help="Also the new names that the run tested.")] = False,
    backbone: Annotated[
        str, typer.Option(help="Default: the one it was fitted on, if that is here and no code of yours.")
    ] = "",
    template: Annotated[str, typer.Option(help='Sentence of zero-shot CLIP, such as "a photo of a {}."')] = "",
    threshold: Annotated[
        float | None, typer.Option(min=0, max=1, help="Fraction: an image of less baseness looks new.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="How many names to give.")] = 1,
    device: Device = "auto",
    allow_corrupt: Annotated[int, typer.Option(min=0, help="Unreadable images to leave out; more stop it.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Keep scores, logits and names: .parquet, .csv, .npz, .safetensors.")
    ] = None,
    labelled: Annotated[
        bool, typer.Option("--labelled", help="Beside --out: images lie in folders named after their classes.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="The predictions alone.")] = False,
    as_json: AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="As CSV instead.")] = False,
) -> None:
    """Name images with a fitted learner, tell how much each looks like a class it was tuned on, and compare.

    Names are chosen among the base names, which the learner brings, and the new names given here. *Baseness* is its
    probability (percent) that the image is of a base class at all; its place among the images, 1 = most like base,
    is often worth more than the number. Beside it stands what zero-shot CLIP says, on the same backbone and names.

    No threshold is saved. With `--threshold 0.8` an image whose baseness is below 0.8 (80.0 in the table) looks new
    and is called by its best new name; from 0.8 on it looks base and is called by its best base name.
    `openworld decide RUN` chooses a threshold and says what it misses and hits; it holds for the run's own new names
    (`--run-names`), since every further name takes its share of baseness.

    In CSV a name that a spreadsheet would compute, since it begins with =, +, - or @, has an apostrophe in front.

    Images are encoded anew and nothing is kept on disk. In Python: `openworld.learners.load` and `predict`.

    **To be judged without labels**: `--out` writes a stream, with a row per image, for `openworld estimate
    --open-world` and `openworld label plan`; the table is then left out. With `--labelled` the folder that an image
    lies in is its class, which gives `side` and `label`; a data set, as NAME/DOMAIN/PART, has labels of its own.

    ```
    openworld predict RUN validation/ --run-names --labelled \\
        --out validation.parquet
    openworld predict RUN stream/ --run-names --out stream.parquet
    ```
    """
    from openworld._errors import OpenworldError
    from openworld.applications import predict as predicting
    from openworld.applications.predicted_stream import require_stream, write_predicted
    from openworld.cli import console
    from openworld.report.render import terminal_table

    if as_json and as_csv:
        raise OpenworldError("--json and --csv came together; choose one.")
    choices = {"top": top, "threshold": threshold, "template": template, "backbone": backbone}
    names = (*(new or ()), *predicting.read_names(new_names))
    inputs = predicting.prediction_inputs(
        model, images, unit=unit, new=names, run_names=run_names, allow_corrupt=allow_corrupt, device=device, **choices
    )
    require_stream(out, inputs, labelled)
    with console.observer(console.output(quiet=quiet or as_json or as_csv)) as observer:
        report = predicting.predict_images(inputs, observer)
    screen = console.output()
    if out is not None:
        write_predicted(report.found, out, labelled)
    if as_json or as_csv:
        console.write(report.to_json() if as_json else report.found.to_csv())
        return
    if out is not None:
        if not quiet:
            screen.print(report.verdict[0], markup=False)
            screen.print(f"Stream: {out}", markup=False)
    elif quiet:
        screen.print(terminal_table(report.tables["predictions"].table))
    else:
        report.show(screen)
