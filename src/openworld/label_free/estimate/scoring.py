"""From images and models to files of scores, a shard of images at a time; the estimate is then made from the files.

Corrupted copies of labelled images are labelled shifts for everybody who has images and a model: four families of
corruptions, two of each, mild and strong. What is learned on them holds for corruptions; styles and new kinds of
objects do more to a model than they (`openworld.estimators.quote.learned_shifts`).
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

from openworld.backbones.devices import find_device
from openworld.classifiers import Classifier
from openworld.core.errors import OpenworldError, failing
from openworld.core.functions import code_of
from openworld.core.progress import Observer
from openworld.datasets import ImageSet
from openworld.datasets.appearance import NUMBERS, appearance
from openworld.datasets.corruptions import corrupted
from openworld.datasets.image_set import folder_of
from openworld.datasets.names.forms import readable_class_name
from openworld.datasets.templates import PHOTO, TEMPLATES
from openworld.features import Encoding, Features, encode
from openworld.features.checksums import is_intact, note_checksum, read_intact, write_with_checksum
from openworld.label_free.estimate.reading import CORRUPTIONS, NamedShift, open_table
from openworld.learners import FittedLearner, encoding_for
from openworld.learners.engine.fitted import PLAIN_IMAGES
from openworld.learners.engine.text_bank import cosine_logits, require_distinct
from openworld.learners.engine.text_features import encode_names
from openworld.own_data.images import are_images, labelled_images, labels_among, target_images
from openworld.own_data.models import find_model, named_classes, require_building
from openworld.runs.atomic import remove, writing
from openworld.runs.scratch import ScratchFolder
from openworld.tables.classes import order_of
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


@dataclass(frozen=True, eq=False)
class ScoringModel:
    """A model that scores images."""

    name: str
    fingerprint: str  # of weights and preprocessing
    classnames: tuple[str, ...]  # with spaces for underscores, as image sets have them; in the order of the scores
    scores: Callable[[ImageSet], np.ndarray]  # images -> float32[N, C]
    reordered: bool = False  # whether the model itself has its classes in another order
    find_seen: Callable[[ImageSet], np.ndarray] | None = None  # images -> uint8[N], which it was trained on
    tokenizer: Any = None  # of a backbone, as its text features float32[C, D] are
    text: torch.Tensor | None = None
    settings: str = ""  # what else scores depend on: code, preprocessing, precision, scale, device


Models = dict[str, ScoringModel]
"""By the names of their tables in a file of scores; `logits` is the model whose accuracy is estimated."""


def find_models(
    classnames: Sequence[str] | None,
    source_names: Sequence[str] | None,
    *,
    model: Any = "",
    reference: Any = "",
    partners: Sequence[Any] = (),
    template: str = "",
    device: str = "auto",
    architectures: Sequence[str] = (),
) -> Models:
    """Return models by names or as objects: a classifier brings its classes along, a backbone is given some."""
    # `architectures` are functions that build saved classifiers.
    if isinstance(model, str) and not model:
        raise OpenworldError(
            "images need a model whose accuracy on them is estimated: --model FOLDER (a saved classifier) or NAME."
        )
    require_building(architectures, (model, reference, *partners))
    device = find_device(device)
    shared: dict[str, Any] = {"template": template, "device": device, "architectures": architectures}
    models = {"logits": scoring_model(model, classnames, otherwise=source_names, **shared)}
    names = models["logits"].classnames
    if not isinstance(reference, str) or reference:
        models["reference"] = scoring_model(reference, names, scaled=False, **shared)
    others = (scoring_model(name, names, **shared) for name in partners)
    return models | {f"partner_{place}": partner for place, partner in enumerate(others, 1)}


def scoring_model(
    what: Any,
    classnames: Sequence[str] | None,
    template: str,
    device: str,
    *,
    scaled: bool = True,
    architectures: Sequence[str] = (),
    otherwise: Sequence[str] | None = None,
) -> ScoringModel:
    """Return a model of what `find_model` takes; a backbone is given names, or has those `otherwise`."""
    model = find_model(what, classnames, device=device, architectures=architectures)
    if isinstance(model, Classifier | FittedLearner):
        return _with_own_classes(model, what, classnames, device)
    classnames = classnames or otherwise
    if classnames is None:
        raise OpenworldError(f"{model.name} knows no classes of its own: name them, by folders or --classnames FILE.")
    require_distinct(classnames)
    text = encode_names(model, classnames, (template,)).cpu()
    scale = model.logit_scale.detach().cpu() if scaled else torch.ones(())

    def scores(images: ImageSet) -> np.ndarray:
        embeddings = torch.from_numpy(np.array(_encoded(model, images).embeddings))
        return cosine_logits(embeddings, text, scale).float().numpy()

    parts = model.preprocess_fingerprint, model.dtype, float(scale), torch.device(device).type, code_of(model)
    about: dict[str, Any] = {"tokenizer": model.tokenizer, "text": text, "settings": " ".join(map(str, parts))}
    return ScoringModel(model.name, model.fingerprint, tuple(classnames), scores, **about)


def _with_own_classes(
    model: Classifier | FittedLearner, what: Any, classnames: Sequence[str] | None, device: str
) -> ScoringModel:
    """Return a classifier, or a learner with the names that it was tuned on, in the order of `classnames` if given."""
    about: dict[str, Any]
    if isinstance(model, Classifier):
        where = str(what) if isinstance(what, str | Path) else model.architecture
        model, name = named_classes(model, classnames, where), Path(where).name
        about = {"settings": f"{torch.device(device).type} {code_of(model.module)}"}
        about["find_seen"] = None if model.seen is None else model.find_seen
        logits = partial(model.logits, device=device)
    else:
        clip, bank = model.clip, model.text_bank(model.classnames)
        name = where = f"{model.learner.name} on {clip.name}"
        parts = clip.preprocess_fingerprint, clip.dtype, clip.device.type, code_of(clip)
        about = {"tokenizer": clip.tokenizer, "settings": " ".join(map(str, parts))}

        def logits(images: ImageSet) -> np.ndarray:
            return model.logits(_encoded(clip, images, encoding_for(model.learner)), bank)

    names = tuple(map(readable_class_name, model.classnames))
    wanted = names if classnames is None else tuple(classnames)
    order = order_of(names, wanted, where, "those expected")

    def scores(images: ImageSet) -> np.ndarray:
        return logits(images) if order is None else logits(images)[:, order]

    return ScoringModel(name, model.fingerprint, wanted, scores, order is not None, **about)


def _encoded(clip: Any, images: ImageSet, encoding: Encoding = PLAIN_IMAGES) -> Features:
    with ScratchFolder() as scratch:  # images are encoded anew and nothing is kept
        return encode(clip, images, encoding, cache=Path(scratch))


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
    for name in (model.name for model in models.values() if model.reordered):
        observer.say(f"Note: the classes of {name} come in another order and were put in order by their names.")
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


def write_scores(
    images: ImageSet, models: Models, path: Path, progress: Progress = lambda *_: None, *, labelled: bool = True
) -> int:
    """Let every model score every image, write it as Parquet, and return how many were scored before."""
    from pyarrow import ArrowInvalid, BufferReader, parquet

    n, classnames, reused = len(images), models["logits"].classnames, 0
    labels = labels_among(images, classnames) if labelled else None
    if not n:
        raise OpenworldError(f"{images.name} holds no image; there is nothing to estimate.")
    made, shards = made_of(images, models, labelled=labelled), []
    try:
        whole = is_intact(path) and (parquet.read_schema(path).metadata or {}).get(MADE_OF) == made.encode()
    except (OSError, ArrowInvalid):
        whole = False
    if whole:
        reused = n
    else:
        folder = path.with_name(f"{path.stem}.{made[:32]}")
        for number, start in enumerate(range(0, n, TOGETHER)):
            progress(start, n, reused)
            shards.append(folder / f"scores-{number:05d}.parquet")
            rows = np.arange(start, min(start + TOGETHER, n))
            if is_intact(shards[-1]):
                reused += len(rows)
            else:
                write_with_checksum(shards[-1], _shard(images, models, rows, labels))
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
