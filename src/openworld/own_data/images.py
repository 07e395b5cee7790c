"""Image sets by what a person names: folders and data sets, with labels or without."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from openworld import datasets
from openworld.core.errors import OpenworldError
from openworld.datasets import DATASETS, ImageSet
from openworld.datasets.formats.folder import find_images, images_of_paths
from openworld.datasets.formats.numbered_list import UNLABELLED
from openworld.datasets.names.forms import readable_class_name

PART_FOLDERS = {folder for names in datasets.folder.PARTS.values() for folder in names}
"""Names of folders that hold parts, not classes."""


def are_images(where: str | ImageSet) -> bool:
    """Whether this is or names images: an image set, a folder, or a data set as NAME[/DOMAIN[/PART]]."""
    if not isinstance(where, str | Path):
        return isinstance(where, ImageSet)
    return Path(where).is_dir() or (not Path(where).exists() and str(where).split("/")[0] in DATASETS)


def labelled_images(where: str | ImageSet, root: str = "") -> ImageSet:
    """Return the images of a folder of class folders, of a data set below `root`, or of an image set."""
    if isinstance(where, ImageSet):
        if where.classnames == UNLABELLED:
            raise OpenworldError(f"{where.name} has no labels; give them in a column label.")
        return where
    if Path(where).is_dir():
        folders = _folders(Path(where))
        if folders and set(folders) <= PART_FOLDERS:
            raise OpenworldError(f"{where} holds parts, not classes: {', '.join(folders)}; give one of them.")
        return datasets.folder.load(Path(where))
    name, *rest = where.split("/")
    if len(rest) > 2:
        raise OpenworldError(f"{where!r} has too many parts; expected NAME, NAME/DOMAIN or NAME/DOMAIN/PART.")
    domain, part = [*rest, "", ""][:2]
    return datasets.load(name, domain=domain or None, part=part or "test", root=root or None)


def target_images(where: str | ImageSet, classnames: Sequence[str]) -> tuple[ImageSet, bool]:
    """Return images, and whether they have labels; a folder has where every folder in it is named like a class."""
    if isinstance(where, ImageSet):
        return where, set(where.classnames) <= set(classnames)
    path = Path(where)
    if not path.is_dir():
        return labelled_images(where), True
    names = set(map(readable_class_name, _folders(path)))
    if (names and names <= set(classnames)) or (path / "classnames.txt").is_file():
        return labelled_images(where), True
    files = find_images([path])
    return images_of_paths(files, path.resolve().name, path), False  # other images under the same names


def _folders(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))


def labels_among(images: ImageSet, classnames: Sequence[str]) -> np.ndarray:
    """Return the labels int64[N] of images as places in other class names, which must have them all."""
    place = {name: number for number, name in enumerate(classnames)}
    lacking = [images.classnames[label] for label in np.unique(images.labels) if images.classnames[label] not in place]
    if lacking:
        raise OpenworldError(
            f"{images.name} has {len(lacking)} class(es) that the model does not tell apart, first {lacking[0]!r}; it "
            f"knows {', '.join(classnames[:6])}{', ...' if len(classnames) > 6 else ''}."
        )
    return np.array([place.get(name, -1) for name in images.classnames])[images.labels]
