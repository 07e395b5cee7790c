"""From images and models to files of scores, a shard of images at a time; the estimate is then made from the files.

Corrupted copies of labelled images are labelled shifts for everybody who has images and a model: four families of
corruptions, two of each, mild and strong. What is learned on them holds for corruptions; styles and new kinds of
objects do more to a model than they (`openworld.estimators.quote.learned_shifts`).
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from openworld.core.errors import OpenworldError, failing
from openworld.core.progress import Observer
from openworld.datasets import ImageSet
from openworld.datasets.appearance import NUMBERS, appearance
from openworld.datasets.corruptions import corrupted
from openworld.datasets.image_set import folder_of
from openworld.datasets.templates import PHOTO, TEMPLATES
from openworld.features.checksums import is_intact, note_checksum, read_intact, write_with_checksum
from openworld.label_free.estimate.models import Models, find_models
from openworld.label_free.estimate.reading import CORRUPTIONS, NamedShift, open_table
from openworld.own_data.images import are_images, labelled_images, labels_among, target_images
from openworld.runs.atomic import remove, writing
from openworld.tables.judged import APPEARANCE, SEEN

Progress = Callable[[int, int, int], None]
TOGETHER = 256  # images of a shard, which is what a call that is stopped may lose; whole batches of any model
MADE_OF = b"made of"
FAMILIES = {
    "noise": ("gaussian_noise", "impulse_noise"),
    "blur": ("defocus_blur", "motion_blur"),
    "weather": ("fog", "snow"),
    "digital": ("contrast", "pixelate"),
}
SEVERITIES = (2, 5)
MOST = 500  # images of a corrupted copy: with more, the time grows and what is learned hardly changes
SIDE = 256  # pixels of the shorter side, to which larger images are scaled: corruptions are made for such images


def score_images(
    source: Sequence[Any],
    target: Sequence[Any],
    labelled: Sequence[NamedShift],
    models: Mapping[str, Any],
    names: Sequence[str] | None,
    folder: Path,
    made: dict[str, str],
    observer: Observer,
    seed: int,
    out: Path | None = None,
) -> tuple[list[str], list[str], list[NamedShift]]:
    """Return the files of scores of source, target and labelled shifts; `made` takes what is worth keeping."""
    # `models` are the keywords of `find_models`; `out` takes what is said of class names.
    image_sets = {"source": list(source), "target": list(target)}
    places = [
        (side, number, where)
        for side in image_sets
        for number, where in enumerate(image_sets[side])
        if are_images(where)
    ]
    sets = {(side, number): (labelled_images(where), True) for side, number, where in places if side == "source"}
    first = next((images for images, _ in sets.values()), None)
    names_of_source = first.classnames if first else open_table([source[0]]).classnames
    template = models["template"] or (TEMPLATES.get(first.name, PHOTO) if first else PHOTO)
    models = find_models(names, names_of_source, **{**models, "template": template})
    _audit_names(models, template, out, observer)
    for model in models.values():
        if model.reordered:
            observer.say(
                f"Note: the classes of {model.name} come in another order and were put in order by their names."
            )
    made |= {f"model ({table})": f"{model.name}, {model.fingerprint[:16]}" for table, model in models.items()}
    for side, number, where in places:
        if side == "target":
            sets[side, number] = target_images(where, models["logits"].classnames)

    def write(name: str, images: ImageSet, *, labelled: bool = True) -> str:
        """Return the file of scores of images; what an earlier call scored of the same is used again."""
        path, title = folder / f"{name}.parquet", _title(images)
        progress = partial(observer.progress, f"looking at {title}")
        with failing():
            reused = write_scores(images, models, path, progress, labelled=labelled)
        if reused:
            count = f"{len(images):,}" if reused == len(images) else f"{reused:,} of {len(images):,}"
            observer.say(f"{title}: scores of {count} images are there already, and are used again.")
        return str(path)

    for (side, number), (images, has_labels) in sets.items():
        image_sets[side][number] = write(f"{side}-{number}", images, labelled=has_labels)
        made[f"images {side}-{number}"] = _title(images)
    return image_sets["source"], image_sets["target"], [*_scored_shifts(labelled, first, seed, write)]


def _scored_shifts(
    shifts: Sequence[NamedShift], source: ImageSet | None, seed: int, write: Callable[[str, ImageSet], str]
) -> Iterator[NamedShift]:
    """Yield labelled shifts as files of scores: `write` scores images, and says where; files stay as they are."""
    for number, shift in enumerate(shifts):
        if shift.place == CORRUPTIONS:
            if source is None:
                raise OpenworldError(
                    "--labelled-shift corruptions corrupts the images of the source, which is files of scores: give "
                    "its images, or labelled shifts as files of scores."
                )
            for family, copy in corrupted_copies(source, seed):
                path = write(f"labelled-{copy.domain.replace(' ', '-')}", copy)
                yield NamedShift(family, path, artificial=True, title=copy.domain)
        elif are_images(shift.place):
            path = write(f"labelled-{number}", labelled_images(shift.place))
            yield NamedShift(shift.family, path, title=shift.place)
        else:
            yield shift


def _audit_names(models: Models, template: str, folder: Path | None, observer: Observer) -> None:
    """Say what is wrong with the class names, where a model knows classes by their names alone."""
    from openworld.datasets.names.audit import audit
    from openworld.datasets.names.wordnet import find_wordnet
    from openworld.report.class_names import tell_audits

    tokenizer = next((model.tokenizer for model in models.values() if model.tokenizer), None)
    if tokenizer is not None:
        names, wordnet = models["logits"].classnames, find_wordnet()
        report = audit(names, "class names", base_count=0, template=template, wordnet=wordnet, tokenizer=tokenizer)
        tell_audits([report], folder, observer.say)


def _title(images: ImageSet) -> str:
    return f"{images.name} {images.domain}".strip()


def corrupted_copies(images: ImageSet, seed: int) -> Iterator[tuple[str, ImageSet]]:
    """Yield (family, labelled images) of every copy, all of the same images, 500 at most."""
    if len(images) > MOST:
        images = images.subset(np.sort(np.random.default_rng(seed).choice(len(images), MOST, replace=False)))
    images = replace(images, content=f"{images.content} at most {SIDE}", read=partial(read_at_most, images.read))
    for family, names in FAMILIES.items():
        for name in names:
            for severity in SEVERITIES:
                yield family, corrupted(images, name, severity, seed=seed)


def read_at_most(read: Callable[[int], Image.Image], index: int) -> Image.Image:
    """Read an image, and scale it down where it is larger than `SIDE`."""
    image = read(index)
    ratio = SIDE / min(image.size)
    if ratio >= 1:
        return image
    width, height = (max(SIDE, round(length * ratio)) for length in image.size)
    return image.convert("RGB").resize((width, height), Image.Resampling.BICUBIC)


def made_of(images: ImageSet, models: Models, *, labelled: bool = True) -> str:
    """Return hex SHA-256 of all that scores depend on: images, labels, models, class names and their sentence."""
    digest = hashlib.sha256(f"{images.fingerprint} {labelled} {TOGETHER} {NUMBERS}".encode())
    for table, model in models.items():
        seen = labelled and model.find_seen is not None
        digest.update(json.dumps([table, model.fingerprint, model.classnames, model.settings, seen]).encode())
        if model.text is not None:
            digest.update(model.text.numpy().tobytes())
    return digest.hexdigest()


def is_written(path: Path, made: str) -> bool:
    """Whether a file holds scores that are `made_of` these things, as they were written."""
    from pyarrow import ArrowInvalid, parquet

    try:
        return is_intact(path) and (parquet.read_schema(path).metadata or {}).get(MADE_OF) == made.encode()
    except (OSError, ArrowInvalid):
        return False


def write_scores(
    images: ImageSet, models: Models, path: Path, progress: Progress | None = None, *, labelled: bool = True
) -> int:
    """Let every model score every image, write it as Parquet, and return how many were scored before."""
    from pyarrow import BufferReader, parquet

    n, classnames, reused = len(images), models["logits"].classnames, 0
    labels = labels_among(images, classnames) if labelled else None
    if not n:
        raise OpenworldError(f"{images.name} holds no image; there is nothing to estimate.")
    made, shards = made_of(images, models, labelled=labelled), []
    if is_written(path, made):
        reused = n
    else:
        folder = path.with_name(f"{path.stem}.{made[:32]}")
        for number, start in enumerate(range(0, n, TOGETHER)):
            if progress:
                progress(start, n, reused)
            shards.append(folder / f"scores-{number:05d}.parquet")
            rows = np.arange(start, min(start + TOGETHER, n))
            if is_intact(shards[-1]):
                reused += len(rows)
            else:
                write_with_checksum(shards[-1], _shard(images, models, rows, labels))
        if progress:
            progress(n, n, reused)
        about: dict[str | bytes, str] = {"classnames": json.dumps(classnames), MADE_OF: made}
        if images_in := folder_of(images):
            about["images_in"] = json.dumps(str(images_in.resolve()))
        schema = parquet.read_schema(shards[0]).with_metadata(about)
        with writing(path) as file, parquet.ParquetWriter(file, schema, compression="zstd") as writer:
            for shard in shards:
                writer.write_table(parquet.read_table(BufferReader(read_intact(shard))))
        note_checksum(path)
    for folder in path.parent.glob(f"{path.stem}.{'[0-9a-f]' * 32}"):  # shards of this call, and of stopped ones
        remove(folder)
    return reused


def _shard(images: ImageSet, models: Models, rows: np.ndarray, labels: np.ndarray | None) -> bytes:
    """Score some images; return Parquet with a row for each."""
    import pyarrow
    from pyarrow import parquet

    part, find_seen = images.subset(rows), models["logits"].find_seen
    columns = {"path": pyarrow.array(map(images.path_of, rows.tolist()), pyarrow.string())}
    tables = {name: np.asarray(model.scores(part), np.float32) for name, model in models.items()}
    for name, table in (tables | {APPEARANCE: appearance(part)}).items():
        columns[name] = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(table.reshape(-1)), table.shape[1])
    if labels is not None:
        columns["labels"] = pyarrow.array(labels[rows])
        columns |= {SEEN: pyarrow.array(np.asarray(find_seen(part), np.int64))} if find_seen else {}
    file = BytesIO()
    parquet.write_table(pyarrow.table(columns), file)
    return file.getvalue()
