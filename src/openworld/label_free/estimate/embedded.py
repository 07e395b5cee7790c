"""Scores of images that came embedded: cosines to class names, or what a classifier of rows of numbers says.

No torch is needed, and embeddings in a file are read block by block.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.tables.classes import listed_names
from openworld.tables.embeddings import Embeddings, holds_embeddings, read_embeddings
from openworld.tables.entries import Columns
from openworld.tables.files import ScoreFile, open_scores
from openworld.tables.judged import LABELS, MODEL

EMBEDDED = "embeddings"


Head = tuple[str, Callable[[np.ndarray], np.ndarray], tuple[str, ...] | None, bool]
"""What turns embeddings into scores: what these are ("logits" or "probabilities"), [n, D] -> [n, C], class names in
their order (None where classes are numbers from 0), and whether numbers that are labels are names of classes."""


def is_embedded(place: Any) -> bool:
    """Whether images came embedded: a file, or columns, with embeddings and no scores."""
    if not isinstance(place, ScoreFile) and not (isinstance(place, str | Path) and holds_embeddings(place)):
        return False
    columns = set(open_scores(place).columns)
    return EMBEDDED in columns and not set(MODEL) & columns


def embedded_scores(places: Sequence[Any], model: Any) -> list[ScoreFile]:
    """Return files of embeddings as files of scores; "" is the model of class embeddings in the first of them."""
    files = [open_scores(place) for place in places]
    head = _of_probabilities(model) if hasattr(model, "predict_proba") else _of_embeddings(model, files[0])
    return [_scored(file, *head) for file in files]


def _of_embeddings(model: Any, first: ScoreFile) -> Head:
    """Return the cosines to class embeddings, times the scale of the model that made them."""
    if not isinstance(model, str | Path | Embeddings):
        raise OpenworldError(
            f"embeddings came with a {type(model).__name__} as the model; expected an object with predict_proba, or a "
            "file of class embeddings (openworld estimate --help)."
        )
    if isinstance(model, str | Path) and str(model) and not holds_embeddings(model):
        raise OpenworldError(
            f"{model} cannot look at embeddings; give as the model a .npz or .parquet file with classnames and "
            "class_embeddings, from the model that made the embeddings."
        )
    vectors = model if isinstance(model, Embeddings) else read_embeddings(model or first)
    classes = vectors.classes
    unit = classes / np.linalg.norm(classes, axis=-1, keepdims=True)
    text = unit.mean(axis=1)
    text = vectors.logit_scale * (text / np.linalg.norm(text, axis=-1, keepdims=True))

    def scores(embeddings: np.ndarray) -> np.ndarray:
        if embeddings.shape[1:] != (text.shape[1],):
            raise OpenworldError(
                f"embeddings of images are {list(embeddings.shape)}, and those of class names in {vectors.name} have "
                f"{text.shape[1]} numbers; both come from one model."
            )
        lengths = np.linalg.norm(embeddings, axis=1, keepdims=True)
        if not lengths.all():
            raise OpenworldError("some embeddings are zero; every image needs one.")
        return (embeddings / lengths) @ text.T

    return "logits", scores, vectors.classnames, False


def _of_probabilities(model: Any) -> Head:
    """Of a classifier as scikit-learn has them; classes that are numbers from 0 need no names."""
    classes = np.asarray(getattr(model, "classes_", ()))
    if not classes.size:
        raise OpenworldError(f"{type(model).__name__} has no classes_; fit it first.")
    numbered = classes.dtype.kind in "iu" and np.array_equal(classes, np.arange(len(classes)))
    names = None if numbered else tuple(str(name) for name in classes.tolist())
    return "probabilities", lambda rows: np.asarray(model.predict_proba(rows)), names, not numbered


def _scored(
    file: ScoreFile, column: str, scores: Callable, classnames: tuple[str, ...] | None, spoken: bool
) -> ScoreFile:
    """The file with scores in the place of its embeddings, computed as they are read."""
    names = listed_names(file)
    file_names = None if names is None else np.array(names)
    about = {} if classnames is None else {"classnames": json.dumps(classnames)}

    def named(labels: np.ndarray) -> np.ndarray:
        """Labels that are numbers as names, which say the same among the classes of the model."""
        if labels.dtype.kind not in "iu":
            return labels
        if file_names is not None and labels.size and labels.min() >= 0 and labels.max() < len(file_names):
            return file_names[labels]
        return labels.astype(str) if spoken else labels

    def read(wanted: Sequence[str], numbers: int, _: Sequence[str]) -> Iterator[Columns]:
        names = [EMBEDDED if name == column else name for name in wanted]
        for block in file.blocks(names, numbers, scores=[EMBEDDED]):
            columns = {name: named(block[name]) if name in LABELS else block[name] for name in wanted if name in block}
            if column in wanted:
                columns[column] = scores(np.asarray(block[EMBEDDED], np.float32))
            yield columns

    return replace(file, columns=(*file.columns, column), about=about, read=read)
