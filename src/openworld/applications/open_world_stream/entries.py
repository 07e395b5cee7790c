"""Entries of a stream's columns: text, and codes of text."""

from typing import Any

import numpy as np

from openworld._csv import from_cell
from openworld._errors import OpenworldError
from openworld._score_files import ScoreFile


def one_entry(values: np.ndarray, name: str, file: ScoreFile) -> np.ndarray:
    """Return a column as an array [n]; anything wider is refused."""
    if np.ndim(values) != 1:
        raise OpenworldError(f"column {name} of {file.path} has shape {np.shape(values)}, expected one entry an image.")
    return np.asarray(values)


def texts(values: np.ndarray, name: str, file: ScoreFile) -> np.ndarray:
    """Return names as text, object[n]; whole numbers as people write them."""
    values = one_entry(values, name, file)
    if values.dtype.kind in "iuf":
        numbers, codes = np.unique(values, return_inverse=True)
        spelled = [str(int(number) if float(number).is_integer() else number) for number in numbers.tolist()]
        return np.array(spelled, object)[codes] if spelled else np.empty(0, object)
    spelled = [text if type(text) is str else str(text) for text in values.tolist()]
    if file.path.suffix.lower() == ".csv":
        spelled = list(map(from_cell, spelled))
    return np.array(spelled, object)


def distinct(values: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Return the distinct texts in the order of their first rows, and the place among them of every row, int64[n]."""
    places: dict[Any, int] = {}
    codes = np.fromiter((places.setdefault(text, len(places)) for text in values.tolist()), np.int64, len(values))
    return list(places), codes
