"""A data set of embeddings: images that another model has seen, in a .npz or .parquet file.

Columns are those of `openworld.tables.embeddings`. Nothing that looks at pixels can read it.
"""

from functools import partial
from typing import Any

import numpy as np
from PIL import Image

from openworld.core.errors import OpenworldError, unknown_name
from openworld.datasets.formats.folder import PARTS
from openworld.datasets.formats.numbered_list import UNLABELLED
from openworld.datasets.image_set import ImageSet, path_column
from openworld.datasets.names.forms import numbered_names
from openworld.datasets.splits import draw_shots
from openworld.tables.embeddings import Embeddings, read_embeddings


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
    rows = rows_of(given, part, domain or "")
    if not rows.size:
        where = f" of domain {domain!r}" if domain else ""
        hint = "" if "split" in given.columns else ": without a column split every row is a test image"
        raise OpenworldError(f"{name} has no row of part {part!r}{where}{hint}.")
    return image_set(given, rows[draw_shots(given.labels[rows], shots, seed)], domain or "")


def rows_of(given: Embeddings, part: str, domain: str = "") -> np.ndarray:
    """Return the rows int64[n] of a part, and of a domain if one is named; none where there are none."""
    count = len(given.images)
    chosen = np.isin(given.columns.get("split", np.full(count, "test")), PARTS[part])
    if domain:
        chosen &= given.columns.get("domain", np.full(count, "")) == domain
    return np.flatnonzero(chosen)


def image_set(given: Embeddings, rows: np.ndarray | None = None, domain: str = "") -> ImageSet:
    """Some rows, or all, as an image set; without labels all are of the class of images without any."""
    rows = np.arange(len(given.images)) if rows is None else rows
    labels, names = given.labels, given.classnames
    if labels is None:
        labels, names = np.zeros(len(given.images), np.int64), UNLABELLED
    elif names is None:
        names = numbered_names(int(labels.max(initial=0)) + 1)
    groups = given.columns.get("group")
    groups = rows if groups is None else np.unique(groups, return_inverse=True)[1].ravel()[rows]
    columns = {"embeddings": given.images[rows]}
    if "id" in given.columns:
        columns |= path_column(map(str, given.columns["id"][rows].tolist()))
    whole, read = f"{given.content} {','.join(map(str, rows.tolist()))}", partial(no_image, given.name)
    return ImageSet(given.name, domain, names, labels[rows], groups, whole, read, columns=columns)


def no_image(name: str, index: int) -> Image.Image:
    raise OpenworldError(f"{name} holds embeddings, and no image that could be looked at; give the images.")


def parts(name: Any, domain: str | None = None) -> set[str]:
    given = read_embeddings(name)
    return {part for part in PARTS if rows_of(given, part, domain or "").size}
