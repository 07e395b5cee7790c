"""Models look at the images of a source and a target, before accuracy is estimated from what they say."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from openworld._errors import OpenworldError, failing
from openworld.applications.estimate.images import (
    Panel,
    Shown,
    is_pictures,
    is_written,
    labelled_pictures,
    made_of,
    target_pictures,
    write_scores,
)
from openworld.applications.estimate.inputs import EstimateInputs, ModelNames
from openworld.applications.estimate.labelled_shifts import CORRUPTIONS, NamedShift
from openworld.applications.estimate.score_tables import open_table
from openworld.applications.observer import Observer
from openworld.datasets.templates import PHOTO


def refuse_models(models: ModelNames) -> None:
    """Refuse models beside files of scores: these hold what models said, and no image that one could look at."""
    named = {"--model": models.model, "--reference": models.reference, "--partner": models.partners}
    for option, value in (named | {"--architecture": models.architectures}).items():
        if value:
            raise OpenworldError(
                f"{option} needs pictures, and source and target are files of scores. A reference in files is a table "
                "`reference`, a partner a table `partner_1`, or --source-partner and --target-partner."
            )


def score_images(
    inputs: EstimateInputs,
    names: Sequence[str] | None,
    folder: Path,
    made: dict[str, str],
    observer: Observer,
    seed: int,
) -> tuple[list[str], list[str], list[NamedShift]]:
    """Return the files of scores of source, target and labelled shifts; those of images are written into a folder.

    Args:
        inputs: as the command has them. names: class names given, or None. made: takes what is worth keeping. seed: of
            corruptions.
    """
    shown = {f"source-{place}": labelled_pictures(where) for place, where in _images(inputs.source)}
    first = next(iter(shown.values()), None)
    models = replace(inputs.models, template=inputs.models.template or (first.sentence if first else PHOTO))
    panel = _panel(models, names, first.images.classnames if first else _names_of_files(inputs.source))
    audit_names(panel, models.template, inputs.out, observer)
    for judge in panel.models.values():
        if getattr(judge, "order", None):
            observer.say(
                f"Note: the classes of {judge.name} come in another order and were put in order by their names."
            )
    made |= {f"model ({name})": f"{judge.name}, {judge.fingerprint[:16]}" for name, judge in panel.models.items()}
    for place, where in _images(inputs.target):
        shown[f"target-{place}"] = target_pictures(where, panel.judged.classnames)
    for name, images in shown.items():
        _write(images, panel, folder / f"{name}.parquet", observer)
        made[f"pictures {name}"] = _title(images)
    labelled = list(_labelled(inputs.labelled, first, panel, folder, seed, observer))

    def paths(side: str, given: Sequence[str]) -> list[str]:
        written = (str(folder / f"{side}-{place}.parquet") for place in range(len(given)))
        return [path if is_pictures(where) else where for path, where in zip(written, given, strict=True)]

    return paths("source", inputs.source), paths("target", inputs.target), labelled


def _labelled(
    shifts: Sequence[NamedShift], source: Shown | None, panel: Panel, folder: Path, seed: int, observer: Observer
) -> Iterator[NamedShift]:
    """Labelled shifts as files of scores; what was written before, of the same images and models, is taken again."""
    for place, shift in enumerate(shifts):
        if shift.place == CORRUPTIONS:
            yield from _corrupted(source, panel, folder, seed, observer)
        elif is_pictures(shift.place):
            path = folder / f"labelled-{place}.parquet"
            _write(labelled_pictures(shift.place), panel, path, observer, again=False)
            yield NamedShift(shift.family, str(path), title=shift.place)
        else:
            yield shift


def _corrupted(source: Shown | None, panel: Panel, folder: Path, seed: int, observer: Observer) -> Iterator[NamedShift]:
    from openworld.applications.estimate.corrupted_copies import corrupted_copies

    if source is None:
        raise OpenworldError(
            "--labelled-shift corruptions corrupts the pictures of the source, which is files of scores: give its "
            "pictures, or labelled shifts as files of scores."
        )
    for family, copy in corrupted_copies(source, seed):
        path = folder / f"labelled-{copy.images.domain.replace(' ', '-')}.parquet"
        _write(copy, panel, path, observer, again=False)
        yield NamedShift(family, str(path), artificial=True, title=copy.images.domain)


def audit_names(panel: Panel, template: str, folder: Path | None, observer: Observer) -> None:
    """Say what is wrong with the class names, where a model knows classes by their names alone."""
    from openworld.applications.estimate.models import BackboneJudge
    from openworld.datasets.names.audit import audit
    from openworld.datasets.names.wordnet import find_wordnet
    from openworld.report.class_names import audit_lines, keep_audits

    named = [judge for judge in panel.models.values() if isinstance(judge, BackboneJudge)]
    if not named:
        return
    shared = {"wordnet": find_wordnet(), "tokenizer": named[0].clip.tokenizer}
    audits = [audit(panel.judged.classnames, "class names", base_count=0, template=template, **shared)]
    if folder is not None:
        keep_audits(audits, folder)
    for line in audit_lines(audits, folder):
        observer.say(line)


def _images(given: Sequence[str]) -> list[tuple[int, str]]:
    return [(place, where) for place, where in enumerate(given) if is_pictures(where)]


def _names_of_files(files: Sequence[str]) -> tuple[str, ...] | None:
    return open_table([Path(files[0])]).layout.classnames


def _panel(models: ModelNames, names: Sequence[str] | None, own: Sequence[str] | None) -> Panel:
    """Who looks: a classifier brings its class names along, a backbone is told those given or those of the source."""
    from openworld.applications.estimate.models import find_judge, is_classifier
    from openworld.backbones.devices import find_device

    if not models.model:
        raise OpenworldError(
            "pictures need a model that is judged on them: --model FOLDER (a saved classifier) or NAME."
        )
    device = find_device(models.device)
    _require_used(models)
    shared = {"template": models.template, "device": device, "architectures": models.architectures}
    wanted = names if is_classifier(models.model) else names or own
    judged = find_judge(models.model, wanted, scaled=True, **shared)
    reference = find_judge(models.reference, judged.classnames, scaled=False, **shared) if models.reference else None
    partners = (find_judge(name, judged.classnames, scaled=True, **shared) for name in models.partners)
    return Panel(judged, reference, tuple(partners))


def _require_used(models: ModelNames) -> None:
    """Refuse functions where no model is a saved classifier that one builds."""
    from openworld.classifiers.serialization import function_of

    named = [name for name in (models.model, models.reference, *models.partners) if name]
    if models.architectures and not any(map(function_of, named)):
        raise OpenworldError(
            f"--architecture {models.architectures[0]} builds none of {', '.join(named)}: it is for the folder of a "
            "saved classifier whose network a function of yours makes; leave it out."
        )


def _write(images: Shown, panel: Panel, path: Path, observer: Observer, *, again: bool = True) -> None:
    """Let the models look, unless the file holds the very same already and it need not be `again`."""
    made = made_of(images, panel)
    if not again and is_written(path, made):
        return
    with failing():
        write_scores(images, panel, path, partial(observer.progress, f"looking at {_title(images)}"), made=made)


def _title(images: Shown) -> str:
    return f"{images.images.name} {images.images.domain}".strip()
