"""Images, lists of images and files of features, by what a person names."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from openworld import datasets
from openworld._arrays import as_labels, require_once
from openworld._errors import OpenworldError
from openworld.datasets import DATASETS, ImageSet
from openworld.datasets.formats import embeddings, folder, numbered_list, unlabelled_folder
from openworld.datasets.names.forms import numbered_names
from openworld.datasets.published import openood
from openworld.datasets.published.catalogue import BENCHMARKS
from openworld.ood.models import FEATURE_FILES, FeatureRows, columns_of
from openworld.own_data.images import UNLABELLED, are_images, labelled_images
from openworld.tables.classes import class_numbers, listed_names
from openworld.tables.embeddings import holds_embeddings, read_embeddings
from openworld.tables.files import ScoreFile, open_scores

PARTS = ("train", "validation", "test")
WAYS = (
    "a folder of images, a data set as NAME/DOMAIN/PART, a list of files (.txt, as OpenOOD has them), or a file with "
    "features or embeddings"
)


@dataclass(frozen=True)
class KnownImages:
    """In-distribution images: trained on, to choose a threshold on, and to test on; sentences on what is not there."""

    test: ImageSet
    train: ImageSet | None = None
    validation: ImageSet | None = None
    notes: tuple[str, ...] = ()


def known_images(where: Any, train: Any = "", validation: Any = "", root: str = "") -> KnownImages:
    """Return the in-distribution images of a place with parts, or of a place for each part."""
    given = {"train": train, "validation": validation}
    # Sets and tables have a length and may be empty: only the empty text says that nothing was named.
    given = {part: place for part, place in given.items() if not isinstance(place, str) or place}
    named = {part: images_at(place, root, part) for part, place in given.items()}
    if are_embeddings(where):
        found = {part: images_at(where, part=part) for part in embeddings.parts(where) - set(named)}
        if "test" not in found:
            raise OpenworldError(f"{where} has no row whose split is test; give test images of the classes.")
        return KnownImages(**found, **named)
    if isinstance(where, str | Path) and not _is_features(where):
        wanted = [part for part in PARTS if part not in named]
        absent = _absent(where, wanted, root)
        found = _parts(str(where), [part for part in wanted if part not in absent], root)
        if found:
            return KnownImages(**found, **named, notes=tuple(absent.values()))
    images = images_at(where, root)
    if columns_of(images) is not None:
        parts = {part: _part(images, part) for part in PARTS if part not in named}
        if parts["test"] is None:
            raise OpenworldError(f"{images.name} has no row whose part is test; give test images of the classes.")
        return KnownImages(**parts, **named)
    return KnownImages(images, **named)


def are_embeddings(where: Any) -> bool:
    """Whether images came embedded: a file or columns with embeddings, and neither features nor logits."""
    return holds_embeddings(where, "embeddings") and not _is_features(where)


def images_at(where: Any, root: str = "", part: str = "test") -> ImageSet:
    """Return the images of a place; of embeddings those of a part, all where they have none."""
    # A folder, with class folders or without; a data set as NAME[/DOMAIN[/PART]]; a text file with a path (and perhaps
    # a number of a class) per line; a file of features or embeddings; an image set, or columns with either. `root` is
    # the folder of paths of a list, below which downloads lie too; "" for that of the list, $OPENWORLD_DATA.
    if isinstance(where, ImageSet):
        return where
    if are_embeddings(where):
        given = read_embeddings(where)
        rows = embeddings.rows_of(given, part)
        return embeddings.image_set(given, rows if rows.size else None)
    if isinstance(where, ScoreFile):
        return _features(where)
    path = Path(where)
    if path.suffix.lower() == ".txt" and path.is_file():
        return listed_images(path, Path(root) if root else path.parent)
    if _is_features(where):
        return _features(open_scores(path, FEATURE_FILES))
    if path.is_dir():
        files = unlabelled_folder.find_pictures([path])
        if {len(file.relative_to(path).parts) for file in files} == {2}:
            return labelled_images(str(path))
        images = unlabelled_folder.load(files, path.resolve().name, path)
        return replace(images, content=folder.content_of_files(path, files))
    if are_images(str(where)):
        return labelled_images(str(where), root)
    raise OpenworldError(f"there are no images at {where}; give {WAYS}.")


def listed_images(path: Path, root: Path) -> ImageSet:
    """Return the images of a list as OpenOOD writes it: a path per line, and behind it a number of a class (or -1)."""
    # Numbers count the model's classes; where a line has none, or -1, the images have no labels.
    try:
        return numbered_list.image_set(numbered_list.read(path), path.stem, root)
    except OpenworldError as error:
        raise OpenworldError(f"{error} Say with --root where the files of {path} lie.") from error


def benchmark_of(where: object) -> str:
    """Return the benchmark whose in-distribution images somebody names; "" for anything else."""
    return where if isinstance(where, str) and where in BENCHMARKS else ""


def image_names(images: ImageSet, rows: np.ndarray) -> np.ndarray:
    """Return object[n], paths of images, or what a table of features calls them."""
    paths = getattr(images.read, "paths", None)
    return np.array([str(paths[row]) if paths else images.path_of(row) for row in rows.tolist()], object)


def _absent(where: Any, wanted: Sequence[str], root: str) -> dict[str, str]:
    """Parts of a benchmark that were not downloaded, with a sentence of each; only its test images must be there."""
    found = {}
    for part in wanted if benchmark_of(where) else ():
        if part != "test" and (why := openood.absent(where, part, root or None)):
            found[part] = (
                f"{where} has no {part} images here ({why}), so that nothing learns from or is chosen on them."
            )
    return found


def _parts(where: str, wanted: Sequence[str], root: str) -> dict[str, ImageSet]:
    """The parts of a folder or data set; empty where it has none but the images themselves."""
    name, *rest = where.split("/") if where.split("/")[0] in DATASETS and not Path(where).exists() else [where]
    if len(rest) > 1 or (not rest and name not in DATASETS and not Path(where).is_dir()):
        return {}
    domain = rest[0] if rest else None
    here = [part for part in wanted if datasets.has_part(name, part, domain)]
    if "test" not in here:
        return {}
    return {part: datasets.load(name, domain=domain, part=part, root=root or None) for part in here}


def _is_features(where: Any) -> bool:
    if isinstance(where, ScoreFile):
        return True
    path = Path(where) if isinstance(where, str | Path) else Path()
    if path.suffix.lower() not in FEATURE_FILES or not path.is_file():
        return False
    return bool({"features", "logits"} & set(open_scores(path, FEATURE_FILES).columns))


def _features(file: ScoreFile) -> ImageSet:
    tables = {"features", "logits"} & set(file.columns)
    if not tables:
        raise OpenworldError(f"{file.path} has {', '.join(file.columns)}, expected features [N, D] or logits [N, C].")
    renamed = {"label": "labels", "split": "part", "id": "image", "path": "image", "group": "cluster"}
    taken = {name: renamed.get(name, name) for name in file.columns}
    require_once([own for own in taken.values() if own in renamed.values()], file.path)
    table = {taken[name]: column for name, column in file.table(tables, renamed.keys() | renamed.values()).items()}
    count = len(next(iter(table.values())))
    names, labels = UNLABELLED, np.zeros(count, np.int64)
    if "labels" in table:
        listed = listed_names(file)
        labels = as_labels(class_numbers(table["labels"], listed, None), "column labels")
        names = tuple(listed) if listed else numbered_names(int(labels.max(initial=0)) + 1)
    groups = np.arange(count)
    if "cluster" in table:
        groups = np.unique(table["cluster"].astype(str), return_inverse=True)[1]
    content = hashlib.sha256()
    for name, column in sorted(table.items()):
        content.update(name.encode() + (column.astype(str) if column.dtype == object else column).tobytes())
    return ImageSet(file.path.stem, "", names, labels, groups, content.hexdigest(), FeatureRows(file.path.stem, table))


def _part(images: ImageSet, part: str) -> ImageSet | None:
    """The rows of a part of features; None where there is none."""
    columns = columns_of(images)
    if "part" not in columns:
        return images if part == "test" else None
    kept = np.flatnonzero([str(own) in (part, part[:3]) for own in columns["part"].tolist()])
    own = images.subset(kept)
    groups = own.groups if "cluster" in columns else np.arange(len(kept))
    return replace(own, groups=groups) if len(kept) else None
