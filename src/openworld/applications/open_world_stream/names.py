"""The base names and new names of a stream, and what it says of the true side and class of its images.

Names are all of them where logits are over them, else those that occur.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from openworld._csv import from_cell
from openworld._errors import OpenworldError
from openworld._score_files import ScoreFile, empty_entries
from openworld.applications.open_world_stream.stream import StreamLabels
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
                    raise OpenworldError(f"{side}_name holds {name!r}, none of the {len(known)} {side} names; mend it.")
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


def stream_labels(
    side: np.ndarray | None,
    label: np.ndarray | None,
    names: StreamNames,
    answers: tuple[np.ndarray, np.ndarray],
    file: ScoreFile,
    order: np.ndarray | None = None,
) -> StreamLabels | None:
    """Return what is known of the images, checked against the names that they were given; None where nothing is."""
    count = len(answers[0])
    known, base = _sides(side, count, file)
    if label is None:
        if not known.any():
            return None
        nothing = np.zeros(count, bool)
        return StreamLabels(known, base, nothing, np.full(count, -1), nothing, nothing)
    named, places = _classes(label, known & base, names, file, order)
    base_count = len(names.spelled[BASE])
    _require_sides_of_labels(label, named, places, known, base, base_count, file)
    base = np.where(known, base, named & (places < base_count))
    known = known | named
    if not known.any():
        return None
    base_right = named & base & (places == answers[0])
    return StreamLabels(known, base, named, places, base_right, named & ~base & (places == base_count + answers[1]))


def _sides(side: np.ndarray | None, count: int, file: ScoreFile) -> tuple[np.ndarray, np.ndarray]:
    """Return of which images the side is known, and which are base ones, bool[n] each."""
    known, base = np.zeros(count, bool), np.zeros(count, bool)
    if side is None:
        return known, base
    known = ~empty_entries(side)
    sides, codes = distinct(texts(side[known], "side", file))
    odd = [name for name in sides if name not in (BASE, NEW)]
    if odd:
        raise OpenworldError(f"column side of {file.path} holds {odd[0]!r}; expected base, new, or nothing.")
    base[known] = np.array([name == BASE for name in sides], bool)[codes] if sides else False
    return known, base


def _classes(
    label: np.ndarray, base: np.ndarray, names: StreamNames, file: ScoreFile, order: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return which images have a label, bool[n], and its place among all names, -1 for other classes, int64[n]."""
    given, places = ~empty_entries(label), np.full(len(label), -1)
    if label.dtype.kind in "iuf" and {BASE, NEW} <= set(names.fixed):
        numbers, total = label[given], len(names.spelled[BASE]) + len(names.spelled[NEW])
        odd = np.flatnonzero((numbers < 0) | (numbers >= total) | (numbers % 1 != 0))
        if odd.size:
            raise OpenworldError(
                f"column label of {file.path} holds {numbers[odd[0]]:g}; expected names of classes, or whole numbers "
                f"from 0 to {total - 1}."
            )
        numbers = numbers.astype(np.int64)
        places[given] = numbers if order is None else np.argsort(order)[numbers]
        return given, places
    spelled = texts(label[given], "label", file)
    if BASE not in names.fixed:
        names.numbers(BASE, spelled[base[given]])
    places[given] = names.joint_numbers(spelled)
    return given, places


def _require_sides_of_labels(label, named, places, known, base, base_count: int, file: ScoreFile) -> None:
    unplaced = np.flatnonzero(named & ~known & (places < 0))
    if unplaced.size:
        row = int(unplaced[0])
        raise OpenworldError(
            f"label {label[row]!r} in row {row:,} of {file.path} (from 0) is none of the names, and its side is empty; "
            "write base or new into side."
        )
    against = np.flatnonzero(named & known & np.where(base, (places < 0) | (places >= base_count), False))
    among = np.flatnonzero(named & known & ~base & (places >= 0) & (places < base_count))
    for rows, side, complaint in ((against, BASE, "is no base name"), (among, NEW, "is a base name")):
        if rows.size:
            row = int(rows[0])
            raise OpenworldError(
                f"row {row:,} of {file.path} (from 0) is of side {side!r}, but its label {label[row]!r} {complaint} "
                f"({rows.size} such row(s)); mend side or label."
            )
