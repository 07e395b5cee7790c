"""Images, scores and embeddings that people have in Python, as the applications take them; none is copied to disk."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.tables.entries import as_column, column_names, is_table, require_filled
from openworld.tables.files import scores_of

if TYPE_CHECKING:
    from openworld.datasets import ImageSet

EXPECTED = (
    'columns such as {"logits": array, "labels": array}, {"embeddings": array}, or {"path": list, "label": list}; a '
    "table of pandas, polars or pyarrow, a datasets.Dataset, an ImageSet, or paths"
)


def as_input(value: Any, name: str, *, images: bool = True) -> Any:
    """Return a place as text, an `ImageSet`, or a `ScoreFile` of columns; a report stands for the scores it keeps."""
    if isinstance(value, str | Path) and str(value):
        return str(value)
    from openworld.report.report import Report

    if isinstance(value, Report):
        return _kept_scores(value, name)
    if images and (of_images := images_of(value, name)) is not None:
        return of_images
    if not is_table(value):
        raise OpenworldError(f"{name} came as {type(value).__name__}, expected {EXPECTED}.")
    return scores_of(value, name)


def _kept_scores(report: Any, name: str) -> Any:
    if len(report.scores) == 1:
        return report.scores[0]
    if report.scores:
        raise OpenworldError(f"{name} is a report of {len(report.scores)} files; give the columns of all images.")
    raise OpenworldError(
        f"the report that came as {name} keeps no scores; give what `openworld.estimate` returned (of images with "
        "`out`, which keeps their scores)."
    )


def images_of(value: Any, name: str) -> "ImageSet | None":
    """Return an `ImageSet` of an image set, a `datasets.Dataset` or a table with `path`; None of what has no images."""
    from openworld.datasets import ImageSet, hub

    if isinstance(value, ImageSet):
        return value
    features = getattr(value, "features", None)
    if isinstance(features, Mapping) and any(type(kind).__name__ == "Image" for kind in features.values()):
        return hub.from_dataset(value, name)
    if is_table(value) and "path" in column_names(value):
        return _listed(value, name)
    return None


def _listed(table: Any, name: str) -> "ImageSet":
    from openworld.datasets.formats import files
    from openworld.datasets.formats.folder import find_images, images_of_paths
    from openworld.datasets.formats.split_files import ImageRows

    names = column_names(table)
    paths = [str(path) for path in _filled(table, "path", name).tolist()]
    labels = next((column for column in ("label", "labels") if column in names), None)
    if labels is None:
        return images_of_paths(find_images(list(map(Path, paths))), name)
    classes = _filled(table, labels, name)
    if classes.dtype.kind in "iuf":
        raise OpenworldError(f"the {name} has numbers in its column {labels}; give the names of the classes.")
    classnames, places = np.unique(classes.astype(str), return_inverse=True)
    groups = np.unique(_filled(table, "group", name).astype(str), return_inverse=True)[1] if "group" in names else None
    return files.image_set(name, Path(), classnames.tolist(), ImageRows(tuple(paths), places.ravel(), groups))


def _filled(table: Any, column: str, name: str) -> np.ndarray:
    entries = as_column(table[column], f"column {column} of {name}")
    require_filled(entries, f"column {column} of {name}")
    return entries
