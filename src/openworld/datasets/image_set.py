"""An image set: class names, labels, and images by index; what every other room knows of a data set."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from openworld.core.arrays import ArrayLike, as_labels, require_length
from openworld.core.errors import OpenworldError
from openworld.core.plain_files import require_text
from openworld.core.representation import short_repr
from openworld.core.types import checked
from openworld.datasets.names.forms import normalise_class_name, readable_class_name
from openworld.datasets.splits import ClassSplit


@checked
@dataclass(frozen=True, eq=False)
class ImageSet:
    """Labelled images, read one by one when asked for.

    Args:
        name: of the data set, such as "emoji-concepts".
        domain: what sets its images apart from the same classes elsewhere, such as a drawing style; "" if nothing.
        classnames: one distinct name per class, in label order; underscores become spaces.
        labels: int[N] class index of every image, in [0, number of classes). A class may have no image.
        groups: int[N]; images that share a number are variations of one original, and intervals and tests treat
            them as one cluster. `numpy.arange(N)` where all images are independent.
        content: says what `read` returns for 0..N-1: equal contents, equal pixels. Usually a hash.
        read: image number -> PIL image of any mode; raises OpenworldError for one that cannot be read.
        base_count: so many classes, the first, are base classes; None for the first half.
        columns: what else is known of every image, arrays of N rows by name: "path", text, where it lies below the
            folder of its data; "embeddings", float32[N, D], of images that came embedded and cannot be read.

    Raises:
        OpenworldError: duplicate or empty class names, names that are not text, labels out of range, lengths that
            differ.

    >>> white = lambda number: Image.new("L", (2, 2), 255)
    >>> pair = ImageSet("toy", "", ("cat", "wild_dog"), [1, 0], [0, 1], "white squares", white)
    >>> len(pair), pair.classnames[pair.labels[0]], pair.image(0).mode
    (2, 'wild dog', 'RGB')
    """

    name: str
    domain: str
    classnames: tuple[str, ...]
    labels: np.ndarray
    groups: np.ndarray
    content: str
    read: Callable[[int], Image.Image]
    base_count: int | None = None
    columns: Mapping[str, Any] = field(default_factory=dict, repr=False)

    __repr__ = short_repr

    def __post_init__(self):
        names = tuple(map(readable_class_name, self.classnames))
        labels = as_labels(self.labels, f"the labels of {self.name!r}")
        groups = as_labels(self.groups, f"the groups of {self.name!r}", len(labels))
        for one in (self.name, self.domain, *names):
            require_text(one)
        _require_distinct(names, self.name)
        if labels.size and labels.max() >= len(names):
            raise OpenworldError(
                f"{self.name!r} has {len(names)} class names, but image {int(labels.argmax())} has label "
                f"{labels.max()}; labels count from 0, so give {labels.max() + 1} names or mend the labels."
            )
        for name, value in (("classnames", names), ("labels", labels), ("groups", groups)):
            object.__setattr__(self, name, value)
        for name, column in self.columns.items():
            require_length(column, f"the column {name!r} of {self.name!r}", len(labels))

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def split(self) -> ClassSplit:
        """Its class names cut into base and new ones."""
        return ClassSplit.of(self.classnames, count=self.base_count)

    @property
    def embeddings(self) -> np.ndarray | None:
        """float32[N, D] of images that came embedded and cannot be read; None for images."""
        return self.columns.get("embeddings")

    @property
    def fingerprint(self) -> str:
        """Hex SHA-256 of images, class names, labels and groups; the data set's name and domain do not count."""
        digest = hashlib.sha256()
        for part in (self.content, *self.classnames):
            digest.update(part.encode() + b"\0")
        digest.update(self.labels.tobytes() + self.groups.tobytes())
        return digest.hexdigest()

    @checked
    def image(self, index: int) -> Image.Image:
        """Image `index`, 0 to N - 1, as a PIL image in RGB.

        Raises:
            OpenworldError: no such image, or one that cannot be read (the message names it).
        """
        if not 0 <= index < len(self):
            raise OpenworldError(f"{self.name!r} has {len(self)} images; there is no number {index}.")
        image = self.read(int(index))
        return image if image.mode == "RGB" else image.convert("RGB")

    def path_of(self, index: int) -> str:
        """Where image `index` lies below the folder of its data, as on any machine; its number if it is no file."""
        return ("path" in self.columns and self.columns["path"][int(index)]) or str(index)

    @checked
    def subset(self, indices: ArrayLike) -> "ImageSet":
        """The images at `indices` (int[M], repetition allowed), in that order, with all class names kept."""
        chosen = as_labels(indices, "indices")
        if chosen.size and chosen.max() >= len(self):
            raise OpenworldError(f"{self.name!r} has {len(self)} images; there is no number {chosen.max()}.")
        content = hashlib.sha256(self.content.encode() + b"\0" + chosen.tobytes()).hexdigest()
        return replace(
            self,
            labels=self.labels[chosen],
            groups=self.groups[chosen],
            content=content,
            read=partial(read_chosen, self.read, chosen),
            columns={name: column[chosen] for name, column in self.columns.items()},
        )


# A reader is a function of this module's kind, with arguments: a closure would not travel between processes.


def read_chosen(read: Callable[[int], Image.Image], chosen: np.ndarray, index: int) -> Image.Image:
    return read(int(chosen[index]))


def path_column(paths: Iterable[str]) -> dict[str, np.ndarray]:
    """Return the column of paths below the folder of the data; "" where an image is no file."""
    return {"path": np.array(list(paths), dtype=object)}


def folder_of(images: ImageSet) -> Path | None:
    """Return the folder that the paths of images lie below; None where these are no files of a folder."""
    read = images.read
    while isinstance(read, partial) and read.func is read_chosen:
        read = read.args[0]
    return getattr(read, "folder", None)


def _require_distinct(names: tuple[str, ...], dataset: str) -> None:
    if not all(names):
        raise OpenworldError(f"{dataset!r} has an empty class name, at place {names.index('')}; every class needs one.")
    seen: dict[str, str] = {}
    for name in names:
        key = normalise_class_name(name)
        if key in seen:
            raise OpenworldError(
                f"{dataset!r} has two classes named {seen[key]!r} and {name!r}; a text tower cannot tell "
                "them apart: rename one, or merge them."
            )
        seen[key] = name
