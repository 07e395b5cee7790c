"""Images that a classifier scores, in words: whole, or a few thousand of them (a shard) for one process."""

from dataclasses import dataclass, replace

import numpy as np

from openworld.datasets import ImageSet
from openworld.datasets.pooling import pooled
from openworld.evaluations.entries import CellsSpec
from openworld.evaluations.image_selection import ImageSelection, cached_here
from openworld.evaluations.published_cells import given_cells, some_images
from openworld.evaluations.runtime import Machine
from openworld.evaluations.shift_degrees import features_of
from openworld.ood.models import readable
from openworld.runs import digest


@dataclass(frozen=True, eq=False)
class ReadableImages:
    """Images of an image set, and the places int64[n] of those that can be read."""

    images: ImageSet
    rows: np.ndarray


@dataclass(frozen=True)
class ImagesToScore:
    """Images in words."""

    title: str  # what people call them
    selections: tuple[ImageSelection, ...] = ()  # one behind the other; of several, the labels say nothing
    cells: CellsSpec | None = None  # the images of a given division, instead
    encoded_by: tuple[str, ...] = ()

    def load(self, machine: Machine) -> ReadableImages:
        images = given_cells(self.cells).images if self.cells else _joined(self.selections)
        return ReadableImages(images, self._rows(len(images), machine))

    def parts(self) -> list[ImageSet]:
        return [given_cells(self.cells).images] if self.cells else [images.load() for images in self.selections]

    @property
    def image_set(self) -> ImageSet:
        """The only one."""
        (images,) = self.parts()
        return images

    def part(self, start: int, stop: int, machine: Machine) -> ReadableImages:
        """Return those from place `start` to `stop` of the readable ones; of a given division no others are known."""
        if self.cells:
            images = some_images(self.cells, start, stop)
            return ReadableImages(images, np.arange(len(images)))
        every = self.load(machine)
        return ReadableImages(every.images, every.rows[start:stop])

    def count(self, machine: Machine) -> int:
        return _facts(self, machine)[0]

    def key(self, machine: Machine) -> str:
        return _facts(self, machine)[1]

    def _rows(self, count: int, machine: Machine) -> np.ndarray:
        if self.cells or not machine.allow_corrupt:  # where none may be lacking, all could be read
            return np.arange(count)
        if self.encoded_by:
            parts = [features_of(images, *self.encoded_by, machine).rows[:] for images in self.selections]
        else:
            parts = [readable(images.load(), machine.allow_corrupt) for images in self.selections]
        starts = np.cumsum([0, *(len(images.load()) for images in self.selections)])
        return np.concatenate([start + rows for start, rows in zip(starts, parts, strict=False)])


@cached_here(maxsize=64)
def _facts(images: ImagesToScore, machine: Machine) -> tuple[int, str]:
    """How many can be read, and the hash; of ten million, both take seconds."""
    loaded = images.load(machine)
    sets = [each.fingerprint for each in images.selections] or [loaded.images.fingerprint]
    left_out = [] if len(loaded.rows) == len(loaded.images) else [loaded.rows.tolist()]
    return len(loaded.rows), digest(sets + left_out)


@cached_here(maxsize=16)
def _joined(selections: tuple[ImageSelection, ...]) -> ImageSet:
    sets = [images.load() for images in selections]
    if len(sets) == 1:
        return sets[0]
    unnamed = [replace(each, classnames=("any",), labels=np.zeros(len(each), np.int64)) for each in sets]
    return pooled(unnamed, ("any",))
