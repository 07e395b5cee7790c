"""Several image sets as one, and one set otherwise: some of its images, some of its classes, other groups."""

import hashlib
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from PIL import Image

from openworld.core.errors import OpenworldError
from openworld.core.types import Positive, checked
from openworld.datasets.image_set import ImageSet
from openworld.datasets.names.forms import normalise_class_name
from openworld.datasets.splits import ClassSplit


def pooled(sets: Sequence[ImageSet], classnames: Sequence[str] | None = None) -> ImageSet:
    """Return image sets one behind the other, labels by one list of names (None: the first set's)."""
    # Images share a group where they do so within one set; a set may show some of the classes, in any order.
    if not sets:
        raise OpenworldError("there is no image set to pool; give at least one.")
    names = tuple(sets[0].classnames if classnames is None else classnames)
    labels = np.concatenate([_places(one, names)[one.labels] for one in sets])
    starts = np.cumsum([0] + [int(one.groups.max(initial=-1)) + 1 for one in sets])
    groups = np.concatenate([start + one.groups for start, one in zip(starts[:-1], sets, strict=True)])
    content, read = sets[0].content, sets[0].read
    if len(sets) > 1:
        content = hashlib.sha256("\0".join(one.content for one in sets).encode()).hexdigest()
        read = partial(read_pooled, tuple(one.read for one in sets), np.cumsum([0, *map(len, sets)]))
    domain = " + ".join(dict.fromkeys(one.domain for one in sets if one.domain))
    count = sets[0].base_count if classnames is None else None
    shared = set.intersection(*(set(one.columns) for one in sets))
    columns = {name: np.concatenate([one.columns[name] for one in sets]) for name in shared}
    return ImageSet(sets[0].name, domain, names, labels, groups, content, read, count, columns)


def read_pooled(reads: tuple[Callable[[int], Image.Image], ...], starts: np.ndarray, index: int) -> Image.Image:
    number = int(np.searchsorted(starts, index, side="right")) - 1
    return reads[number](index - int(starts[number]))


@checked
def few(images: ImageSet, count: Positive, *, seed: int = 0) -> np.ndarray:
    """Return which images to take so that classes keep their shares: int64[count], rising; all, where fewer."""
    # Fewer of the same seed are among more of it.
    order = np.random.RandomState(seed).permutation(len(images))  # its numbers are promised never to change
    classes = images.labels[order]
    rank = np.empty(len(images))
    for label in np.unique(classes):
        members = np.flatnonzero(classes == label)
        rank[members] = (np.arange(len(members)) + 0.5) / len(members)
    return np.sort(order[np.argsort(rank, kind="stable")[:count]])


def of_classes(images: ImageSet, classes: Sequence[int]) -> ImageSet:
    """Return the images of some classes, as if there were no others; `classes` are distinct places in the names."""
    chosen = np.asarray(classes, dtype=np.int64)
    count = len(images.classnames)
    if len(np.unique(chosen)) < len(chosen) or np.any((chosen < 0) | (chosen >= count)):
        raise OpenworldError(f"classes are {chosen.tolist()}, expected distinct places below {count}.")
    position = np.full(count, -1)
    position[chosen] = np.arange(len(chosen))
    kept = images.subset(np.flatnonzero(position[images.labels] >= 0))
    names = tuple(images.classnames[one] for one in chosen)
    return replace(kept, classnames=names, labels=position[kept.labels], base_count=None)


@checked
def cut_by_names(images: ImageSet, base: Sequence[str] = (), new: Sequence[str] = ()) -> ImageSet:
    """The images of some base and new classes, base names first; see `ClassSplit.by_names`, also for what it raises.

    >>> white = lambda number: Image.new("RGB", (2, 2), "white")
    >>> three = ImageSet("toy", "", ("cat", "dog", "owl"), [0, 1, 2, 1], [0, 1, 2, 3], "four", white)
    >>> cut = cut_by_names(three, base=["owl"])
    >>> cut.classnames, cut.labels.tolist(), cut.split.base_names
    (('owl', 'cat', 'dog'), [1, 2, 0, 2], ('owl',))
    """
    split = ClassSplit.by_names(images.classnames, base, new)
    return replace(of_classes(images, [*split.base, *split.new]), base_count=len(split.base))


@checked
def grouped(images: ImageSet, pattern: str) -> ImageSet:
    """Return the images with those as one group whose paths say the same where a pattern looks.

    Args:
        images: files, or anything else with paths (`ImageSet.path_of`).
        pattern: a regular expression, such as "(.+)_frame"; without groups of its own, all that it finds counts.

    Raises:
        OpenworldError: a pattern that is none, or an image in whose path it finds nothing.

    >>> white = lambda number: Image.new("RGB", (2, 2), "white")
    >>> paths = np.array(["cat/a_frame1.png", "cat/a_frame2.png", "cat/b_frame1.png"], object)
    >>> three = ImageSet("toy", "", ("cat", "dog"), [0, 0, 0], [0, 1, 2], "three", white, columns={"path": paths})
    >>> grouped(three, "(.+)_frame").groups.tolist()
    [0, 0, 1]
    """
    compiled = pattern_of(pattern)
    hits = [compiled.search(path) for path in map(images.path_of, range(len(images)))]
    if None in hits:
        missing = [images.path_of(place) for place, match in enumerate(hits) if match is None]
        raise OpenworldError(
            f"group_pattern {pattern!r} finds nothing in {len(missing):,} of {len(hits):,} paths of {images.name!r}, "
            f"such as {missing[0]!r}; write a regular expression that every path holds, such as '(.+)_frame'."
        )
    texts = ["\0".join(map(str, match.groups())) if match.groups() else match.group() for match in hits]
    return replace(images, groups=np.unique(texts, return_inverse=True)[1])


def pattern_of(pattern: str) -> re.Pattern:
    """A regular expression as `grouped` looks for it; raises as that does."""
    try:
        return re.compile(pattern)
    except re.error as error:
        raise OpenworldError(f"group_pattern {pattern!r} is no regular expression ({error}); mend it.") from error


def remembered(images: ImageSet, count: int) -> ImageSet:
    return replace(images, read=_Remembered(images.read, count))


def _places(images: ImageSet, names: tuple[str, ...]) -> np.ndarray:
    """Where the classes of a set stand among the names."""
    place_of = {normalise_class_name(name): place for place, name in enumerate(names)}
    missing = [name for name in images.classnames if normalise_class_name(name) not in place_of]
    if missing:
        raise OpenworldError(
            f"{images.name!r} ({images.domain or 'its only domain'}) has {len(missing)} class(es) that are not among "
            f"the {len(names)} of the model, first {missing[0]!r}; a target shows the model's classes under its names."
        )
    return np.array([place_of[normalise_class_name(name)] for name in images.classnames], dtype=np.int64)


class _Remembered:
    """Reads an image once, as long as it is among the last `count`; threads may share it."""

    def __init__(self, read: Callable[[int], Image.Image], count: int):
        self.read, self._count = read, count
        self._known: dict[int, Image.Image] = {}
        self._lock = threading.Lock()

    def __call__(self, index: int) -> Image.Image:
        image = self._known.get(index)
        if image is None:
            image = self.read(index)
            with self._lock:
                self._known[index] = image
                if len(self._known) > self._count:
                    del self._known[next(iter(self._known))]
        return image
