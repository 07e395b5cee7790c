"""Images, scores and embeddings that people have in Python, as the applications take them; none is copied to disk."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from openworld._errors import OpenworldError
from openworld._types import wrong
from openworld.tables.embeddings import Embeddings, embeddings_of
from openworld.tables.entries import as_column, column_names, is_table, require_filled
from openworld.tables.files import scores_of

_ABOUT_CLASSES = ("classnames", "class_embeddings", "logit_scale")
EXPECTED = (
    'columns such as {"logits": array, "labels": array}, {"embeddings": array}, or {"path": list, "label": list}; a '
    "table of pandas, polars or pyarrow, a datasets.Dataset, an ImageSet, or paths"
)


def sources_of(given: Any, name: str) -> list[Any]:
    """Return a source or target of `estimate`: names of places, an image set, or arrays as a file of scores."""
    if isinstance(given, str | Path):
        return [str(given)]
    if isinstance(given, Sequence) and given and all(isinstance(part, str | Path) for part in given):
        return list(map(str, given))
    images = images_of(given, name)
    if images is not None:
        return [images]
    if not is_table(given):
        raise OpenworldError(f"the {name} came as {type(given).__name__}, expected {EXPECTED}.")
    return [scores_of(given, name)]


def class_embeddings_of(given: Any, name: str) -> Embeddings | None:
    """Return the embeddings of class names among arrays; None where there are none."""
    if isinstance(given, Mapping) and "class_embeddings" in given:
        return embeddings_of({key: given[key] for key in _ABOUT_CLASSES if key in given}, name)
    return None


def embedded_of(given: Any, name: str) -> Embeddings | None:
    """Return columns with embeddings, and with neither scores nor paths, as embeddings; None of anything else."""
    names = set(column_names(given)) if is_table(given) else set()
    if "embeddings" not in names or names & {"features", "logits", "path"}:
        return None
    return embeddings_of(given, name)


def collection_of(given: Any, name: str):
    """Return images of `shift`: the name of a place, or a collection of images or of their embeddings."""
    if isinstance(given, str | Path):
        return str(given)
    from openworld.own_data.images import UNLABELLED
    from openworld.own_data.shift.images import ImageCollection, embedded

    images = images_of(given, name)
    if images is not None:
        return ImageCollection(name, images, images.classnames != UNLABELLED)
    if is_table(given):
        return embedded(embeddings_of(given, name), name)
    raise OpenworldError(f"the {name} came as {type(given).__name__}, expected {EXPECTED}.")


def images_of(given: Any, name: str):
    """Return an `ImageSet` of an image set, a `datasets.Dataset` or a table with `path`; None of what has no images."""
    from openworld.datasets import ImageSet, hub

    if isinstance(given, ImageSet):
        return given
    features = getattr(given, "features", None)
    if isinstance(features, Mapping) and any(type(one).__name__ == "Image" for one in features.values()):
        return hub.from_dataset(given, name)
    if is_table(given) and "path" in column_names(given):
        return _listed(given, name)
    return None


def paths_of(given: Any) -> tuple[Path, ...]:
    """Return the paths of images that are named one by one, or in a table with a column `path`."""
    if is_table(given) and "path" in column_names(given):
        given = _filled(given, "path", "the images").tolist()
    several = (given,) if isinstance(given, str | Path) else given
    if not isinstance(several, list | tuple) or not several:
        raise OpenworldError(
            f"images came as {type(given).__name__}, expected a folder, an image, a list of several, or a table with a "
            "column `path`."
        )
    for place, path in enumerate(several):
        if not isinstance(path, str | Path) or not str(path):
            raise wrong(path, "a path", f"images[{place}]")
    return tuple(map(Path, several))


def _listed(table: Any, name: str):
    from openworld.datasets.formats import files, unlabelled_folder
    from openworld.datasets.formats.split_files import ImageRows

    names = column_names(table)
    paths = [str(path) for path in _filled(table, "path", name).tolist()]
    labels = next((column for column in ("label", "labels") if column in names), None)
    if labels is None:
        return unlabelled_folder.load(unlabelled_folder.find_pictures(list(map(Path, paths))), name)
    said = _filled(table, labels, name)
    if said.dtype.kind in "iuf":
        raise OpenworldError(f"the {name} has numbers in its column {labels}; give the names of the classes.")
    classnames, places = np.unique(said.astype(str), return_inverse=True)
    groups = np.unique(_filled(table, "group", name).astype(str), return_inverse=True)[1] if "group" in names else None
    return files.image_set(name, Path(), classnames.tolist(), ImageRows(tuple(paths), places.ravel(), groups))


def _filled(table: Any, column: str, name: str) -> np.ndarray:
    entries = as_column(table[column], f"column {column} of {name}")
    require_filled(entries, f"column {column} of {name}")
    return entries
