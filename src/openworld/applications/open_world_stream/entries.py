"""Entries of a stream's columns: text, codes of text, which are empty."""

from typing import Any

import numpy as np

from openworld._errors import OpenworldError
from openworld.applications.score_files import ScoreFile

_ESCAPED = ("'=", "'+", "'-", "'@")
"""How text begins in a CSV file of ours that a spreadsheet would compute without the apostrophe."""


def one_entry(values: np.ndarray, name: str, file: ScoreFile) -> np.ndarray:
    """Return a column as an array [n]; anything wider is refused."""
    if np.ndim(values) != 1:
        raise OpenworldError(f"column {name} of {file.path} has shape {np.shape(values)}, expected one entry an image.")
    return np.asarray(values)


def empty(values: np.ndarray) -> np.ndarray:
    """Return which entries of a column are empty, bool[n]."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind != "O":
        return values == "" if values.dtype.kind in "UST" else np.zeros(len(values), bool)
    return np.array([value is None or value == "" or value != value for value in values.tolist()], bool)


def texts(values: np.ndarray, name: str, file: ScoreFile) -> np.ndarray:
    """Return names as text, object[n]; whole numbers as people write them.

    Raises:
        OpenworldError: an empty entry.
    """
    values = one_entry(values, name, file)
    blank = np.flatnonzero(empty(values))
    if blank.size:
        raise OpenworldError(
            f"column {name} of {file.path} is empty in {blank.size} row(s), first {blank[0]} rows below; fill them in."
        )
    if values.dtype.kind in "iuf":
        numbers, codes = np.unique(values, return_inverse=True)
        spelled = [str(int(number) if float(number).is_integer() else number) for number in numbers.tolist()]
        return np.array(spelled, object)[codes] if spelled else np.empty(0, object)
    spelled = [text if type(text) is str else str(text) for text in values.tolist()]
    if file.path.suffix.lower() == ".csv":
        spelled = [text[1:] if text[:2] in _ESCAPED else text for text in spelled]
    return np.array(spelled, object)


def distinct(values: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Return the distinct texts in the order of their first rows, and the place among them of every row, int64[n].

    >>> distinct(np.array(["cat", "owl", "cat"], object))[0]
    ['cat', 'owl']
    """
    places: dict[Any, int] = {}
    codes = np.fromiter((places.setdefault(text, len(places)) for text in values.tolist()), np.int64, len(values))
    return list(places), codes
