"""Lists of images as OpenOOD writes them (`imglist`): a path per line, and behind it a number of a class, or -1.

A list says where images are and which class of a model they are of, and not what the classes are called. Others say
which images of a set to take, by file names alone: so are the 45,000 of ImageNet's validation images listed that
OpenOOD v1.5 and IS-OOD test on (`imglist/imagenet1k/test_imagenet.txt` of qqwsad5/IS-OOD @ 7b52db8).
"""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.datasets.formats import files
from openworld.datasets.formats.files import ImageRows, read_lines
from openworld.datasets.image_set import ImageSet
from openworld.datasets.names.forms import numbered_names

UNLABELLED = ("image",)
"""The class of images without labels."""


Listed = tuple[tuple[str, ...], np.ndarray]
"""Paths below a folder that a list does not name, and numbers int64[N] of classes, or -1."""


def folders_of(listed: Listed) -> tuple[str, ...] | None:
    """Return the folder of all images of a class, class by class; None where classes are not told by folders."""
    paths, numbers = listed
    pairs = [(number, Path(path).parent.name) for number, path in zip(numbers.tolist(), paths, strict=True)]
    name_of = dict(pairs)
    by_folder = all(name_of[number] == name for number, name in pairs)
    whole = sorted(name_of) == list(range(len(name_of))) and len(set(name_of.values())) == len(name_of)
    return tuple(name_of[number] for number in range(len(name_of))) if by_folder and whole else None


def read(path: Path) -> Listed:
    """Return what a list says; a line without a number is of no known class."""
    pairs = []
    for line in read_lines(path):
        name, _, number = line.rpartition(" ")
        pairs.append((name, int(number)) if name and number.lstrip("-").isdigit() else (line, -1))
    return tuple(name for name, _ in pairs), np.array([number for _, number in pairs], np.int64)


def image_set(images: Listed, name: str, root: Path, classnames: Sequence[str] = ()) -> ImageSet:
    """Return the images of a list below `root`; without labels where some line has none."""
    paths, numbers = images
    if numbers.min() < 0:
        names, numbers = UNLABELLED, np.zeros_like(numbers)
    else:
        names = tuple(classnames) or numbered_names(int(numbers.max()) + 1)
    return files.image_set(name, root, names, ImageRows(paths, numbers, None))


def listed(images: ImageSet, path: str | Path) -> np.ndarray:
    """Return the places int64[M] of the images that a text file lists by file name, in the order of the image set."""
    wanted = [PurePosixPath(line).name for line in read_lines(Path(path))]
    _require_once(wanted, f"{path} lists")
    paths = images.columns.get("path", np.full(len(images), "")).tolist()
    if not all(paths):
        raise OpenworldError(f"the images of {images.name!r} are no files, so {path} cannot say which are meant.")
    names = [PurePosixPath(one).name for one in paths]
    _require_once(names, f"{images.name!r} holds")
    missing = sorted(set(wanted) - set(names))
    if missing:
        raise OpenworldError(
            f"{len(missing):,} of the {len(wanted):,} images that {path} lists are not among the {len(names):,} of "
            f"{images.name!r}, such as {files.first(missing)}; complete the folder, or give the list of this data set."
        )
    numbers = set(wanted)
    return np.array([place for place, name in enumerate(names) if name in numbers], dtype=np.int64)


def _require_once(names: Sequence[str], who: str) -> None:
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise OpenworldError(f"{who} {twice} twice; a list of files tells images by names that come once.")
