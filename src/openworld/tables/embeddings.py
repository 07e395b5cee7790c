"""Embeddings of the user's own, under column names that files and arrays share.

    embeddings        [N, D], of images
    labels            [N], class names, or numbers from 0 beside `classnames` (also called label)
    split, domain, group, id    [N] each, optional: as in a list of images
    classnames        [C], in the order of the numbers
    class_embeddings  [C, D], of the class names, or [C, S, D] of each name in S sentences
    logit_scale       what cosines are multiplied by, one number; 100 (CLIP's) where it is left out

An .npz file may hold all of them. A .parquet file has one row per image, or in a file of its own one row per class.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.tables.entries import require_one_length
from openworld.tables.files import ScoreFile, open_scores, scores_of
from openworld.tables.table import Schema, TableColumn, open_table

KINDS = (".npz", ".parquet")
USUAL_SCALE = 100.0
OF_IMAGES = Schema(
    (
        TableColumn("embeddings", "vectors"),
        TableColumn("labels", "entry", also=("label",)),
        *(TableColumn(name, "entry") for name in ("split", "domain", "group", "id")),
    )
)
OF_CLASSES = ("classnames", "class_embeddings", "logit_scale")


@dataclass(frozen=True, eq=False)
class Embeddings:
    """Embeddings of images, of class names, or both; columns by the names above, checked."""

    name: str
    columns: Mapping[str, np.ndarray]

    @property
    def images(self) -> np.ndarray:
        """float32[N, D]."""
        return self._wanted("embeddings", "of images [N, D]")

    @property
    def classes(self) -> np.ndarray:
        """float32[C, S, D], of every class name in S sentences, or in one."""
        vectors = self._wanted("class_embeddings", "of class names [C, D]")
        return vectors if vectors.ndim == 3 else vectors[:, None]

    @property
    def classnames(self) -> tuple[str, ...] | None:
        """In the order of class embeddings or numbers, or of the alphabet; None where classes have no names."""
        if "classnames" in self.columns:
            return tuple(map(str, self.columns["classnames"].tolist()))
        labels = self.columns.get("labels")
        if labels is None or labels.dtype.kind != "U":
            return None
        return tuple(map(str, np.unique(labels).tolist()))

    @property
    def labels(self) -> np.ndarray | None:
        """int64[N], places in `classnames`; None without labels."""
        labels, names = self.columns.get("labels"), self.classnames
        if labels is None or labels.dtype.kind != "U":
            return None if labels is None else labels.astype(np.int64)
        place = {name: number for number, name in enumerate(names or ())}
        lacking = sorted(set(labels.tolist()) - set(place))
        if lacking:
            raise OpenworldError(f"{self.name} has the label {lacking[0]!r}, which is not among its classnames.")
        return np.array([place[label] for label in labels.tolist()], np.int64)

    @property
    def logit_scale(self) -> float:
        """What cosines are multiplied by."""
        scale = self.columns.get("logit_scale")
        return USUAL_SCALE if scale is None else float(scale.ravel()[0])

    @cached_property
    def content(self) -> str:
        """Hex SHA-256 of all columns."""
        digest = hashlib.sha256()
        for name, column in sorted(self.columns.items()):
            digest.update(f"{name} {column.dtype} {column.shape} ".encode() + np.ascontiguousarray(column).tobytes())
        return digest.hexdigest()

    def _wanted(self, name: str, what: str) -> np.ndarray:
        if name not in self.columns:
            held = ", ".join(self.columns) or "nothing"
            raise OpenworldError(f"{self.name} has no {name} ({what}); it has {held}.")
        return self.columns[name]


def embeddings_of(table: Any, name: str = "these embeddings") -> Embeddings:
    """Return arrays under the names above, or what a file of scores holds, as embeddings."""
    file = table if isinstance(table, ScoreFile) else scores_of(table, name)
    held = (*file.columns, *file.entries)
    if not {"embeddings", "class_embeddings"} & set(held):
        raise OpenworldError(
            f"{name} has neither embeddings [N, D] nor class_embeddings [C, D]; its columns are "
            f"{', '.join(held) or 'none'}."
        )
    images = open_table(file, OF_IMAGES)
    columns = images.whole() if images.present else {}
    for entry in (one for one in OF_CLASSES if one in held):
        columns |= file.table([entry] * (entry != "classnames"), [entry], [entry])
    for entry, column in columns.items():
        if entry in ("embeddings", "class_embeddings"):
            columns[entry] = _checked(column, f"column {entry} of {name}")
        elif column.dtype == object:
            columns[entry] = column.astype(str)
    _require_together(columns, name)
    return Embeddings(name, columns)


def read_embeddings(place: Path | str | ScoreFile | Embeddings) -> Embeddings:
    """Return what a file, or a table in Python, holds; embeddings as they are."""
    if isinstance(place, Embeddings):
        return place
    if not isinstance(place, ScoreFile):
        suffix = Path(place).suffix.lower()
        if suffix not in KINDS or not Path(place).is_file():
            why = "there is no such file" if suffix in KINDS else f"expected {' or '.join(KINDS)}"
            raise OpenworldError(f"{place} holds no embeddings: {why}.")
    file = open_scores(place, KINDS)
    return embeddings_of(file, str(file.path))


def holds_embeddings(place: Any, *columns: str) -> bool:
    """Whether a file or a table has one of some columns, by default embeddings of any kind; only its head is read."""
    columns = columns or ("embeddings", "class_embeddings")
    if isinstance(place, Embeddings):
        return bool(set(place.columns) & set(columns))
    is_file = isinstance(place, str | Path) and Path(place).suffix.lower() in KINDS and Path(place).is_file()
    if not is_file and not isinstance(place, ScoreFile):
        return False
    file = open_scores(place, KINDS)
    return bool({*file.columns, *file.entries} & set(columns))


def _checked(array: np.ndarray, what: str) -> np.ndarray:
    if array.ndim not in (2, 3) or not array.size:
        came = f"{array.dtype}{list(array.shape)}"
        raise OpenworldError(f"{what} came as {came}, expected numbers [n, D], or of class names [n, S, D].")
    array = array.astype(np.float32, copy=False)
    bad = ~array.any(-1) | ~np.isfinite(array).all(-1)  # too large for float32
    if bad.any():
        first = ", ".join(map(str, np.argwhere(bad)[0].tolist()))
        raise OpenworldError(f"{what} has {int(bad.sum())} row(s) that are zero or too large, first row {first}.")
    return array


def _require_together(columns: Mapping[str, np.ndarray], name: str) -> None:
    """Refuse columns that do not go together."""
    lengths = {key: len(columns[key]) for key in ("classnames", "class_embeddings") if key in columns}
    require_one_length(name, lengths)
    if "class_embeddings" in columns and "classnames" not in columns:
        raise OpenworldError(f"{name} has class_embeddings and no classnames; say what the classes are called.")
    widths = {key: columns[key].shape[-1] for key in ("embeddings", "class_embeddings") if key in columns}
    if len(set(widths.values())) > 1:
        raise OpenworldError(f"{name} has embeddings of several widths: {widths}; both come from one model.")
    labels, names = columns.get("labels"), columns.get("classnames")
    if labels is not None and labels.dtype.kind != "U":
        if labels.dtype.kind not in "iu" or (labels.size and labels.min() < 0):
            raise OpenworldError(f"{name} has labels of type {labels.dtype}; expected class names, or numbers from 0.")
        if names is not None and labels.size and labels.max() >= len(names):
            raise OpenworldError(f"{name} has the label {labels.max()} and {len(names)} classnames, counted from 0.")
