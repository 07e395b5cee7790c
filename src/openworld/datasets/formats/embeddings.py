"""A data set of embeddings: images that another model has seen, in a .npz or .parquet file.

Columns are those of `openworld._embeddings`. Nothing that looks at pixels can read it.
"""

import random
from dataclasses import dataclass

import numpy as np
from PIL import Image

from openworld._embeddings import Embeddings, read_embeddings
from openworld._errors import OpenworldError, unknown_name
from openworld.datasets.formats.folder import PARTS
from openworld.datasets.image_set import ImageSet
from openworld.datasets.names.forms import numbered_names
from openworld.datasets.splits import few_shot


def load(
    name: str, *, domain: str | None = None, part: str = "test", shots: int | None = None, seed: int = 0
) -> ImageSet:
    """Return a part of a file of embeddings as an image set whose images are not there.

    Without a column `split` every row is a test image.
    """
    if part not in PARTS:
        raise unknown_name("part", part, PARTS)
    given = read_embeddings(name)
    if given.labels is None or given.classnames is None:
        raise OpenworldError(f"{name} says no class of its images: give labels, as class names or beside classnames.")
    columns, count = given.columns, len(given.images)
    kept = np.isin(columns.get("split", np.full(count, "test")), PARTS[part])
    if domain:
        kept &= columns.get("domain", np.full(count, "")) == domain
    rows = np.flatnonzero(kept)
    if not rows.size:
        where = f" of domain {domain!r}" if domain else ""
        hint = "" if "split" in columns else ": without a column split every row is a test image"
        raise OpenworldError(f"{name} has no row of part {part!r}{where}{hint}.")
    if shots is not None:
        rows = rows[few_shot(given.labels[rows], shots, random.Random(seed))]
    return image_set(given, rows, domain or "")


def image_set(given: Embeddings, rows: np.ndarray | None = None, domain: str = "") -> ImageSet:
    """Some rows, or all, as an image set; without labels all are of one class."""
    rows = np.arange(len(given.images)) if rows is None else rows
    labels = np.zeros(len(given.images), np.int64) if given.labels is None else given.labels
    names = given.classnames
    if given.labels is None or names is None:
        names = numbered_names(int(labels.max(initial=0)) + 1)
    groups = given.columns.get("group")
    groups = rows if groups is None else np.unique(groups, return_inverse=True)[1].ravel()[rows]
    ids = given.columns.get("id")
    read = GivenImages(given.name, given.images[rows], None if ids is None else tuple(map(str, ids[rows].tolist())))
    whole = f"{given.content} {','.join(map(str, rows.tolist()))}"
    return ImageSet(given.name, domain, names, labels[rows], groups, whole, read)


def parts(name: str) -> set[str]:
    """The parts that a file has rows of."""
    given = read_embeddings(name)
    splits = set(np.unique(given.columns.get("split", np.array(["test"]))).tolist())
    return {part for part, names in PARTS.items() if splits & set(names)}


@dataclass(frozen=True, eq=False)
class GivenImages:
    """The embeddings float32[N, D] of images that cannot be read, and what they are called."""

    name: str
    embeddings: np.ndarray
    ids: tuple[str, ...] | None = None

    def __call__(self, index: int) -> Image.Image:
        raise OpenworldError(f"{self.name} holds embeddings, and no image that could be looked at; give the images.")

    def file_of(self, index: int) -> str | None:
        """What an image is called, if the file says so."""
        return None if self.ids is None else self.ids[index]
