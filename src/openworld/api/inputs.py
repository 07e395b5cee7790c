"""Images, scores and embeddings that people have in Python, as the applications take them; none is copied to disk."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from openworld._embeddings import Embeddings, embeddings_of
from openworld._errors import OpenworldError
from openworld.api.tables import as_array, columns_of

_ABOUT_CLASSES = ("classnames", "class_embeddings", "logit_scale")
_BASE = "n_base"
EXPECTED = (
    'columns such as {"logits": array, "labels": array}, {"embeddings": array}, or {"path": list, "label": list}; a '
    "table of pandas, polars or pyarrow, a datasets.Dataset, an ImageSet, or paths"
)


def sources_of(given: Any, name: str) -> list[Any]:
    """Return a source or target of `estimate`: names of places, an image set, or arrays as a file of scores.

    Args:
        given: whatever somebody has. name: what messages call it.

    Raises:
        OpenworldError: something else, or columns that say nothing.
    """
    if isinstance(given, str | Path):
        return [str(given)]
    if isinstance(given, Sequence) and given and all(isinstance(part, str | Path) for part in given):
        return list(map(str, given))
    images = images_of(given, name)
    if images is not None:
        return [images]
    if not _is_table(given):
        raise OpenworldError(f"the {name} came as {type(given).__name__}, expected {EXPECTED}.")
    from openworld.applications.score_files import scores_of

    columns, classes = _parted(given)
    about = {"classnames": json.dumps([str(one) for one in classes["classnames"]])} if "classnames" in classes else {}
    about |= {_BASE: json.dumps(classes[_BASE].tolist())} if _BASE in classes else {}
    return [scores_of(columns, name, about)]


def class_embeddings_of(given: Any, name: str) -> Embeddings | None:
    """Return the embeddings of class names among arrays; None where there are none."""
    if isinstance(given, Mapping) and "class_embeddings" in given:
        return embeddings_of({key: as_array(given[key]) for key in _ABOUT_CLASSES if key in given}, name)
    return None


def collection_of(given: Any, name: str):
    """Return images of `shift`: the name of a place, or a collection of images or of their embeddings."""
    if isinstance(given, str | Path):
        return str(given)
    from openworld.applications.images import UNLABELLED
    from openworld.applications.shift.images import ImageCollection, embedded

    images = images_of(given, name)
    if images is not None:
        return ImageCollection(name, images, images.classnames != UNLABELLED)
    if _is_table(given):
        columns, classes = _parted(given)
        return embedded(embeddings_of(columns | classes, name), name)
    raise OpenworldError(f"the {name} came as {type(given).__name__}, expected {EXPECTED}.")


def images_of(given: Any, name: str):
    """Return an `ImageSet` of an image set, a `datasets.Dataset` with images, or a table with a column `path`.

    A column `label` holds class names. None where these are no images.
    """
    from openworld.datasets import ImageSet, hub

    if isinstance(given, ImageSet):
        return given
    features = getattr(given, "features", None)
    if isinstance(features, Mapping) and any(type(one).__name__ == "Image" for one in features.values()):
        return hub.from_dataset(given, name)
    if _is_table(given) and "path" in _names(given):
        return _listed(given, name)
    return None


def paths_of(given: Any) -> tuple[Path, ...]:
    """Return the paths of images that are named one by one, or in a table with a column `path`."""
    if _is_table(given) and "path" in _names(given):
        given = as_array(given["path"]).tolist()
    return tuple(map(Path, (given,) if isinstance(given, str | Path) else given))


def _listed(table: Any, name: str):
    from openworld.datasets.formats import files, unlabelled_folder
    from openworld.datasets.formats.split_files import ImageRows

    names = _names(table)
    paths = [str(path) for path in as_array(table["path"]).tolist()]
    labels = next((column for column in ("label", "labels") if column in names), None)
    if labels is None:
        return unlabelled_folder.load(unlabelled_folder.find_pictures(list(map(Path, paths))), name)
    said = as_array(table[labels])
    if said.dtype.kind in "iuf":
        raise OpenworldError(f"the {name} has numbers in its column {labels}; give the names of the classes.")
    classnames, places = np.unique(said.astype(str), return_inverse=True)
    groups = np.unique(as_array(table["group"]).astype(str), return_inverse=True)[1] if "group" in names else None
    return files.image_set(name, Path(), classnames.tolist(), ImageRows(tuple(paths), places.ravel(), groups))


def _parted(table: Any) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Columns with an entry per image, whole matrices where a table holds lists; and what is said of the classes."""
    classes = {}
    if isinstance(table, Mapping):
        classes = {name: as_array(table[name]) for name in (*_ABOUT_CLASSES, _BASE) if name in table}
        table = {name: column for name, column in table.items() if name not in classes}
    return {name: _matrix(column) for name, column in columns_of(table).items()}, classes


def _matrix(column: np.ndarray) -> np.ndarray:
    """A column of lists or arrays as a matrix, of Python strings as text."""
    if column.dtype == object and len(column):
        if isinstance(column[0], str):
            return column.astype(str)
        if isinstance(column[0], Sequence | np.ndarray):
            return np.stack([np.asarray(row) for row in column])
    return column


def _is_table(given: Any) -> bool:
    return isinstance(given, Mapping) or hasattr(given, "columns") or hasattr(given, "column_names")


def _names(table: Any) -> list[str]:
    if isinstance(table, Mapping):
        return list(table)
    return [str(name) for name in (getattr(table, "column_names", None) or table.columns)]
