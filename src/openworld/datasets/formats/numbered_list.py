"""Lists of images as OpenOOD writes them (`imglist`): a path per line, and behind it a number of a class, or -1.

A list says where images are and which class of a model they are of, and not what the classes are called.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from openworld._plain import read_lines
from openworld.datasets.formats import files
from openworld.datasets.formats.split_files import ImageRows
from openworld.datasets.image_set import ImageSet
from openworld.datasets.names.forms import numbered_names

UNLABELLED = ("picture",)
"""The class of images without labels."""


@dataclass(frozen=True)
class NumberedList:
    """What a list says: paths below a folder that it does not name, and numbers int64[N] of classes, or -1."""

    paths: tuple[str, ...]
    numbers: np.ndarray

    @property
    def folders(self) -> tuple[str, ...] | None:
        """The folder that all images of a class lie in, class by class; None where classes are not told by folders."""
        found = dict(zip(self.numbers.tolist(), (Path(path).parent.name for path in self.paths), strict=True))
        told = all(
            found[number] == Path(path).parent.name
            for number, path in zip(self.numbers.tolist(), self.paths, strict=True)
        )
        whole = sorted(found) == list(range(len(found))) and len(set(found.values())) == len(found)
        return tuple(found[number] for number in range(len(found))) if told and whole else None


def read(path: Path) -> NumberedList:
    """Return what a list says; a line without a number is of no known class."""
    pairs = [_entry(line) for line in read_lines(path, "path")]
    return NumberedList(tuple(name for name, _ in pairs), np.array([number for _, number in pairs], np.int64))


def image_set(found: NumberedList, name: str, root: Path, classnames: Sequence[str] = ()) -> ImageSet:
    """Return the images of a list below `root`; without labels where some line has none."""
    if found.numbers.min() < 0:
        names, numbers = UNLABELLED, np.zeros_like(found.numbers)
    else:
        names = tuple(classnames) or numbered_names(int(found.numbers.max()) + 1)
        numbers = found.numbers
    return files.image_set(name, root, names, ImageRows(found.paths, numbers, None))


def _entry(line: str) -> tuple[str, int]:
    name, _, number = line.rpartition(" ")
    return (name, int(number)) if name and number.lstrip("-").isdigit() else (line, -1)
