"""The images of a run whose pool is cut into cells of shift: those to learn from and to test on, and the pool."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from openworld.core.errors import OpenworldError, unknown_name
from openworld.datasets import PUBLISHED, ClassSplit, ImageSet
from openworld.datasets.names.class_names import class_names
from openworld.datasets.names.forms import normalise_class_name
from openworld.datasets.pooling import pooled
from openworld.evaluations.entries import CellsSpec, PoolSpec
from openworld.evaluations.image_selection import DatasetSpec, ImageSelection, is_generated_set, pooled_images
from openworld.evaluations.own_data import KnownClasses
from openworld.evaluations.published_cells import given_cells


@dataclass(frozen=True, eq=False)
class Pool:
    """All images that are tested for being out-of-distribution."""

    images: ImageSet  # N of them, with class names of their own
    styles: tuple[str, ...]  # names;
    style: np.ndarray  # int64[N], places in them
    known: np.ndarray  # bool[N], whether an image's class is one of those in distribution
    generated: tuple[str, ...] = ()  # the styles whose images were generated, of a pool that has others too


@dataclass(frozen=True, kw_only=True)
class ShiftImages(KnownClasses):
    """Fields of a spec that say what images there are.

    Args:
        sources: data sets whose images are in distribution, pooled; the class names are those of the first.
        classes: which of their classes are in distribution, and base: the "base" half, or "all".
        base, new: the classes that are in distribution, and those of the pool that are not, by name, instead of
            `classes`; of the pool, other classes are left out where `new` is given.
        train_part, shots: what is learned from, and what degrees are measured from; shots per class of each source,
            drawn once for all seeds; 0 or None for all images.
        pool: images that are cut into cells; those of in-distribution classes may be among them.
        images: so many images of each entry of the pool, classes in their shares; None for all.
    """

    sources: tuple[DatasetSpec, ...]
    classes: Literal["base", "all"] = "base"
    train_part: str = "train"
    shots: int | None = 16
    pool: tuple[PoolSpec, ...] = ()
    images: int | None = None


@dataclass(frozen=True, kw_only=True)
class ShiftGround(ShiftImages):
    id_part: str = "test"  # of the sources, what is tested and never learned from
    cells: CellsSpec | None = None  # a division that is given, instead of a pool

    @property
    def training(self) -> ImageSelection:
        """What models, detectors and shift degrees know of."""
        return self._of_sources(self.train_part, self.shots)

    @property
    def test(self) -> ImageSelection:
        """In-distribution images that nobody learned from."""
        every = self._of_sources(self.id_part)
        return replace(every, listed=self.cells.tested) if self.cells else every

    @property
    def tested(self) -> tuple[ImageSelection, ...]:
        """The image sets of the pool, one after the other; none where its cells are given."""
        return tuple(self._shown(entry) for entry in self.pool)

    @property
    def names(self) -> tuple[str, ...]:
        return self.training.load().classnames

    def load_pool(self) -> Pool:
        """The pool as one image set, by all class names that occur in it."""
        if self.cells:
            cells = given_cells(self.cells)
            return Pool(cells.images, cells.styles, cells.style, self._known(cells.images))
        self.require_new()
        sets = [selection.load() for selection in self.tested]
        names = {normalise_class_name(name): name for images in sets for name in images.classnames}
        spoken = [tuple(names[normalise_class_name(name)] for name in images.classnames) for images in sets]
        renamed = [replace(images, classnames=own) for images, own in zip(sets, spoken, strict=True)]
        images = pooled(renamed, tuple(names.values()))
        styles = tuple(dict.fromkeys(entry.style for entry in self.pool))
        places = [styles.index(entry.style) for entry in self.pool]
        style = np.repeat(places, [len(images) for images in sets])
        made = {entry.style for entry in self.pool if entry.generated or is_generated_set(entry.dataset)}
        real = {entry.style for entry in self.pool} - made
        generated = tuple(name for name in styles if name in made) if real else ()
        return Pool(images, styles, style.astype(np.int64), self._known(images), generated)

    def _known(self, images: ImageSet) -> np.ndarray:
        """By name, and by WordNet id where the in-distribution classes have one."""
        ids: tuple[str, ...] = ()
        if self.sources[0].dataset in PUBLISHED:
            every = class_names(self.sources[0].dataset).wordnet_ids
            ids = tuple(every[place] for place in self._chosen or range(len(every))) if every else ()
        names = {normalise_class_name(name) for name in self.names} | set(ids)
        return np.array([normalise_class_name(name) in names for name in images.classnames], dtype=bool)[images.labels]

    @property
    def _chosen(self) -> tuple[int, ...] | None:
        if self.classes == "all":
            return None
        return tuple(self._split.base.tolist())

    @property
    def _split(self) -> ClassSplit:
        """The classes of the sources, base and new; new names that only the pool has are no class of theirs."""
        names = self.sources[0].classnames
        if not self.says_classes:
            return ClassSplit.of(names)
        forms = set(map(normalise_class_name, names))
        new = [name for name in self.new if normalise_class_name(name) in forms]
        if self.base or new:
            return ClassSplit.by_names(names, self.base, new if not self.base else ())
        every = np.arange(len(names))
        return ClassSplit(names, every, every[:0])

    def _of_sources(self, part: str, shots: int | None = None) -> ImageSelection:
        return pooled_images(self.sources, part, shots, classes=self._chosen)

    def _shown(self, entry: PoolSpec) -> ImageSelection:
        how = {"limit": self.images, "corruption": entry.corruption, "severity": entry.severity}
        if not self.new:
            return entry.images(entry.part, **how)
        wanted = set(map(normalise_class_name, (*self.names, *self.new)))
        names = entry.images(entry.part).load().classnames
        places = tuple(place for place, name in enumerate(names) if normalise_class_name(name) in wanted)
        if not places:
            raise OpenworldError(f"{entry} of the pool shows no base and no new class; leave it out, or correct names.")
        return entry.images(entry.part, classes=places, **how)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The classes of the sources and the pool that are neither base nor new."""
        if not self.new:
            return ()
        names = set(map(normalise_class_name, (*self.names, *self.new)))
        return tuple(name for key, name in self._every_name.items() if key not in names)

    def require_new(self) -> None:
        """Refuse a new class that neither the pool nor a source has."""
        for name in self.new:
            if normalise_class_name(name) not in self._every_name:
                raise unknown_name("new class", name, self._every_name.values())

    @property
    def _every_name(self) -> dict[str, str]:
        every = (self.sources[0].classnames, *(entry.images(entry.part).load().classnames for entry in self.pool))
        return {normalise_class_name(name): name for names in every for name in names}
