"""Models look at the pictures of a source and a target, before accuracy is estimated from what they say."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from openworld._errors import OpenworldError
from openworld.cli import console


def refuse_models(models) -> None:
    """Files of scores hold what models said; no model can look at their pictures."""
    named = {"--model": models.model, "--reference": models.reference, "--partner": models.partners}
    for option, value in (named | {"--architecture": models.architectures}).items():
        if value:
            raise OpenworldError(
                f"{option} needs pictures, and source and target are files of scores. A reference in files is a table "
                "`reference`, a partner a table `partner_1`, or --source-partner and --target-partner."
            )


def look_at(sides, names, folder: Path, made: dict[str, str], out, seed: int) -> tuple[list[str], list[str], list]:
    """The files of scores of both sides and of the labelled shifts; those of pictures are written into a folder.

    Args:
        sides: as the command has them. names: class names given, or None. made: takes what is worth keeping. seed: of
            corruptions.
    """
    from openworld.applications.estimate.images import is_pictures, labelled_pictures, target_pictures
    from openworld.datasets.templates import PHOTO

    shown = {f"source-{place}": labelled_pictures(one) for place, one in _pictures(sides.source)}
    first = next(iter(shown.values()), None)
    models = replace(sides.models, template=sides.models.template or (first.sentence if first else PHOTO))
    panel = _panel(models, names, first.images.classnames if first else _names_of_files(sides.source))
    audit_names(panel, models.template, sides.out, out)
    for one in panel.models.values():
        if getattr(one, "order", None):
            out.print(f"Note: the classes of {one.name} come in another order and were put in order by their names.")
    made |= {f"model ({name})": f"{one.name}, {one.fingerprint[:16]}" for name, one in panel.models.items()}
    for place, one in _pictures(sides.target):
        shown[f"target-{place}"] = target_pictures(one, panel.judged.classnames)
    for name, one in shown.items():
        _write(one, panel, folder / f"{name}.parquet", out)
        made[f"pictures {name}"] = f"{one.images.name} {one.images.domain}".strip()
    labelled = list(_labelled(sides.labelled, first, panel, folder, seed, out))

    def paths(side: str, given) -> list[str]:
        written = (str(folder / f"{side}-{place}.parquet") for place in range(len(given)))
        return [path if is_pictures(one) else one for path, one in zip(written, given, strict=True)]

    return paths("source", sides.source), paths("target", sides.target), labelled


def _labelled(shifts: Sequence, source, panel, folder: Path, seed: int, out) -> Iterator:
    """Labelled shifts as files of scores; what was written before, of the same pictures and models, is taken again."""
    from openworld.applications.estimate.images import is_pictures, labelled_pictures
    from openworld.applications.estimate.labelled_shifts import CORRUPTIONS, NamedShift

    for place, shift in enumerate(shifts):
        if shift.place == CORRUPTIONS:
            yield from _corrupted(source, panel, folder, seed, out)
        elif is_pictures(shift.place):
            path = folder / f"labelled-{place}.parquet"
            _write(labelled_pictures(shift.place), panel, path, out, again=False)
            yield NamedShift(shift.family, str(path), title=shift.place)
        else:
            yield shift


def _corrupted(source, panel, folder: Path, seed: int, out) -> Iterator:
    from openworld.applications.estimate.corrupted_copies import corrupted_copies
    from openworld.applications.estimate.labelled_shifts import NamedShift

    if source is None:
        raise OpenworldError(
            "--labelled-shift corruptions corrupts the pictures of the source, which is files of scores: give its "
            "pictures, or labelled shifts as files of scores."
        )
    for family, copy in corrupted_copies(source, seed):
        path = folder / f"labelled-{copy.images.domain.replace(' ', '-')}.parquet"
        _write(copy, panel, path, out, again=False)
        yield NamedShift(family, str(path), artificial=True, title=copy.images.domain)


def audit_names(panel, template: str, folder: Path | None, out) -> None:
    """Say what is wrong with the class names, where a model knows classes by their names alone."""
    from openworld.applications.estimate.models import BackboneJudge
    from openworld.cli._names import keep, lines
    from openworld.datasets.names.audit import audit
    from openworld.datasets.names.wordnet import find_wordnet

    named = [one for one in panel.models.values() if isinstance(one, BackboneJudge)]
    if not named:
        return
    shared = {"wordnet": find_wordnet(), "tokenizer": named[0].clip.tokenizer}
    audits = [audit(panel.judged.classnames, "class names", base_count=0, template=template, **shared)]
    if folder is not None:
        keep(audits, folder)
    for line in lines(audits, folder):
        out.print(line, markup=False)


def _pictures(given):
    from openworld.applications.estimate.images import is_pictures

    return [(place, one) for place, one in enumerate(given) if is_pictures(one)]


def _names_of_files(files) -> tuple[str, ...] | None:
    from openworld.applications.estimate.tables import open_table

    return open_table([Path(files[0])]).layout.classnames


def _panel(models, names, own):
    """Who looks: a classifier brings its class names along, a backbone is told those given or those of the source."""
    from openworld.applications.estimate.images import Panel
    from openworld.applications.estimate.models import find_judge, is_classifier
    from openworld.evaluations.devices import find_device

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
    partners = (find_judge(one, judged.classnames, scaled=True, **shared) for one in models.partners)
    return Panel(judged, reference, tuple(partners))


def _require_used(models) -> None:
    """Refuse functions where no model is a saved classifier that one builds."""
    from openworld.classifiers.serialization import function_of

    asked = [one for one in (models.model, models.reference, *models.partners) if one]
    if models.architectures and not any(function_of(one) for one in asked):
        raise OpenworldError(
            f"--architecture {models.architectures[0]} builds none of {', '.join(asked)}: it is for the folder of a "
            "saved classifier whose network a function of yours makes; leave it out."
        )


def _write(shown, panel, path: Path, out, *, again: bool = True) -> None:
    """Let the models look, unless the file holds the very same already and it need not be `again`."""
    from openworld.applications.estimate.images import is_written, made_of, write_scores

    made = made_of(shown, panel)
    if not again and is_written(path, made):
        return
    what = f"{shown.images.name} {shown.images.domain}".strip()
    with console.working(), console.bars(out.quiet) as progress:
        bar = progress.add_task(f"looking at {what}", total=len(shown.images), rate="")
        write_scores(shown, panel, path, lambda done, total: progress.update(bar, completed=done), made=made)
