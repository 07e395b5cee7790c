"""Which detector sees what is out of distribution: scores, a model with images, or thresholds that are applied."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from openworld._arrays import require_fraction
from openworld._errors import OpenworldError
from openworld._observer import SILENT, Observer
from openworld.report.report import Report

MOST_REPLICATES = 1_000_000
OF_THE_MODEL = ("model", "member", "architecture", "backbone")
"""What says which model it is; beside --apply, where it is not the one that the thresholds name."""

OF_IMAGES = ("ood", "train", "validation", "validation_ood", "negatives", "learner", "classnames")


def detect(
    images: Sequence[Any] = (),
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
    apply: Path | None = None,
    at_most: float = 0.0,
    negatives: str | Sequence[str] = "",
    learner: str = "",
    shots: int = 16,
    architecture: str = "",
    classnames: Path | str | Sequence[str] | None = None,
    template: str = "a photo of a {}",
    backbone: str = "",
    root: str = "",
    replicates: int = 200,
    levels: int = 8,
    least: int = 10,
    out: Path | None = None,
    allow_corrupt: int = 0,
    seed: int = 0,
    device: str = "auto",
    observer: Observer = SILENT,
    made: str = "",
) -> Report:
    """Return the report of what is asked; every argument is as in `openworld.detect`, places of images as loaded there.

    Args:
        observer: hears how far it is.
        made: the command that is noted on the page.
    """
    question = _question(scores, apply, id, images, locals())
    require_fraction(flag_rate=flag_rate)
    if replicates < 0 or replicates == 1:
        raise OpenworldError(f"replicates is {replicates}, expected 2 or more, or 0 for no bootstrap.")
    if replicates > MOST_REPLICATES:
        raise OpenworldError(f"replicates is {replicates}, expected at most {MOST_REPLICATES:,}.")
    kept = {"out": out, "observer": observer, "made": made}
    if question == "--scores":
        from openworld.ood.detect.shift_scores import have_places

        how = {"larger_out": larger_out, "detector": tuple(detector), "flag_rate": flag_rate, **kept}
        if have_places(scores):
            from openworld.ood.by_shift.own_scores import detect_by_shift

            return detect_by_shift(scores, levels=levels, least=least, **how)
        from openworld.ood.detect.on_scores import detect_scores

        return detect_scores(scores, replicates=replicates, seed=seed, **how)

    from openworld.ood.detect.choosing import GivenModel

    names, words = names_of(classnames), negatives if isinstance(negatives, str) else tuple(negatives)
    made_from = (model, architecture, tuple(member), template, names, backbone, words, learner, shots, seed, device)
    named, read = GivenModel(*made_from), {"root": root, "allow_corrupt": allow_corrupt}
    if question == "--apply":
        from openworld.ood.detect.applying import apply_thresholds

        return apply_thresholds(apply, images, named, detector=tuple(detector), at_most=at_most, **read, **kept)
    from openworld.ood.detect.on_images import detect_images

    ood = ood if isinstance(ood, Mapping) else tuple(ood)
    how = {
        "train": train,
        "validation": validation,
        "validation_ood": tuple(validation_ood),
        "detector": tuple(detector),
    }
    return detect_images(named, id, ood, **how, flag_rate=flag_rate, replicates=replicates, **read, **kept)


def _question(scores: Any, apply: Any, id: Any, images: Sequence[Any], given: Mapping[str, Any]) -> str:
    """Return which of three ways is asked for; refuse what the others alone look at."""
    ways = {"--scores": scores, "--apply": apply, "--id": id}
    asked = [way for way, value in ways.items() if _is_given(value)]
    if len(asked) != 1:
        every = "--scores FILE, --model MODEL --id IMAGES --ood GROUP=IMAGES, or --apply FOLDER IMAGES"
        raise OpenworldError(f"{'several' if asked else 'none'} of {every} came; give one of the three.")
    (way,) = asked
    if images and way != "--apply":
        raise OpenworldError(f"{images[0]} came without --apply; name in-distribution images with --id, others --ood.")
    unread = () if way == "--id" else OF_IMAGES if way == "--apply" else (*OF_THE_MODEL, *OF_IMAGES)
    for name in unread:
        if _is_given(given[name]):
            option = f"--{name.replace('_', '-')}"
            raise OpenworldError(f"{option} is of a model and images, and {way} came; leave it out.")
    return way


def _is_given(value: Any) -> bool:
    return value is not None and not (isinstance(value, str | list | tuple | dict) and not value)


def names_of(classnames: Path | str | Sequence[str] | None) -> tuple[str, ...]:
    """Return class names that were given, or that a text file has, one a line; () for none."""
    from openworld.datasets.names.class_names import class_names

    if classnames is None:
        return ()
    return class_names(str(classnames)).names if isinstance(classnames, str | Path) else tuple(classnames)
