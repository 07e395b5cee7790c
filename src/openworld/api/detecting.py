"""Detectors of what is out of distribution compared, and images flagged: `openworld detect`."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from openworld.api.arguments import (
    Images,
    Model,
    Models,
    NamedImages,
    Names,
    OutputFolder,
    Report,
    Scores,
    SeveralImages,
)
from openworld.api.work import made_by
from openworld.core.console import ALERTED, Ending, observing
from openworld.core.errors import OpenworldError
from openworld.core.types import Count, Positive, Range, checked

OF_THE_MODEL = ("model", "member", "architecture", "backbone")
"""What says which model it is; beside --apply, where it is not the one that the thresholds name."""

OF_IMAGES = ("ood", "train", "validation", "validation_ood", "negatives", "learner", "classnames")


@checked
def detect(
    images: SeveralImages = (),
    *,
    scores: Scores = "",
    model: Model = "",
    id: Images = "",
    ood: NamedImages = (),
    detector: Sequence[str] = (),
    flag_rate: float | None = None,
    apply: Path | str | None = None,
    out: Annotated[
        Path | str | None,
        OutputFolder(own=("compared detectors", "flagged images", "a run"), pages=("ood-benchmark", "ood-detection")),
    ] = None,
    quiet: bool = False,
    larger_out: bool = False,
    member: Models = (),
    train: Images = "",
    validation: Images = "",
    validation_ood: SeveralImages = (),
    at_most: float = 0.0,
    negatives: Names | None = None,
    learner: str = "",
    shots: Count = 16,
    architecture: str = "",
    classnames: Names | None = None,
    template: str = "a photo of a {}",
    backbone: str = "",
    root: str = "",
    replicates: Annotated[int, Range(0, 1_000_000)] = 200,
    levels: Annotated[int, Range(3, 1000)] = 8,
    least: Positive = 10,
    allow_corrupt: Count = 0,
    seed: int = 0,
    device: str = "auto",
) -> Report:
    """Tell which detector sees what is out of distribution (OOD), on sets of your own; then flag images with it.

    ```
    openworld detect --scores scores.parquet --out runs/detect
    openworld detect --model my-classifier --id mine --ood near=others/ \\
        --ood far:textures=dtd/images --flag-rate 0.05 --out runs/detect
    openworld detect --apply runs/detect today/
    ```

    **Scores** are a table with a row per image: `group` (id, near, far, covariate, full-spectrum), `set` (its name),
    and a column per detector, larger = more in-distribution (else `--larger-out`); perhaps `image`, `part`, `cluster`,
    or shift degrees (`semantic`, `covariate`, or `semantic_level`, `covariate_level`), which give the answer by cells
    of shift.

    **Images** are a folder, with a folder per class or without; NAME/DOMAIN/PART of `openworld list datasets`; a list
    of files (.txt); a file with `features` [n, D] or `logits` [n, C]; or a set of OpenOOD by name, such as
    `openood:imagenet`. Near and far sets show other classes, covariate sets the same ones in another appearance. In
    Python also an `ImageSet`, or columns.

    **Model**: a saved classifier, a state dict, `timm:NAME`, an exported file, `package.module:function`, a two-tower
    model by name, a saved learner, or, for features, a file with `weight` [C, D] and `bias` [C]. In Python also an
    object that docs/own-models.md lists, or a `FittedLearner`.

    **Threshold**: `--flag-rate 0.05` flags at most 5 % of in-distribution validation images. `--apply` uses it: exit
    code 0, or 3 where more than `--at-most` are flagged. With it `--model`, `--member`, `--architecture` and
    `--backbone` name what thresholds may not: code, and what would be fetched.

    More on sets, models, groups, settings and what is kept: docs/ood-benchmark.md; on detectors: docs/detectors.md;
    on shift degrees: docs/detect-by-shift.md.

    Args:
        images: with `--apply`: images that may be flagged.
        scores: scores of your own: .parquet, .csv, .npz, .safetensors, .jsonl; in Python also columns. What they hold:
            see Scores.
        model: a classifier, a two-tower model, a learner or a head: see Model.
        id: images of the model's classes: see Images.
        ood: GROUP=IMAGES, GROUP:NAME=IMAGES, or a set known by name; in Python also {"near:cars": images}.
        detector: NAME, NAME:setting=value, profile:NAME, or all; of scores, only these.
        flag_rate: fraction: choose thresholds that flag so many in-distribution images.
        apply: folder that keeps thresholds: flag the images with them.
        out: folder that keeps page, numbers, scores and thresholds.
        quiet: show no progress; on the command line, print nothing but errors.
        larger_out: these scores are larger for what is out of distribution.
        member: another classifier of the same classes, for DeepEnsemble.
        train: training images, if `id` has no part train.
        validation: images to choose a threshold on, if `id` has no such part.
        validation_ood: OOD images to choose settings of detectors on, in no tested set.
        at_most: with `apply`, fraction: exit code 3, `.found.alarm` in Python, where more images are flagged.
        negatives: words that NegLabel, CSP and AdaNeg choose from: wordnet, a folder, a text file.
        learner: NAME or NAME:setting=value: prompt learner that is trained on the model first.
        shots: images of each class that the learner is trained on; 0: all.
        architecture: what builds the network of a saved classifier or of a state dict of your own.
        classnames: text file, a name per line, for a two-tower model or a state dict.
        template: sentence around class names.
        backbone: of a saved learner, where it is not the one that it names, or that is code.
        root: folder that paths of lists are relative to, and in which downloads lie; default: $OPENWORLD_DATA.
        replicates: of the bootstrap for intervals of FPR and AUPR; 0: none.
        levels: of each axis, of scores with shift degrees.
        least: of such scores: cells with fewer images are N/A.
        allow_corrupt: unreadable images of a set that may be left out.
        seed: of the bootstrap, and of a learner's training.
        device: auto: a GPU where there is one; cpu, cuda, cuda:1, mps.

    Returns:
        A report that shows its answer; `.results` are its numbers and tests.

    Raises:
        OpenworldError: a model, images or scores that will not do, as the message says.

    >>> mine = {"group": ["id", "id", "far", "far"], "MSP": [0.9, 0.6, 0.7, 0.2]}
    >>> detect(scores=mine, replicates=0, quiet=True).results.value("MSP", "auroc", group="far").value
    0.75
    """
    question = _question(locals())
    from openworld.core.arrays import require_fraction

    require_fraction(flag_rate=flag_rate)
    if replicates == 1:
        raise OpenworldError("replicates is 1, expected 2 or more, or 0 for no bootstrap.")
    with observing(quiet=quiet) as observer:
        out = None if out is None else Path(out)
        settings: dict[str, Any] = {
            "out": out,
            "observer": observer,
            "made": {"command": shlex.join(made_by("detect"))},
            "detector": tuple(detector),
        }
        if question == "--scores":
            from openworld.ood.detect.on_scores import detect_scores

            settings |= {"larger_out": larger_out, "flag_rate": flag_rate, "replicates": replicates, "seed": seed}
            return replace(detect_scores(scores, levels=levels, least=least, **settings), ending=Ending.at(out))

        from openworld.ood.detect.choosing import GivenModel, names_of

        words = str(negatives or "") if isinstance(negatives, str | Path | None) else tuple(negatives)
        of_model = (model, architecture, tuple(member), template, names_of(classnames), backbone)
        wanted_model = GivenModel(*of_model, words, learner, shots, seed, device)
        settings |= {"root": root, "allow_corrupt": allow_corrupt}
        if question == "--apply" and apply is not None:
            from openworld.ood.thresholds import apply_thresholds

            settings |= {"images": images, "named": wanted_model, "at_most": at_most}
            report = apply_thresholds(Path(apply), **settings)
            return replace(report, ending=Ending.at(out, exit_code=ALERTED if report.found.alarm else 0))
        from openworld.ood.detect.on_images import detect_images

        how: dict[str, Any] = {"flag_rate": flag_rate, "replicates": replicates, **settings}
        how |= {"train": train, "validation": validation, "validation_ood": validation_ood}
        return replace(detect_images(wanted_model, id, ood, **how), ending=Ending.at(out))


def _question(given: Mapping[str, Any]) -> str:
    """Return which of three ways is asked for; refuse what the others alone look at."""
    ways = {f"--{name}": given[name] for name in ("scores", "apply", "id")}
    asked = [way for way, value in ways.items() if _is_given(value)]
    if len(asked) != 1:
        every = "--scores FILE, --model MODEL --id IMAGES --ood GROUP=IMAGES, or --apply FOLDER IMAGES"
        raise OpenworldError(f"{'several' if asked else 'none'} of {every} came; give one of the three.")
    (way,) = asked
    if given["images"] and way != "--apply":
        first = given["images"][0]
        raise OpenworldError(f"{first} came without --apply; name in-distribution images with --id, others --ood.")
    unread = () if way == "--id" else OF_IMAGES if way == "--apply" else (*OF_THE_MODEL, *OF_IMAGES)
    for name in unread:
        if _is_given(given[name]):
            option = f"--{name.replace('_', '-')}"
            raise OpenworldError(f"{option} is of a model and images, and {way} came; leave it out.")
    return way


def _is_given(value: Any) -> bool:
    return value is not None and not (isinstance(value, str | list | tuple | dict) and not value)
