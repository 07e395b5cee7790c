"""What a stream says of the true side and class of its images, checked against its names."""

import numpy as np

from openworld._errors import OpenworldError
from openworld._score_files import ScoreFile, empty_entries
from openworld.applications.open_world_stream.names import BASE, NEW, StreamNames, distinct, texts
from openworld.applications.open_world_stream.stream import StreamLabels


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
