"""`openworld shift`: how far are images from a reference, in meaning and in appearance."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from openworld.cli._options import AsJson, Device, Quiet


def shift(
    reference: Annotated[str, typer.Option(help="Images that a model knows: a folder, or NAME/DOMAIN/PART.")],
    test: Annotated[list[str], typer.Option(help="Images to measure: the same; repeat it for each style.")],
    backbone: Annotated[str, typer.Option(help="Two-tower backbone whose features are used.")] = "embedded",
    laid: Annotated[Path | None, typer.Option(help="A kept LAID; fitted to class names if left out.")] = None,
    classnames: Annotated[Path | None, typer.Option(help="Text file, a name per line, for LAID to learn from.")] = None,
    templates: Annotated[Path | None, typer.Option(help="Text file, a sentence with {} per line, for LAID.")] = None,
    taught_by: Annotated[
        str, typer.Option(help="What LAID learns from: texts, or pictures (images of the reference).")
    ] = "texts",
    most_names: Annotated[
        int, typer.Option(min=0, help="LAID learns from so many names at most, drawn from all; 0: from all.")
    ] = 200,
    neighbour: Annotated[int, typer.Option(min=1, help="A degree is the distance to this neighbour.")] = 10,
    levels: Annotated[int, typer.Option(min=3, help="Levels of each axis of the grid.")] = 8,
    levels_of: Annotated[Path | None, typer.Option(help="shift.json of an earlier run, for its levels.")] = None,
    least: Annotated[int, typer.Option(min=1, help="Cells with fewer images are N/A.")] = 10,
    out: Annotated[Path | None, typer.Option(help="Keep page, degrees, JSON and LAID here.")] = None,
    allow_corrupt: Annotated[int, typer.Option(min=0, help="Unreadable images that may be left out.")] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Of LAID and of samples.")] = 0,
    device: Device = "auto",
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Tell how far images are from a reference, in meaning (semantic shift) and in appearance (covariate shift).

    ```
    openworld shift --reference train/ --test new/ --out runs/new
    openworld shift --reference emoji-concepts/twemoji/train \\
        --test emoji-concepts/noto/test --test emoji-concepts-b/noto/test
    openworld shift --reference train/ --test live/ --backbone ViT-B/16 \\
        --laid runs/new/laid.safetensors
    ```

    A degree is the cosine distance to the 10th nearest reference image, in one half of the backbone's features. LAID
    splits them: from class names in many sentences it learns which half tells of meaning and which of appearance. An
    image is called far where its degree is above what 95 % of the reference's own images keep from the others.

    **Images** are a folder with a sub-folder per class, any folder of images, or a data set of `openworld list` as
    NAME, NAME/DOMAIN or NAME/DOMAIN/PART. Class folders name the concepts; several `--test` are compared as styles.

    **Your own model**: `--backbone module:function` is a function without arguments that returns a two-tower model.
    Images may be a .npz or .parquet file with `embeddings` [n, D]; the backbone is then a file with `classnames` and
    `class_embeddings` [C, S, D], each name in S sentences (docs/own-models.md).

    **LAID** needs class names, 20 or more: those of the class folders, or `--classnames`; WordNet ids (n01440764) are
    named by a local WordNet 3.0. The paper's teacher has 20,113 names: `--classnames FILE --most-names 0`. With
    `--taught-by pictures` it learns from an image of each class of the reference, drawn over in many appearances, and
    from activations that see appearance. With `--out` it is kept for `--laid`, so that degrees of later images are
    measured alike.

    **Kept** with `--out`: report.html, degrees.parquet and degrees.csv (a row per image), shift.json,
    laid.safetensors. **Memory** stays flat: two blocks of 32,768 features (4 bytes times their width), some 400 MB
    to search, and some 100 bytes an image. Features are kept on disk (`openworld cache`): started again, it goes on.
    """
    from openworld.applications.shift import command
    from openworld.applications.shift.decomposition import DecompositionSource
    from openworld.applications.shift.measurement import ShiftOptions
    from openworld.cli import console

    options = ShiftOptions(neighbour, levels, least, seed, command.read_levels(levels_of))
    source = DecompositionSource(laid, classnames, templates, taught_by, most_names)
    inputs = command.ShiftInputs(reference, tuple(test), backbone, source, device, allow_corrupt, out)
    screen = console.output(quiet=quiet or as_json)
    with console.observer(screen) as observer:
        answer = command.measure_shift(inputs, options, observer, {"command": shlex.join(console.command())})
    kept = "" if out is None else f"Degrees: {out / command.TABLE}.csv, .parquet   LAID: {out / command.LAID}"
    console.show(answer, screen, out=out, kept=kept, as_json=as_json)
