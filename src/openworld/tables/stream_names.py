"""The base names and new names of an open-world stream, and what it says of the true side and class of its images.

Names come with the columns, as `classnames` (base names, then new ones) with the number `n_base` of base names, both an
array of an npz file or JSON in the metadata of safetensors and Parquet; or behind the colons; or nobody names them.
Without logits, names are those that occur. Names that differ by case, outer spaces or "_" alone are one.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.representation import short_repr
from openworld.tables.classes import listed_names, normalise_class_name
from openworld.tables.coded import Coded
from openworld.tables.entries import Columns, empty_entries
from openworld.tables.table import FileLayout, names_of

BASE, NEW = "base", "new"


@dataclass(frozen=True)
class StreamLabels:
    """What is known of the images of a stream, of some of them or of all."""

    known: np.ndarray  # bool[n], images of which the side is known; all else is False or -1 elsewhere
    base: np.ndarray  # bool[n], images of base classes
    named: np.ndarray  # bool[n], images whose class is known too
    label: np.ndarray  # int64[n], the class as a place in base names, then new names; -1 for none of them
    base_right: np.ndarray  # bool[n], base images whose base name is right
    new_right: np.ndarray  # bool[n], new images whose new name is right

    __repr__ = short_repr


def ordered_classes(
    layout: FileLayout, columns: Columns, base_names: Sequence[str] | None
) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, np.ndarray]]:
    """Return base names and new names of a file's matrices, and the place of each among the columns of each matrix."""
    # Refuses matrices of which nobody says which columns are of base classes.
    file, matrix_names = layout.file, layout.classes.named
    matrices = {name: columns[name].shape[1] for name in layout.matrices}
    logits = {"logits", "base_logits", "new_logits"} & set(matrices)
    if matrices and not logits:
        raise OpenworldError(f"{file.path} has {next(iter(matrices))} and no logits; give logits over its names.")
    if not logits:
        return tuple(base_names or ()), (), {}
    if len(logits) == 1 and "logits" not in logits:
        lacking = "new_logits" if "base_logits" in logits else "base_logits"
        raise OpenworldError(f"{file.path} has no logits and no {lacking}; give logits, or both halves.")

    names = _all_names(layout, matrices, base_names)
    base = _which_are_base(layout, matrices, names, base_names)
    halves = {"base_logits": names[base], "new_logits": names[~base]}
    every = np.concatenate([names[base], names[~base]])
    orders = {}
    for matrix, width in matrices.items():
        wanted = halves.get(matrix, every).tolist()
        own_names = list(matrix_names.get(matrix, halves.get(matrix, names)))
        if width != len(own_names):
            raise OpenworldError(
                f"{matrix} of {file.path} has {width} columns, expected a number for each of {len(own_names)} names."
            )
        place = {normalise_class_name(name): number for number, name in enumerate(own_names)}
        forms = [normalise_class_name(name) for name in wanted]
        odd = sorted(set(place) ^ set(forms))
        if odd or len(place) != len(own_names):
            raise OpenworldError(
                f"{matrix} of {file.path} has {len(own_names)} names, expected {len(wanted)}: "
                f"{', '.join(map(repr, odd[:3]))} in one of the two alone; every matrix needs the names of its half."
            )
        orders[matrix] = np.array([place[form] for form in forms])
    return tuple(names[base].tolist()), tuple(names[~base].tolist()), orders


def _all_names(layout: FileLayout, matrices: Mapping[str, int], base_names: Sequence[str] | None) -> np.ndarray:
    """Return the names of all classes, in the order of `logits`; numbers as text where there are none."""
    file, matrix_names = layout.file, layout.classes.named
    halves = [matrix_names[half] for half in ("base_logits", "new_logits") if half in matrix_names]
    if "logits" in matrix_names:
        names = matrix_names["logits"]
    elif len(halves) == 2:
        names = [*halves[0], *halves[1]]
    elif listed := listed_names(file):
        names = listed
    elif base_names is not None:
        raise OpenworldError(f"base names came, but {file.path} has no `classnames` to find them among; add them.")
    else:
        names = range(matrices["logits"] if "logits" in matrices else matrices["base_logits"] + matrices["new_logits"])

    names = [str(name) for name in names]
    for name, times in Counter(map(normalise_class_name, names)).most_common():
        if times > 1 or not name:
            problem = f"the class name {name!r} comes {times} times" if name else "a class name is empty"
            raise OpenworldError(f"{problem} in {file.path}; every class needs a name of its own.")
    return np.array(names, dtype=object)


def _which_are_base(
    layout: FileLayout, matrices: Mapping[str, int], names: np.ndarray, base_names: Sequence[str] | None
) -> np.ndarray:
    """bool[C], which of the names are of base classes; at least one is, and at least one is not."""
    file, matrix_names = layout.file, layout.classes.named
    said: dict[str, np.ndarray] = {}
    for who, chosen in (
        ("the base names given", base_names),
        ("the columns base_logits", matrix_names.get("base_logits")),
    ):
        if chosen is not None:
            forms = {normalise_class_name(str(name)): str(name) for name in chosen}
            there = [normalise_class_name(name) for name in names.tolist()]
            lacking = sorted(forms.keys() - set(there))
            if lacking:
                raise unknown_name(f"base name (classes of {file.path.name})", forms[lacking[0]], names.tolist())
            said[who] = np.array([form in forms for form in there])
    if "n_base" in file.about:
        if not file.about["n_base"].strip().isdecimal():
            raise OpenworldError(f"n_base of {file.path} is {file.about['n_base']}, not a whole number.")
        said["n_base"] = np.arange(len(names)) < int(file.about["n_base"])
    if not said and "base_logits" in matrices:
        said["base_logits"] = np.arange(len(names)) < matrices["base_logits"]
    if not said:
        raise OpenworldError(
            f"{file.path} does not say which of its {len(names)} classes are base ones; add the number `n_base` of "
            "base names, which come first (npz: an array; safetensors, Parquet: in the metadata), or give the base "
            "names (--base-names FILE)."
        )
    (first, base), *others = said.items()
    for other, mask in others:
        if not np.array_equal(mask, base):
            raise OpenworldError(
                f"{first} say {int(base.sum())} base names and {other} {int(mask.sum())} in {file.path}, not the same "
                "ones; keep what is right."
            )
    if base.all() or not base.any():
        kind = "new" if base.all() else "base"
        raise OpenworldError(f"{file.path} has no {kind} name among its {len(names)} classes; give both kinds.")
    return base


class StreamNames:
    """Base names and new names, each with its place."""

    def __init__(self, base: Sequence[str], new: Sequence[str], fixed: Sequence[str]):
        # Of each side the names as they are spelled, in order, by the form in which spellings are equal.
        self.sides = {side: {normalise_class_name(name): name for name in names}
                      for side, names in ((BASE, base), (NEW, new))}  # fmt: skip
        self.fixed = tuple(fixed)  # sides to which no name is added

    def numbers(self, side: str, names: Coded) -> np.ndarray:
        """Return the places of names on a side, int64[n]; unknown names are added where the side is not fixed."""
        there = self.sides[side]
        for name in names.present:
            if side in self.fixed and normalise_class_name(name) not in there:
                raise OpenworldError(f"{side}_name holds {name!r}, none of the {len(there)} {side} names; mend it.")
            there.setdefault(normalise_class_name(name), name)
        return _places(names, there)

    def joint_numbers(self, names: Coded) -> np.ndarray:
        """Return the places of names among base names, then new names, int64[n]; -1 for others."""
        return _places(names, [*self.sides[BASE], *self.sides[NEW]])

    def require_sides(self, where: Path) -> None:
        """Refuse a name of both sides."""
        both = sorted(self.sides[BASE].keys() & self.sides[NEW].keys())
        if both:
            raise OpenworldError(f"{both[0]!r} is a base name and a new name in {where}; a class is of one side.")


def _places(names: Coded, forms: Iterable[str]) -> np.ndarray:
    places: dict[str, int] = {}
    for place, form in enumerate(forms):
        places.setdefault(form, place)  # a base name, where it is a new name too
    codes = np.array([places.get(normalise_class_name(name), -1) for name in names.names], np.int64)
    return codes[names.codes] if len(codes) else np.empty(0, np.int64)


def stream_labels(
    side: Coded | None,
    label: np.ndarray | None,
    names: StreamNames,
    answers: tuple[np.ndarray, np.ndarray],
    path: Path,
    order: np.ndarray | None,
) -> StreamLabels | None:
    """Return what is known of the images, checked against the names that they were given; None where nothing is."""
    # `side`: "base", "new" or "" of each image. `label`: its class, by name or number. `answers`: the base and the new
    # name it was given, as places, int64[n] each. `order`: the place in the file of each class, for labels by number.
    count = len(answers[0])
    side_known, base = np.zeros(count, bool), np.zeros(count, bool)
    if side is not None:
        side_known, base = side != "", side == BASE
    if label is None:
        none = np.zeros(count, bool)
        return StreamLabels(side_known, base, none, np.full(count, -1), none, none) if side_known.any() else None

    has_class, places = ~empty_entries(label), np.full(count, -1)
    if label.dtype.kind in "iuf" and {BASE, NEW} <= set(names.fixed):
        places[has_class] = _numbered_places(label[has_class], names, path, order)
    else:
        spelled = names_of(label[has_class], path.suffix.lower() == ".csv")
        if BASE not in names.fixed:
            names.numbers(BASE, spelled[(side_known & base)[has_class]])
        places[has_class] = names.joint_numbers(spelled)

    base_count = len(names.sides[BASE])
    a_base_name, no_name = (places >= 0) & (places < base_count), places < 0
    for contradicts, what in (
        (~side_known & no_name, "is none of the names, and its side is empty; write base or new into side"),
        (side_known & base & ~a_base_name, "is no base name, and its side is base; mend side or label"),
        (side_known & ~base & a_base_name, "is a base name, and its side is new; mend side or label"),
    ):
        rows = np.flatnonzero(has_class & contradicts)
        if rows.size:
            raise OpenworldError(
                f"label {label[rows[0]]!r} in row {rows[0]:,} of {path} (from 0) {what} ({rows.size} such row(s))."
            )

    # An empty side follows from the label. A new image may have a name that nobody listed: no answer to it is right.
    base, is_known = np.where(side_known, base, has_class & a_base_name), side_known | has_class
    base_right = has_class & base & (places == answers[0])
    new_right = has_class & ~base & (places == base_count + answers[1])
    return StreamLabels(is_known, base, has_class, places, base_right, new_right) if is_known.any() else None


def _numbered_places(label: np.ndarray, names: StreamNames, path: Path, order: np.ndarray | None) -> np.ndarray:
    """Return the places of classes that are numbers, in the order of the file, among base names, then new names."""
    total = sum(map(len, names.sides.values()))
    odd = np.flatnonzero((label < 0) | (label >= total) | (label % 1 != 0))
    if odd.size:
        raise OpenworldError(
            f"column label of {path} holds {label[odd[0]]:g}; expected names of classes, or whole numbers from 0 to "
            f"{total - 1}."
        )
    numbers = label.astype(np.int64)
    return numbers if order is None else np.argsort(order)[numbers]
