"""The base names and new names of a stream: all of them where logits are over them, else those that occur; as text."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from openworld._csv import from_cell
from openworld._errors import OpenworldError
from openworld._score_files import ScoreFile
from openworld.datasets.names.forms import normalise_class_name

BASE, NEW = "base", "new"


class StreamNames:
    """Base names and new names, each with its place; names that differ by case, outer spaces or "_" alone are one."""

    def __init__(self, base: Sequence[str], new: Sequence[str], fixed: Sequence[str]):
        self.spelled = {BASE: list(base), NEW: list(new)}
        self.places = {
            side: {normalise_class_name(name): place for place, name in enumerate(names)}
            for side, names in self.spelled.items()
        }
        self.fixed = tuple(fixed)

    def numbers(self, side: str, names: np.ndarray) -> np.ndarray:
        """Return the places of names on a side, int64[n]; unknown names are added where the side is not fixed."""
        spellings, codes = distinct(names)
        known, found = self.places[side], np.empty(len(spellings), np.int64)
        for number, name in enumerate(spellings):
            form = normalise_class_name(name)
            if form not in known:
                if side in self.fixed:
                    raise OpenworldError(
                        f"column {side}_name holds {name!r}, none of the {len(known)} {side} names; mend it."
                    )
                known[form] = len(known)
                self.spelled[side].append(name)
            found[number] = known[form]
        return found[codes]

    def joint_numbers(self, names: np.ndarray) -> np.ndarray:
        """Return the places of names among base names, then new names, int64[n]; -1 for others."""
        spellings, codes = distinct(names)
        base, new = self.places[BASE], self.places[NEW]
        places = {form: len(base) + place for form, place in new.items()} | base
        found = np.array([places.get(normalise_class_name(name), -1) for name in spellings], np.int64)
        return found[codes] if len(spellings) else np.empty(0, np.int64)

    def require_sides(self, where: object) -> None:
        """Refuse a name of both sides."""
        both = sorted(self.places[BASE].keys() & self.places[NEW].keys())
        if both:
            raise OpenworldError(f"{both[0]!r} is a base name and a new name in {where}; a class is of one side.")


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
