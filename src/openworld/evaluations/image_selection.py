"""Image sets in words: which data sets, which part of them, drawn, corrupted and restyled how."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any

import numpy as np

from openworld import datasets
from openworld.core.errors import OpenworldError
from openworld.datasets import DATASETS, PUBLISHED, SHIFTED, ClassSplit, Draw, ImageSet, emoji, reseeded_few_shot
from openworld.datasets.corruptions import corrupted
from openworld.datasets.formats import folder
from openworld.datasets.formats.numbered_list import listed
from openworld.datasets.pooling import few, of_classes, pooled
from openworld.datasets.published.catalogue import VARIABLE
from openworld.evaluations.own_data import OwnData, as_specified, held, is_held, own_data, settle_classes

DRAW = 0
"""Seed of every draw of images that no seed of the run decides: those are of training alone, as in the papers."""

DRAWINGS = "emoji-"
"""What the names of data sets of drawings begin with."""

_CARDS = PUBLISHED | SHIFTED
_TRAIN_PER_TEST = 26  # of ImageNet's classes: about 1,300 and 50
_V2_SHARE = 0.2
_REGION_SHARE = 0.2  # of FMoW: five regions


@dataclass(frozen=True)
class DatasetSpec(OwnData):
    """A data set in one domain.

    Args:
        dataset: a name of `openworld list datasets`, or a path to a folder: class folders, or a set of
            `openworld synthesize`.
        domain: left out, the data set's first or only one.
        base, new, root, group_pattern: as for `OwnData`.
    """

    dataset: str
    domain: str | None = None

    def __post_init__(self):
        settle_classes(self)
        card = DATASETS.get(self.dataset)
        object.__setattr__(self, "domain", self.domain or (card.domains[0] if card else "") or None)

    def __str__(self) -> str:
        return f"{self.dataset}, {self.domain}" if self.domain else self.dataset

    @property
    def data(self) -> "DatasetSpec":
        """The data set alone, of an entry that says more."""
        return DatasetSpec(self.dataset, self.domain, **own_data(self))

    def images(self, part: str = "test", **how) -> "ImageSelection":
        """Return a part of it; `how`: further fields of `ImageSelection`."""
        return ImageSelection((self.data,), part, **how)

    @property
    def classnames(self) -> tuple[str, ...]:
        return self.images().load().classnames

    @property
    def split(self) -> ClassSplit:
        return self.images().load().split

    @property
    def left_out(self) -> tuple[str, ...]:
        """The classes that are neither base nor new, in label order."""
        if not (self.base and self.new):
            return ()
        names = set(self.classnames)
        return tuple(name for name in replace(self, base=(), new=()).classnames if name not in names)

    @property
    def sides_in_words(self) -> str:
        cut, left_out = self.split, len(self.left_out)
        return f"{len(cut.base)} base + {len(cut.new)} new classes" + (f", {left_out} left out" if left_out else "")

    def count_classes(self) -> int:
        """Return how many classes it has; as published, so that it need not be there, or counted where it is."""
        is_card = self.dataset in _CARDS and not self.says_classes
        return _CARDS[self.dataset].classes if is_card else len(self.classnames)

    def count_base(self) -> int:
        return len(self.split.base) if self.says_classes else (self.count_classes() + 1) // 2

    def count_images(self, part: str = "test") -> int:
        """Return how many images a part has, about; of a training part, all that shots are drawn from.

        Where no count is published it follows from ImageNet's: 50 test images of a class, about 1,300 training images,
        10 of each ImageNetV2.

        >>> DatasetSpec("cifar10.2").count_images("train"), DatasetSpec("living17", "target imagenetv2").count_images()
        (10000, 340)
        """
        if self.dataset not in _CARDS or self.says_classes:
            return len(self.images(part).load())
        count = _CARDS[self.dataset].counts
        tests = count["test"] or len(self.images().load())
        whole = tests if part == "test" else count.get(part) or _TRAIN_PER_TEST * tests
        variant = (self.domain or "").rpartition(" ")[2]
        if variant.startswith("imagenetv2"):
            return round(_V2_SHARE * whole)
        if variant == "imagenet-r":
            return PUBLISHED[variant].counts["test"] or whole
        return round(_REGION_SHARE * whole) if self.dataset == "fmow" and self.domain else whole


@dataclass(frozen=True)
class ImageSelection:
    """An image set in words.

    A training part is drawn by `seed` and `shots` over all classes before `base_only` and `only` keep some of them, so
    that runs on base classes and on all of them share their images.
    """

    sources: tuple[DatasetSpec, ...]  # pooled, one behind the other
    part: str = "test"  # of each; "" for all images of a folder that has no parts
    seed: int = 0  # of the draw from a training part
    shots: int | None = None  # None for all images
    base_only: bool = False  # only images of base classes; all class names stay
    only: tuple[int, ...] | None = None  # only images of these classes; all class names stay
    names_of: "ImageSelection | None" = None  # whose class names count; None for the first of the sources
    classes: tuple[int, ...] | None = None  # only these classes, whose names alone are left, in this order
    listed: str = ""  # a text file that names the images, as for `datasets.formats.numbered_list`; "" for all
    limit: int | None = None  # so many images, classes in their shares
    rest: bool = False  # all but those `limit` images instead
    corruption: str | None = None  # this and the next two as for `datasets.corruptions.corrupted`
    severity: int | None = None
    cut: int | None = None
    appearance: str = ""  # as for `openworld.shifts.in_looks`; "" for images as they are
    as_drawn: bool = False  # of embedded drawings, every one once, as it is, on white
    draw: Draw = "coop"  # of the shots

    def __str__(self) -> str:
        drawn = f"{self.shots} shots, seed {self.seed}" if self.part == "train" else ""
        chosen = f"{len(self.only)} classes" if self.only is not None else ""
        corrupted = f"{self.corruption} {self.severity}" if self.corruption else ""
        return ", ".join(filter(None, (*map(str, self.sources), self.part, drawn, chosen, corrupted, self.appearance)))

    def load(self) -> ImageSet:
        return _load(self)

    @property
    def fingerprint(self) -> str:
        """A hash of the images, their labels and names."""
        return self.load().fingerprint

    def require_every_class(self) -> None:
        """Refuse a class that is asked for and has no image: no accuracy could be given for it."""
        images = self.load()
        without = np.setdiff1d(self._asked_classes(images), images.labels)
        if without.size:
            raise OpenworldError(
                f"{without.size} class(es) of {self.sources[0].dataset!r} have no image in part {self.part!r}, first "
                f"{images.classnames[without[0]]!r}; add images or leave the class out."
            )

    def _asked_classes(self, images: ImageSet) -> np.ndarray:
        """int64[c], the classes whose images are kept."""
        asked = np.arange(len(images.classnames)) if self.only is None else np.array(self.only)
        return np.intersect1d(asked, images.split.base) if self.base_only else asked

    def _part_of(self, one: DatasetSpec) -> ImageSet:
        if is_held(one.dataset):
            return held(one.dataset)[self.part]
        if self.as_drawn:
            return emoji.load(one.dataset.removeprefix(DRAWINGS), one.domain or "", self.part, clean=True)
        if not self.part:
            return folder.load_whole(one.dataset)
        if is_generated_set(one.dataset):
            from openworld.shifts.synthesis import read_generated

            if self.part != "test":
                raise OpenworldError(
                    f"{one.dataset} is a set of `openworld synthesize`, whose only part is 'test'; part is "
                    f"{self.part!r}."
                )
            return as_specified(read_generated(one.dataset).images, one, self.part)
        shots = self.shots if self.part == "train" else None
        drawn = {"seed": self.seed, "shots": shots} if shots is not None and self.draw == "coop" else {}
        root: dict[str, Any] = {"root": one.root} if one.root else {}
        images = datasets.load(one.dataset, domain=one.domain, part=self.part, **root, **drawn)
        if shots is not None and self.draw == "openworldauc":
            images = images.subset(reseeded_few_shot(images.labels, shots, self.seed))
        images = as_specified(images, one, self.part)
        if not self.base_only and self.only is None:
            return images
        return images.subset(np.flatnonzero(np.isin(images.labels, self._asked_classes(images))))


def is_generated_set(dataset: str) -> bool:
    """Return whether a data set is the folder of a set of `openworld synthesize`."""
    if dataset in DATASETS or not Path(dataset).is_dir():
        return False
    from openworld.shifts.synthesis import is_generated

    return is_generated(dataset)


def pooled_images(sources: Sequence[DatasetSpec], part: str, shots: int | None = None, **how) -> ImageSelection:
    """Return a part of several data sets as one image set; a training part is drawn once for all seeds of a run."""
    return ImageSelection(tuple(sources), part, DRAW, shots if part == "train" else None, **how)


def cached_here(maxsize: int) -> Callable[[Callable], Callable]:
    """Keep results as `functools.lru_cache` does, apart for every current folder and place of the data sets."""

    def keep(function: Callable) -> Callable:
        # One relative path names other images in another folder.
        cached = lru_cache(maxsize)(lambda place, *arguments: function(*arguments))

        @wraps(function)
        def look_up(*arguments):
            return cached((os.getcwd(), os.environ.get(VARIABLE)), *arguments)

        return look_up

    return keep


@cached_here(maxsize=256)
def _load(selection: ImageSelection) -> ImageSet:
    plain = replace(selection, names_of=None, classes=None, listed="", limit=None, rest=False, appearance="")
    plain = replace(plain, corruption=None, severity=None, cut=None)
    if plain != selection:
        return _changed(selection, _load(plain))
    if len(selection.sources) == 1:
        return selection._part_of(selection.sources[0])
    return pooled([_load(replace(selection, sources=(one,))) for one in selection.sources])


def _changed(selection: ImageSelection, images: ImageSet) -> ImageSet:
    """Some of the images of the sources, by other names, corrupted or restyled."""
    if selection.names_of is not None:
        images = pooled([images], selection.names_of.load().classnames)
    if selection.classes is not None:
        images = of_classes(images, selection.classes)
    if selection.listed:
        images = images.subset(listed(images, selection.listed))
    if selection.limit is not None:
        chosen = few(images, selection.limit, seed=DRAW)
        images = images.subset(np.setdiff1d(np.arange(len(images)), chosen) if selection.rest else chosen)
    if selection.corruption is not None:
        assert selection.severity is not None  # a corruption has one
        images = corrupted(images, selection.corruption, selection.severity, seed=DRAW, cut=selection.cut)
    if selection.appearance:
        from openworld.shifts import in_looks

        (images,) = in_looks(images, (selection.appearance,), seed=DRAW)
    return images
