"""A given division into cells: the image lists that IS-OOD publishes, read with local images, or a generated set.

qqwsad5/IS-OOD @ 7b52db8 has a file cov_I_sem_J.txt per cell, I the covariate and J the semantic level from 0; every
line is the path of an image whose folder is its class (a WordNet id), such as
./imagenet21k_val/n01819313/n01819313_154.JPEG, or whose name is NUMBER_LABEL_STYLE (Syn-IS), such as
./cov_7_sem_2/2435_17536_46.png. A list may be missing or empty: that cell then has no image.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.core.plain_files import read_plain
from openworld.datasets import ImageSet
from openworld.datasets.formats.files import ImageRows, image_set, require_below
from openworld.evaluations.entries import CellsSpec
from openworld.evaluations.image_selection import cached_here
from openworld.shifts.synthesis import read_generated

_NAME = re.compile(r"cov_(\d+)_sem_(\d+)\.txt")
_GENERATED = re.compile(r"\d+_(\d+)_(\d+)")


@dataclass(frozen=True, eq=False)
class GivenCells:
    """Images and where they stand."""

    images: ImageSet  # N of them; class names are those of their folders, or the numbers of their labels
    styles: tuple[str, ...]  # names
    style: np.ndarray  # int64[N], places in them
    semantic: np.ndarray  # int64[N], levels from 0
    covariate: np.ndarray  # int64[N]
    shape: tuple[int, int]  # numbers of covariate and of semantic levels


@cached_here(maxsize=4)
def given_cells(spec: CellsSpec) -> GivenCells:
    """Read a division; the order is that of the lists, cell by cell."""
    if spec.generated:
        made = read_generated(spec.generated)
        return GivenCells(
            made.images, made.styles, made.style, made.grid.semantic, made.grid.covariate, made.grid.shape
        )
    files = _all_files(spec)
    lines = [_lines(file) for file, _, _ in files]
    paths = [path for of_file in lines for path in of_file]
    if not paths:
        raise OpenworldError(f"the {len(files)} lists of {' and '.join(spec.lists)} are all empty; get them again.")
    if len(set(paths)) < len(paths):
        twice, count = Counter(paths).most_common(1)[0]
        raise OpenworldError(
            f"{twice} stands {count} times in the lists, in two cells or twice in one; every image has one cell."
        )
    classes, label, style_names, style = _numbered(map(_said, paths), len(paths))
    images = image_set("given cells", Path(spec.images), classes, ImageRows(tuple(paths), label))
    shape = 1 + max(row for _, row, _ in files), 1 + max(column for _, _, column in files)
    counts = [len(of_file) for of_file in lines]
    covariate, semantic = (np.repeat([file[axis] for file in files], counts).astype(np.int64) for axis in (1, 2))
    return GivenCells(images, tuple(style_names), style, semantic, covariate, shape)


def some_images(spec: CellsSpec, start: int, stop: int) -> ImageSet:
    """Return some images of a division, in the order of `given_cells`, without looking at the others."""
    if spec.generated:
        images = given_cells(spec).images.subset(np.arange(start, stop))
        return replace(images, classnames=("any",), labels=np.zeros(len(images), np.int64))
    paths: tuple[str, ...] = ()
    before = 0
    for file, count in _counted(spec):
        if before < stop and start < before + count:
            paths += tuple(_lines(file)[max(start - before, 0) : stop - before])
        before += count
    return image_set("given cells", Path(spec.images), ("any",), ImageRows(paths, np.zeros(len(paths), np.int64)))


@cached_here(maxsize=4)
def _counted(spec: CellsSpec) -> tuple[tuple[Path, int], ...]:
    return tuple((file, len(_text(file).splitlines())) for file, _, _ in _all_files(spec))


def _all_files(spec: CellsSpec) -> list[tuple[Path, int, int]]:
    return [file for folder in spec.lists for file in _files(Path(folder))]


def _files(folder: Path) -> list[tuple[Path, int, int]]:
    """(file, covariate level, semantic level) of every list in a folder, level by level."""
    matches = [(path, match) for path in folder.glob("cov_*_sem_*.txt") if (match := _NAME.fullmatch(path.name))]
    if not matches:
        raise OpenworldError(f"{folder} holds no list cov_I_sem_J.txt; give the folder of the lists of all cells.")
    return sorted(((path, int(match[1]), int(match[2])) for path, match in matches), key=lambda file: file[1:])


def _text(file: Path) -> str:
    try:
        return read_plain(file).decode()
    except UnicodeDecodeError:
        raise OpenworldError(f"{file} is not UTF-8 text; get the list again.") from None


def _lines(file: Path) -> list[str]:
    paths = [line.strip().removeprefix("./") for line in _text(file).splitlines()]
    for number, path in enumerate(paths, 1):
        if not path:
            raise OpenworldError(f"line {number} of {file} is empty; expected the path of an image.")
        require_below(path, str(file))
    return paths


def _said(path: str) -> tuple[str, str]:
    plain = path if "//" not in path and "/./" not in path else PurePosixPath(path).as_posix()
    folders, _, name = plain.rpartition("/")
    generated = _GENERATED.fullmatch(name.rpartition(".")[0] or name)
    return (
        (generated[1], f"style {generated[2]}") if generated else (folders.rpartition("/")[2], plain.partition("/")[0])
    )


def _numbered(said: Iterable[tuple[str, str]], count: int) -> tuple[list[str], np.ndarray, list[str], np.ndarray]:
    """Class names in order and int64[count] places in them, and the same of styles; millions take little memory."""
    numbers: tuple[dict[str, int], dict[str, int]] = {}, {}
    places = np.empty((2, count), np.int64)
    for place, names in enumerate(said):
        for row, name in enumerate(names):
            places[row, place] = numbers[row].setdefault(name, len(numbers[row]))
    numbered = []
    for row, known in enumerate(numbers):
        ordered = sorted(known)
        rank = np.empty(len(known), np.int64)
        rank[[known[name] for name in ordered]] = np.arange(len(known))
        numbered += [ordered, rank[places[row]]]
    return tuple(numbered)
