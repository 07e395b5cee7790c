"""Images whose shift is measured: folders and data sets by name, their features from disk in blocks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.datasets import ImageSet
from openworld.datasets.formats.embeddings import image_set
from openworld.datasets.formats.folder import find_images, images_of_paths
from openworld.features import Features, encode
from openworld.own_data.images import PART_FOLDERS, UNLABELLED, labelled_images
from openworld.tables.embeddings import Embeddings, holds_embeddings, read_embeddings
from openworld.tables.files import ScoreFile

BLOCK = 2**15  # images of a set whose features are in memory at a time


@dataclass(frozen=True, eq=False)
class ImageCollection:
    """Images under the name that they were asked for by."""

    name: str
    images: ImageSet
    named: bool  # whether class names come with them
    deeper: bool = False  # whether they do not, though images lie in sub-folders

    @property
    def classnames(self) -> tuple[str, ...]:
        """Return the names of the classes that have an image; () without names."""
        if not self.named:
            return ()
        return tuple(self.images.classnames[label] for label in np.unique(self.images.labels))

    def concept(self, row: int) -> str:
        """Return the class of an image; "" without names."""
        return self.images.classnames[self.images.labels[row]] if self.named else ""

    def path(self, row: int) -> str:
        """Return the file of an image, or its number where it lies in none."""
        paths = getattr(self.images.read, "paths", None)
        return str(row) if paths is None else str(paths[row])


@dataclass(eq=False)
class Reader:
    """Encodes blocks of images, and counts those that cannot be read."""

    clip: Any
    allow_corrupt: int  # in all
    progress: Callable[[str, int, int], None]  # takes what is done, images done, images in all
    lost: dict[tuple[str, int], int] = field(default_factory=dict)

    def blocks(self, collection: ImageCollection) -> Iterator[tuple[np.ndarray, Features]]:
        """Yield (rows int64[n] among all images of the collection, their features), block by block."""
        images, count = collection.images, len(collection.images)
        for start in range(0, count, BLOCK):
            stop = min(start + BLOCK, count)
            part = images if count <= BLOCK else images.subset(np.arange(start, stop))
            features = self._encode(part, collection, start)
            self.lost[collection.name, start] = stop - start - len(features)
            if len(features):
                yield start + features.rows, features

    def unreadable(self, name: str) -> int:
        """Return how many images of a collection could not be read, as far as it was read."""
        return sum(count for (own, _), count in self.lost.items() if own == name)

    def _encode(self, part: ImageSet, collection: ImageCollection, start: int) -> Features:
        def progress(done: int, _: int) -> None:
            self.progress(f"looking at {collection.name}", start + done, len(collection.images))

        elsewhere = sum(count for place, count in self.lost.items() if place != (collection.name, start))
        left = max(self.allow_corrupt - elsewhere, 0)
        return encode(self.clip, part, allow_corrupt=left, progress=progress)


def gather(where: str | ImageSet | ScoreFile, name: str = "") -> ImageCollection:
    """Return the images of a folder, of a data set or of a file of embeddings; of a set or a table under `name`."""
    if isinstance(where, ImageSet):
        return ImageCollection(name, where, where.classnames != UNLABELLED)
    if isinstance(where, ScoreFile):
        return embedded(read_embeddings(where), name)
    path = Path(where)
    if holds_embeddings(path):
        return embedded(read_embeddings(path), path.stem)
    if path.is_file():
        raise OpenworldError(
            f"{where} is a file without embeddings; give a folder of images, a data set as NAME/DOMAIN/PART, or a "
            ".npz or .parquet file with a column embeddings."
        )
    if not path.is_dir():
        return ImageCollection(where, labelled_images(where), True)
    files = find_images([path])
    name = path.resolve().name
    inside = [file.relative_to(path).parts for file in files]
    depths = {len(parts) for parts in inside}
    if depths == {2} or (1 not in depths and {parts[0] for parts in inside} <= PART_FOLDERS):
        return ImageCollection(name, labelled_images(where), True)
    return ImageCollection(name, images_of_paths(files, name, path), False, deeper=depths != {1})


def embedded(given: Embeddings, name: str) -> ImageCollection:
    has_classes = given.labels is not None and given.classnames is not None
    return ImageCollection(name, image_set(given), has_classes)
