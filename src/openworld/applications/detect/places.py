"""Images, lists of images and files of features, by what a person names."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from openworld import datasets
from openworld._arrays import as_labels, require_once
from openworld._errors import OpenworldError
from openworld._score_files import Columns, ScoreFile, open_scores
from openworld.applications.estimate.columns import class_numbers, listed_names
from openworld.applications.images import UNLABELLED, are_images, labelled_images
from openworld.datasets import DATASETS, ImageSet
from openworld.datasets.formats import numbered_list, unlabelled_folder
from openworld.datasets.published import openood

FEATURE_FILES = (".npz", ".parquet", ".safetensors")
PARTS = ("train", "validation", "test")
WAYS = (
    "a folder of images, a data set as NAME/DOMAIN/PART, a list of files (.txt, as OpenOOD has them), or a file with "
    "features"
)


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """Of images that are not here: features [N, D] or logits [N, C], perhaps labels int[N], image and cluster."""

    name: str
    columns: Columns

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def part(self, part: str) -> "FeatureTable | None":
        """The rows of a part; None where there is none."""
        if "part" not in self.columns:
            return self if part == "test" else None
        kept = np.array([str(own) in (part, part[:3]) for own in self.columns["part"].tolist()])
        return (
            FeatureTable(self.name, {name: column[kept] for name, column in self.columns.items()})
            if kept.any()
            else None
        )


Images = ImageSet | FeatureTable


@dataclass(frozen=True)
class KnownImages:
    """In-distribution images: trained on, to choose a threshold on, and to test on; sentences on what is not there."""

    test: Images
    train: Images | None = None
    validation: Images | None = None
    notes: tuple[str, ...] = ()


def known_images(where: Any, train: Any = "", validation: Any = "", root: str = "") -> KnownImages:
    """Return the in-distribution images of a place with parts, or of a place for each part."""
    given = {"train": train, "validation": validation}
    # Sets and tables have a length and may be empty: only the empty text says that nothing was named.
    given = {part: place for part, place in given.items() if not isinstance(place, str) or place}
    named = {part: images_at(place, root) for part, place in given.items()}
    if isinstance(where, str | Path) and not _is_features(where):
        wanted = [part for part in PARTS if part not in named]
        absent = _absent(where, wanted, root)
        found = _parts(str(where), [part for part in wanted if part not in absent], root)
        if found:
            return KnownImages(**found, **named, notes=tuple(absent.values()))
    images = images_at(where, root)
    if isinstance(images, FeatureTable):
        parts = {part: images.part(part) for part in PARTS if part not in named}
        if parts["test"] is None:
            raise OpenworldError(f"{images.name} has no row whose part is test; give test images of the classes.")
        return KnownImages(**parts, **named)
    return KnownImages(images, **named)


def images_at(where: Any, root: str = "") -> Images:
    """Return the images of a place."""
    # A folder, with class folders or without; a data set as NAME[/DOMAIN[/PART]]; a text file with a path (and perhaps
    # a number of a class) per line; a file of features; an image set, or columns with features. `root` is the folder
    # that paths of a list are relative to, and below which downloads lie; "" for that of the list, $OPENWORLD_DATA.
    if isinstance(where, ImageSet | FeatureTable):
        return where
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
        return unlabelled_folder.load(files, path.resolve().name, path)
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
    return where if isinstance(where, str) and where in openood.BENCHMARKS else ""


def image_names(images: Any, rows: np.ndarray) -> np.ndarray:
    """Return object[n], paths of images, or what a table of features calls them."""
    if hasattr(images, "path_of"):
        paths = getattr(images.read, "paths", None)
        return np.array([str(paths[row]) if paths else images.path_of(row) for row in rows.tolist()], object)
    named = images.columns.get("image", np.arange(len(images)))
    return np.array(list(map(str, named[rows].tolist())), object)


def reader_of(images: Images) -> Callable[[int], Any] | None:
    """Return what reads an image by its number; None of features."""
    return images.image if isinstance(images, ImageSet) else None


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
    if isinstance(where, FeatureTable | ScoreFile):
        return True
    path = Path(where) if isinstance(where, str | Path) else Path()
    if path.suffix.lower() not in FEATURE_FILES or not path.is_file():
        return False
    return bool({"features", "logits"} & set(open_scores(path, FEATURE_FILES).columns))


def _features(file: ScoreFile) -> FeatureTable:
    tables = {"features", "logits"} & set(file.columns)
    if not tables:
        raise OpenworldError(f"{file.path} has {', '.join(file.columns)}, expected features [N, D] or logits [N, C].")
    renamed = {"label": "labels", "split": "part", "id": "image", "path": "image", "group": "cluster"}
    taken = {name: renamed.get(name, name) for name in file.columns}
    require_once([own for own in taken.values() if own in renamed.values()], file.path)
    table = {taken[name]: column for name, column in file.table(tables, renamed.keys() | renamed.values()).items()}
    if "labels" in table:
        table["labels"] = as_labels(class_numbers(table["labels"], listed_names(file), None), "column labels")
    return FeatureTable(file.path.stem, table)


def are_labelled(images: Images) -> bool:
    """Whether the classes of the images are known."""
    return "labels" in images.columns if isinstance(images, FeatureTable) else images.classnames != UNLABELLED
