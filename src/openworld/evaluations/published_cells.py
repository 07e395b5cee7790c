"""A given division into cells: the image lists that IS-OOD publishes, read with local pictures, or a generated set.

qqwsad5/IS-OOD @ 7b52db8 has a file cov_I_sem_J.txt per cell, I the covariate and J the semantic level from 0; every
line is the path of a picture whose folder is its class (a WordNet id), such as
./imagenet21k_val/n01819313/n01819313_154.JPEG, or whose name is NUMBER_LABEL_STYLE (Syn-IS), such as
./cov_7_sem_2/2435_17536_46.png. A list may be missing or empty: that cell then has no picture.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np

from openworld._errors import OpenworldError
from openworld._plain import read_plain
from openworld.datasets import ImageSet
from openworld.datasets.formats.files import image_set
from openworld.datasets.formats.split_files import ImageRows, require_below
from openworld.evaluations.entries import CellsSpec
from openworld.evaluations.image_selection import cached_here
from openworld.shifts.synthesis import GeneratedSet, read_generated

_NAME = re.compile(r"cov_(\d+)_sem_(\d+)\.txt")
_GENERATED = re.compile(r"\d+_(\d+)_(\d+)")


@dataclass(frozen=True, eq=False)
class GivenCells:
    """Pictures and where they stand.

    Args:
        images: N of them; class names are those of their folders, or the numbers of their labels.
        styles: names; style: int64[N], places in them.
        semantic, covariate: int64[N], levels from 0. shape: numbers of covariate and of semantic levels.
    """

    images: ImageSet
    styles: tuple[str, ...]
    style: np.ndarray
    semantic: np.ndarray
    covariate: np.ndarray
    shape: tuple[int, int]


@cached_here(maxsize=4)
def given_cells(spec: CellsSpec) -> GivenCells:
    """Read a division; the order is that of the lists, cell by cell.

    Raises:
        OpenworldError: a folder without lists, an empty line, a picture in two cells, pictures that are missing; a
            generated set that is not finished.
    """
    if spec.generated:
        return _generated(read_generated(spec.generated))
    files = [file for folder in spec.lists for file in _files(Path(folder))]
    lines = [line for file in files for line in _lines(*file)]
    if not lines:
        raise OpenworldError(f"the {len(files)} lists of {' and '.join(spec.lists)} are all empty; get them again.")
    paths, covariate, semantic = zip(*lines, strict=True)
    _require_once(paths)
    labels, styles = zip(*map(_said, paths), strict=True)
    (classes, label), (style_names, style) = (np.unique(names, return_inverse=True) for names in (labels, styles))
    images = image_set("given cells", Path(spec.pictures), classes.tolist(), ImageRows(paths, label.astype(np.int64)))
    shape = 1 + max(row for _, row, _ in files), 1 + max(column for _, _, column in files)
    levels = (np.array(level, dtype=np.int64) for level in (semantic, covariate))
    return GivenCells(images, tuple(style_names.tolist()), style.astype(np.int64), *levels, shape)


def _generated(generated: GeneratedSet) -> GivenCells:
    grid = generated.grid
    return GivenCells(generated.images, generated.styles, generated.style, grid.semantic, grid.covariate, grid.shape)


def _files(folder: Path) -> list[tuple[Path, int, int]]:
    """(file, covariate level, semantic level) of every list in a folder, level by level."""
    named = [(path, match) for path in folder.glob("cov_*_sem_*.txt") if (match := _NAME.fullmatch(path.name))]
    if not named:
        raise OpenworldError(f"{folder} holds no list cov_I_sem_J.txt; give the folder of the lists of all cells.")
    return sorted(((path, int(match[1]), int(match[2])) for path, match in named), key=lambda file: file[1:])


def _lines(file: Path, covariate: int, semantic: int) -> Iterator[tuple[str, int, int]]:
    """(path, covariate level, semantic level) of every picture of a list."""
    try:
        text = read_plain(file).decode()
    except UnicodeDecodeError:
        raise OpenworldError(f"{file} is not UTF-8 text; get the list again.") from None
    for number, line in enumerate(text.splitlines(), 1):
        path = line.strip().removeprefix("./")
        if not path:
            raise OpenworldError(f"line {number} of {file} is empty; expected the path of an image.")
        require_below(path, str(file))
        yield path, covariate, semantic


def _require_once(paths: Sequence[str]) -> None:
    if len(set(paths)) < len(paths):
        twice, count = Counter(paths).most_common(1)[0]
        raise OpenworldError(
            f"{twice} stands {count} times in the lists, in two cells or twice in one; every image has one cell."
        )


def _said(path: str) -> tuple[str, str]:
    """Class and style that a path tells."""
    place = PurePosixPath(path)
    generated = _GENERATED.fullmatch(place.stem)
    return (generated[1], f"style {generated[2]}") if generated else (place.parent.name, place.parts[0])
