"""Compare detectors of what is out of distribution, and flag images: what `openworld detect` does."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from openworld._errors import OpenworldError
from openworld._observer import Observer
from openworld._score_files import is_table, scores_of
from openworld._types import Count, Positive, Range, checked
from openworld.api.inputs import images_of
from openworld.api.progress import observing
from openworld.report.report import Report

if TYPE_CHECKING:
    from openworld.applications.detect.command import DetectInputs, DetectOptions


@checked
def detect(
    images: Any = None,
    *,
    scores: Any = "",
    larger_out: bool = False,
    model: Any = "",
    member: Sequence[Any] = (),
    id: Any = "",
    ood: Sequence[str] | Mapping[str, Any] = (),
    train: Any = "",
    validation: Any = "",
    validation_ood: Sequence[Any] = (),
    detector: Sequence[str] = (),
    flag_rate: float | None = None,
    apply: Path | str | None = None,
    at_most: float = 0.0,
    negatives: Path | str | Sequence[str] = "",
    learner: str = "",
    shots: Count = 16,
    architecture: str = "",
    classnames: Path | str | Sequence[str] | None = None,
    template: str = "a photo of a {}",
    backbone: str = "",
    root: str = "",
    replicates: Annotated[int, Range(0, 1_000_000)] = 200,
    levels: Annotated[int, Range(3, 1000)] = 8,
    least: Positive = 10,
    out: Path | str | None = None,
    allow_corrupt: Count = 0,
    seed: int = 0,
    device: str = "auto",
    quiet: bool = False,
) -> Report:
    """Tell which detector sees what is out of distribution, on sets of one's own; or flag images with thresholds.

    Args:
        images: with `apply`, what may be flagged: a folder, a list, or several.
        scores: a file, or columns (a mapping of arrays, a table of pandas, polars or pyarrow): `group` ("id", "near",
            "far", "covariate", "full-spectrum"), `set`, perhaps `part`, `image` and `cluster`, and a column of scores
            per detector, larger = more in-distribution. With `semantic` and `covariate`, shift degrees (or
            `semantic_level` and `covariate_level`), the answer is by cells of shift.
        larger_out: these scores are larger for what is out of distribution.
        model: as for the command, or an object that `docs/own-models.md` lists.
        member: other classifiers of the same classes, for DeepEnsemble.
        id, train, validation: in-distribution images: places as for the command, image sets, or columns with
            `features` or `logits` and `labels`.
        ood: {"near:cars": images, "far": images}, or words as for the command, "near:cars=cars/", "openood:imagenet".
        validation_ood: places of images out of distribution on which settings of detectors are chosen; none of them
            among the tested.
        detector: names as for the command; of scores, only these.
        flag_rate: share of in-distribution images that thresholds may flag; None for no thresholds.
        apply: folder that keeps thresholds; `images` are flagged with them.
        at_most: with `apply`, the share of flagged images that is no alarm (`.found.alarm`).
        negatives: words of which NegLabel, CSP and AdaNeg choose those far from all classes: "wordnet", a folder, a
            text file, or the words.
        learner: prompt learner that is trained on `model` first, with `shots` images of each class (0 for all). A
            `FittedLearner`, or the folder of a saved one, is a `model`.
        architecture: what builds the network of a saved classifier or of a state dict.
        classnames: of a two-tower model or a state dict, a file or names.
        backbone: of a saved learner, where it is not the one that it names, or that is code. Beside `apply`, `model`,
            `member`, `architecture` and `backbone` name what thresholds may not: code, and what would be fetched.
        root: of the paths of lists, and of downloads, such as OpenOOD's data folder; "" for $OPENWORLD_DATA.
        replicates: of the bootstrap that gives FPR and AUPR their intervals; 0 for none.
        levels: of each axis, of scores with shift degrees. least: cells with fewer images are N/A.
        out: folder that keeps page, numbers, scores and thresholds; None for none.
        quiet: show no progress.

    Returns:
        A report that shows its answer; `.results` are its numbers and tests.

    Raises:
        OpenworldError: a model, images or scores that will not do, as the message says.

    >>> mine = {"group": ["id", "id", "far", "far"], "MSP": [0.9, 0.6, 0.7, 0.2]}
    >>> detect(scores=mine, replicates=0, quiet=True).results.value("MSP", "auroc", group="far").value
    0.75
    """
    from openworld.applications.detect import command

    places = () if images is None else tuple(images) if isinstance(images, list | tuple) else (images,)
    strange = validation_ood if isinstance(validation_ood, list | tuple) else (validation_ood,)
    if not isinstance(scores, str | Path) and scores is not None:
        scores = _columns(scores, "the table")
    inputs = command.DetectInputs(
        scores=str(scores) if isinstance(scores, Path) else scores,
        larger_out=larger_out,
        levels=levels,
        least=least,
        apply=None if apply is None else Path(apply),
        images=tuple(_place(where, "images") for where in places),
        at_most=at_most,
        known=_place(id, "in-distribution images"),
        ood={title: _place(where, title) for title, where in ood.items()} if isinstance(ood, Mapping) else tuple(ood),
        train=_place(train, "training images"),
        validation=_place(validation, "validation images"),
        validation_ood=tuple(_place(where, "validation images out of distribution") for where in strange),
        detectors=tuple(detector),
        model=model,
        member=tuple(member),
        architecture=architecture,
        backbone=backbone,
        classnames=command.read_names(classnames),
        template=template,
        negatives=str(negatives) if isinstance(negatives, str | Path) else tuple(negatives),
        learner=learner,
        shots=shots,
        seed=seed,
        root=root,
        allow_corrupt=allow_corrupt,
        device=device,
    )
    options = command.DetectOptions(replicates, seed, None if out is None else Path(out), flag_rate)
    with observing(quiet=quiet) as observer:
        return answer(inputs, options, observer, "openworld.detect")


def answer(inputs: "DetectInputs", options: "DetectOptions", observer: Observer, made: str) -> Report:
    """Return the report of what is asked: scores, those with degrees by cell, a model, or kept thresholds."""
    from openworld.api.shift_scores import detect_by_shift
    from openworld.applications.detect import applying, command
    from openworld.applications.detect.shift_scores import have_places

    question = inputs.question
    if question == "apply":
        return applying.apply_thresholds(inputs, out=options.out, observer=observer, made=made)
    if question == "images":
        return command.detect_images(inputs, options, observer, made)
    if have_places(inputs.scores):
        return detect_by_shift(inputs, options, observer, made)
    return command.detect_scores(inputs, options, observer, made)


def _place(given: Any, name: str) -> Any:
    """A path as text, an image set, or columns as a file of features."""
    if isinstance(given, str | Path):
        return str(given)
    found = images_of(given, name)
    return _columns(given, name) if found is None else found


def _columns(given: Any, name: str) -> Any:
    if not is_table(given):
        raise OpenworldError(f"{name} came as {type(given).__name__}, expected a place, an image set, or columns.")
    return scores_of(given, name)
