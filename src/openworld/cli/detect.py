"""`openworld detect`: which detector sees what is out of distribution; flag images with the one that does."""

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from openworld.cli._options import AsJson, Device, Quiet
from openworld.cli.estimate import ALERTED


def detect(
    images: Annotated[list[str] | None, typer.Argument(help="With --apply: images that may be flagged.")] = None,
    scores: Annotated[str, typer.Option(help="Scores of your own: .parquet, .csv or .npz; columns: see Scores.")] = "",
    larger_out: Annotated[
        bool, typer.Option("--larger-out", help="These scores are larger for what is out of distribution.")
    ] = False,
    model: Annotated[str, typer.Option(help="A classifier, a two-tower model, a learner or a head: see Model.")] = "",
    member: Annotated[
        list[str] | None, typer.Option(help="Another classifier of the same classes, for DeepEnsemble; repeat it.")
    ] = None,
    id: Annotated[str, typer.Option("--id", help="Images of the model's classes: see Images.")] = "",
    ood: Annotated[
        list[str] | None, typer.Option(help="GROUP=IMAGES, GROUP:NAME=IMAGES, or a set known by name; repeat it.")
    ] = None,
    train: Annotated[str, typer.Option(help="Training images, if --id has no part train.")] = "",
    validation: Annotated[str, typer.Option(help="To choose a threshold on, if --id has no such part.")] = "",
    validation_ood: Annotated[
        list[str] | None, typer.Option(help="OOD images to choose settings on, in no tested set; repeat it.")
    ] = None,
    detector: Annotated[
        list[str] | None, typer.Option(help="NAME, NAME:setting=value, LIBRARY:NAME, profile:NAME, or all; repeat it.")
    ] = None,
    flag_rate: Annotated[
        float | None, typer.Option(help="Fraction: choose thresholds that flag so many in-distribution images.")
    ] = None,
    apply: Annotated[Path | None, typer.Option(help="Folder of kept thresholds: flag IMAGES with them.")] = None,
    at_most: Annotated[
        float, typer.Option(help="With --apply, fraction: exit code 3 where more images are flagged.")
    ] = 0.0,
    negatives: Annotated[
        str, typer.Option(help="Words that NegLabel, CSP, AdaNeg choose from: wordnet, a folder, a text file.")
    ] = "",
    learner: Annotated[
        str, typer.Option(help="NAME or NAME:setting=value: prompt learner that is trained on --model first.")
    ] = "",
    shots: Annotated[int, typer.Option(min=0, help="Of each class, that the learner is trained on; 0: all.")] = 16,
    architecture: Annotated[
        str, typer.Option(help="What builds the network of a saved classifier or a state dict of your own.")
    ] = "",
    classnames: Annotated[
        Path | None, typer.Option(help="Text file, a name per line, for a two-tower model or a state dict.")
    ] = None,
    template: Annotated[str, typer.Option(help="Sentence around class names.")] = "a photo of a {}",
    backbone: Annotated[
        str, typer.Option(help="Of a saved learner, where it is not the one that it names, or that is code.")
    ] = "",
    root: Annotated[
        str, typer.Option(help="Folder that paths of lists are relative to, and in which downloads lie.")
    ] = "",
    replicates: Annotated[
        int, typer.Option(min=0, help="Of the bootstrap for intervals of FPR and AUPR; 0: none.")
    ] = 200,
    levels: Annotated[int, typer.Option(min=3, help="Of each axis, of scores with shift degrees.")] = 8,
    least: Annotated[int, typer.Option(min=1, help="Of such scores: cells with fewer images are N/A.")] = 10,
    out: Annotated[Path | None, typer.Option(help="Keep page, numbers, scores and thresholds here.")] = None,
    allow_corrupt: Annotated[int, typer.Option(min=0, help="Unreadable images of a set that may be left out.")] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Of the bootstrap, and of a learner's training.")] = 0,
    device: Device = "auto",
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Tell which detector sees what is out of distribution (OOD), on sets of your own; then flag images with it.

    ```
    openworld detect --scores scores.parquet --out runs/detect
    openworld detect --model my-classifier --id mine --ood near=others/ \\
        --ood far:textures=dtd/images --flag-rate 0.05 --out runs/detect
    openworld detect --apply runs/detect today/
    ```

    **Scores** are a table with a row per image: `group` (id, near, far, covariate, full-spectrum), `set` (its name),
    and a column per detector, larger = more in-distribution (else `--larger-out`); perhaps `image`, `part`, `cluster`,
    or shift degrees (`semantic`, `covariate`).

    **Images** are a folder, with a folder per class or without; NAME/DOMAIN/PART of `openworld list datasets`; a list
    of files (.txt); a file with `features` [n, D] or `logits` [n, C]; or a set of OpenOOD by name, such as
    `openood:imagenet`. Near and far sets show other classes, covariate sets the same ones in another appearance.

    **Model**: a saved classifier, a state dict, `timm:NAME`, an exported file, `package.module:function`, a two-tower
    model by name, a saved learner, or, for features, a file with `weight` [C, D] and `bias` [C].

    **Threshold**: `--flag-rate 0.05` flags at most 5 % of in-distribution validation images. `--apply` uses it: exit
    code 0, or 3 where more than `--at-most` are flagged.

    More on sets, models, groups, settings and what is kept: docs/ood-benchmark.md; on detectors: docs/detectors.md;
    on shift degrees: docs/ood-detection.md.
    """
    from openworld.api.detecting import answer
    from openworld.applications.detect import command
    from openworld.cli import console

    inputs = command.DetectInputs(
        scores=scores,
        larger_out=larger_out,
        levels=levels,
        least=least,
        apply=apply,
        images=tuple(images or ()),
        at_most=at_most,
        known=id,
        ood=tuple(ood or ()),
        train=train,
        validation=validation,
        validation_ood=tuple(validation_ood or ()),
        detectors=tuple(detector or ()),
        model=model,
        member=tuple(member or ()),
        architecture=architecture,
        backbone=backbone,
        classnames=command.read_names(classnames),
        template=template,
        negatives=negatives,
        learner=learner,
        shots=shots,
        seed=seed,
        root=root,
        allow_corrupt=allow_corrupt,
        device=device,
    )
    options = command.DetectOptions(replicates, seed, out, flag_rate)
    screen = console.output(quiet=quiet or as_json)
    with console.observer(screen) as observer:
        report = answer(inputs, options, observer, shlex.join(console.command()))
    console.show(report, screen, out=out, as_json=as_json)
    if apply is not None and report.found.alarm:
        sys.exit(ALERTED)
