"""From images and models to files of scores, a thousand images at a time; the estimate is then made from the files."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from openworld._errors import OpenworldError, failing
from openworld._observer import Observer
from openworld.applications.estimate.columns import SEEN
from openworld.applications.estimate.corrupted_copies import corrupted_copies
from openworld.applications.estimate.inputs import CORRUPTIONS, EstimateInputs, NamedShift
from openworld.applications.estimate.models import Models, find_models
from openworld.applications.estimate.score_tables import open_table
from openworld.applications.images import (
    are_images,
    labelled_images,
    labels_among,
    target_images,
)
from openworld.datasets import ImageSet
from openworld.datasets.templates import PHOTO, TEMPLATES

TOGETHER = 1024  # images that are scored at a time
MADE_OF = b"made of"


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
    given = {"source": list(inputs.source), "target": list(inputs.target)}
    places = [(side, number, where) for side in given for number, where in enumerate(given[side]) if are_images(where)]
    sets = {(side, number): (labelled_images(where), True) for side, number, where in places if side == "source"}
    source = next((images for images, _ in sets.values()), None)
    own = source.classnames if source else open_table([inputs.source[0]]).classnames
    template = inputs.models.template or (TEMPLATES.get(source.name, PHOTO) if source else PHOTO)
    models = find_models(replace(inputs.models, template=template), names, own)
    _audit_names(models, template, inputs.out, observer)
    for model in models.values():
        if model.reordered:
            observer.say(
                f"Note: the classes of {model.name} come in another order and were put in order by their names."
            )
    made |= {f"model ({table})": f"{model.name}, {model.fingerprint[:16]}" for table, model in models.items()}
    for side, number, where in places:
        if side == "target":
            sets[side, number] = target_images(where, models["logits"].classnames)
    writer = _Writer(models, folder, observer)
    for (side, number), (images, labelled) in sets.items():
        name = f"{side}-{number}"
        given[side][number] = writer.write(name, images, labelled=labelled)
        made[f"pictures {name}"] = _title(images)
    shifts: list[NamedShift] = []
    for number, shift in enumerate(inputs.labelled):
        if shift.place == CORRUPTIONS:
            shifts += _corrupted(source, writer, seed)
        elif are_images(shift.place):
            path = writer.write(f"labelled-{number}", labelled_images(shift.place), again=False)
            shifts.append(NamedShift(shift.family, path, title=shift.place))
        else:
            shifts.append(shift)
    return given["source"], given["target"], shifts


def _corrupted(source: ImageSet | None, writer: "_Writer", seed: int) -> list[NamedShift]:
    if source is None:
        raise OpenworldError(
            "--labelled-shift corruptions corrupts the images of the source, which is files of scores: give its "
            "images, or labelled shifts as files of scores."
        )
    copies = ((family, copy, copy.domain.replace(" ", "-")) for family, copy in corrupted_copies(source, seed))
    return [
        NamedShift(family, writer.write(f"labelled-{name}", copy, again=False), artificial=True, title=copy.domain)
        for family, copy, name in copies
    ]


def _audit_names(models: Models, template: str, folder: Path | None, observer: Observer) -> None:
    """Say what is wrong with the class names, where a model knows classes by their names alone."""
    from openworld.datasets.names.audit import audit
    from openworld.datasets.names.wordnet import find_wordnet
    from openworld.report.class_names import audit_lines, keep_audits

    tokenizer = next((model.tokenizer for model in models.values() if model.tokenizer), None)
    if tokenizer is None:
        return
    shared = {"template": template, "wordnet": find_wordnet(), "tokenizer": tokenizer}
    audits = [audit(models["logits"].classnames, "class names", base_count=0, **shared)]
    if folder is not None:
        keep_audits(audits, folder)
    for line in audit_lines(audits, folder):
        observer.say(line)


def _title(images: ImageSet) -> str:
    return f"{images.name} {images.domain}".strip()


@dataclass(frozen=True)
class _Writer:
    """Writes what models say of images into a folder."""

    models: Models
    folder: Path
    observer: Observer

    def write(self, name: str, images: ImageSet, *, labelled: bool = True, again: bool = True) -> str:
        """Return the file of scores, written unless it holds the very same already and it need not be `again`."""
        path, made = self.folder / f"{name}.parquet", made_of(images, self.models)
        if again or not is_written(path, made):
            progress = partial(self.observer.progress, f"looking at {_title(images)}")
            with failing():
                write_scores(images, self.models, path, progress, labelled=labelled, made=made)
        return str(path)


def made_of(images: ImageSet, models: Models) -> str:
    """Return hex SHA-256 of all that scores depend on: images, labels, models, class names and their sentence."""
    digest = hashlib.sha256(images.fingerprint.encode())
    for table, model in models.items():
        digest.update(json.dumps([table, model.fingerprint, model.classnames]).encode())
        if model.text is not None:
            digest.update(model.text.numpy().tobytes())
    return digest.hexdigest()


def is_written(path: Path, made: str) -> bool:
    """Whether a file holds scores that are `made_of` these things, to its end."""
    from pyarrow import ArrowInvalid, parquet

    try:
        return (parquet.read_schema(path).metadata or {}).get(MADE_OF) == made.encode()
    except (OSError, ArrowInvalid):
        return False


def write_scores(
    images: ImageSet,
    models: Models,
    path: Path,
    progress: Callable[[int, int], None] | None = None,
    *,
    labelled: bool = True,
    made: str = "",
) -> None:
    """Let every model score every image, and write the scores as Parquet.

    Of labelled images, which may be a source, it is written too which of them the model was trained on, where it knows.

    Args:
        images, models, path: what is scored, by whom, and the file. progress: called with (images done, in all).
        labelled: whether the images have labels. made: what `is_written` is to know the file by; "" for nothing.
    Raises:
        OpenworldError: no image, one that cannot be read, a class that the model lacks.
    """
    import pyarrow
    from pyarrow import parquet

    model = models["logits"]
    labels = labels_among(images, model.classnames) if labelled else None
    find_seen = model.find_seen if labelled else None
    if not len(images):
        raise OpenworldError(f"{images.name} holds no image; there is nothing to estimate.")
    columns = {"path": pyarrow.string()}
    columns |= dict.fromkeys(models, pyarrow.list_(pyarrow.float32(), len(model.classnames)))
    columns |= {"labels": pyarrow.int64()} if labelled else {}
    columns |= {SEEN: pyarrow.int64()} if find_seen else {}
    about = {"classnames": json.dumps(model.classnames), MADE_OF: made}
    schema = pyarrow.schema(list(columns.items()), metadata=about)
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, len(images), TOGETHER):
            rows = np.arange(start, min(start + TOGETHER, len(images)))
            part = images.subset(rows)
            arrays = [pyarrow.array(map(images.path_of, rows.tolist()), pyarrow.string())]
            for own in models.values():
                flat = pyarrow.array(np.ascontiguousarray(own.scores(part), np.float32).reshape(-1))
                arrays.append(pyarrow.FixedSizeListArray.from_arrays(flat, len(model.classnames)))
            arrays += [pyarrow.array(labels[rows])] if labelled else []
            arrays += [pyarrow.array(find_seen(part), pyarrow.int64())] if find_seen else []
            writer.write_batch(pyarrow.record_batch(arrays, schema=schema))
            if progress:
                progress(int(rows[-1]) + 1, len(images))
