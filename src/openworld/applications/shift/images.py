"""Images whose shift is measured: folders and data sets by name, their features from disk in blocks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from openworld._errors import OpenworldError
from openworld.applications.images import labelled_images
from openworld.datasets import ImageSet
from openworld.datasets.formats import unlabelled_folder
from openworld.datasets.formats.folder import PARTS, _content
from openworld.features import Features, encode

PART_FOLDERS = {folder for names in PARTS.values() for folder in names}
BLOCK = 2**15  # pictures of a set whose features are in memory at a time


@dataclass(frozen=True, eq=False)
class Gathered:
    """Images under the name they were asked for by.

    named: whether class names come with them; deeper: whether they do not, though pictures lie in sub-folders.
    """

    name: str
    images: ImageSet
    named: bool
    deeper: bool = False

    @property
    def classnames(self) -> tuple[str, ...]:
        """The names of the classes that have a picture; () without names."""
        if not self.named:
            return ()
        return tuple(self.images.classnames[label] for label in np.unique(self.images.labels))

    def concept(self, row: int) -> str:
        """The class of a picture; "" without names."""
        return self.images.classnames[self.images.labels[row]] if self.named else ""

    def path(self, row: int) -> str:
        """The file of a picture, or its number where it lies in none."""
        paths = getattr(self.images.read, "paths", None)
        return str(row) if paths is None else str(paths[row])


@dataclass(eq=False)
class Reader:
    """Encodes blocks of pictures, and counts those that cannot be read.

    Args:
        clip: backbone. allow_corrupt: how many unreadable pictures may be left out in all.
        cache: folder of encoded sets, or None. progress: called with (what is done, pictures done, in all).
    """

    clip: object
    allow_corrupt: int
    cache: Path | None
    progress: Callable[[str, int, int], None]
    lost: dict[tuple[str, int], int] = field(default_factory=dict)

    def blocks(self, gathered: Gathered) -> Iterator[tuple[np.ndarray, Features]]:
        """(rows int64[n] among all pictures of the set, their features), block by block."""
        images, count = gathered.images, len(gathered.images)
        for start in range(0, count, BLOCK):
            stop = min(start + BLOCK, count)
            part = images if count <= BLOCK else images.subset(np.arange(start, stop))
            features = self._encode(part, gathered, start)
            self.lost[gathered.name, start] = stop - start - len(features)
            if len(features):
                yield start + features.rows, features

    def unreadable(self, name: str) -> int:
        """How many pictures of a set could not be read, as far as it was read."""
        return sum(count for (own, _), count in self.lost.items() if own == name)

    def _encode(self, part: ImageSet, gathered: Gathered, start: int) -> Features:
        def progress(done: int, _: int) -> None:
            self.progress(f"looking at {gathered.name}", start + done, len(gathered.images))

        elsewhere = sum(count for place, count in self.lost.items() if place != (gathered.name, start))
        left = max(self.allow_corrupt - elsewhere, 0)
        return encode(self.clip, part, cache=self.cache, allow_corrupt=left, progress=progress)


def gather(where: str) -> Gathered:
    """The pictures of a folder, or of a data set as NAME[/DOMAIN[/PART]].

    A folder whose pictures all lie one folder down has classes; any other is taken as it is, without names.

    Raises:
        OpenworldError: no such folder or data set, no picture in it, a folder of parts (train, test).
    """
    path = Path(where)
    if path.is_file():
        raise OpenworldError(f"{where} is a file; give a folder of pictures, or a data set as NAME/DOMAIN/PART.")
    if not path.is_dir():
        return Gathered(where, labelled_images(where), True)
    name, files = path.resolve().name, _seen(path)
    inside = [file.relative_to(path).parts for file in files]
    depths = {len(parts) for parts in inside}
    if depths == {2} or (1 not in depths and {parts[0] for parts in inside} <= PART_FOLDERS):
        return Gathered(name, labelled_images(where), True)
    images = replace(unlabelled_folder.load(files, name, path), content=_content(path, files))
    return Gathered(name, images, False, deeper=depths != {1})


def _seen(folder: Path) -> list[Path]:
    """Images in and below a folder, hidden ones left out."""
    files = unlabelled_folder.find_pictures([folder])
    seen = [file for file in files if not any(part.startswith(".") for part in file.relative_to(folder).parts)]
    if not seen:
        raise OpenworldError(f"{folder} holds no picture but hidden ones ({files[0].name}, ...); rename them.")
    return seen
