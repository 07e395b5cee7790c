"""A given division into cells: the image lists that IS-OOD publishes, read with local pictures.

qqwsad5/IS-OOD @ 7b52db8 has a file cov_I_sem_J.txt per cell, I the covariate and J the semantic level from 0; every
line is the path of a picture whose folder is its class (a WordNet id), or whose name is NUMBER_LABEL_STYLE (Syn-IS).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath

import numpy as np

from openworld._errors import OpenworldError
from openworld.datasets import ImageSet
from openworld.datasets._files import image_set
from openworld.datasets.split_files import Rows, require_below
from openworld.protocols._incremental_entries import CellsSpec

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


@lru_cache(maxsize=4)
def given_cells(spec: CellsSpec) -> GivenCells:
    """Read a division; the order is that of the lists, cell by cell.

    Raises:
        OpenworldError: a folder without lists, an empty line, a picture in two cells, pictures that are missing.
    """
    lines = [line for folder in spec.lists for line in _lines(Path(folder))]
    paths = tuple(path for path, _, _ in lines)
    if len(set(paths)) < len(paths):
        twice = next(path for place, path in enumerate(paths) if path in paths[:place])
        raise OpenworldError(f"{twice} stands in two cells, or twice in one; every picture belongs to one cell.")
    covariate, semantic = (np.array([line[axis] for line in lines], dtype=np.int64) for axis in (1, 2))
    labels, styles = zip(*map(_said, paths), strict=True)
    (classes, label), (looks, style) = (np.unique(names, return_inverse=True) for names in (labels, styles))
    images = image_set("given cells", Path(spec.pictures), classes.tolist(), Rows(paths, label.astype(np.int64)))
    shape = int(covariate.max()) + 1, int(semantic.max()) + 1
    return GivenCells(images, tuple(looks.tolist()), style.astype(np.int64), semantic, covariate, shape)


def _lines(folder: Path) -> Iterator[tuple[str, int, int]]:
    """(path, covariate level, semantic level) of every picture listed in a folder."""
    files = sorted(path for path in folder.glob("cov_*_sem_*.txt") if _NAME.fullmatch(path.name))
    if not files:
        raise OpenworldError(f"{folder} holds no list cov_I_sem_J.txt; give the folder of the lists of all cells.")
    for file in files:
        covariate, semantic = map(int, _NAME.fullmatch(file.name).groups())
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            path = line.strip().removeprefix("./")
            if not path:
                raise OpenworldError(f"line {number} of {file} is empty; expected the path of a picture.")
            require_below(path, str(file))
            yield path, covariate, semantic


def _said(path: str) -> tuple[str, str]:
    """Class and style that a path tells."""
    place = PurePosixPath(path)
    generated = _GENERATED.fullmatch(place.stem)
    return (generated[1], f"style {generated[2]}") if generated else (place.parent.name, place.parts[0])
