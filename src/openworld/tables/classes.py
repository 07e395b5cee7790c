"""The classes that matrices of scores are over: what they are called, in which order, and labels as their numbers.

Class names come with the columns (behind a colon), in an array or list `classnames` (npz; safetensors and Parquet: in
the metadata, as a JSON list), or from the caller.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.plain_files import parse_json
from openworld.tables.entries import empty_entries
from openworld.tables.files import ScoreFile

UNKNOWN = -1
"""The class of an image without a label."""


def readable_class_name(name: str) -> str:
    """Return a class name as people write it: spaces for underscores, none at the ends."""
    return name.replace("_", " ").strip()


def normalise_class_name(name: str) -> str:
    """Return the form under which two spellings of one class name are equal: readable, and in lower case."""
    return readable_class_name(name).casefold()


@dataclass(frozen=True)
class FileClasses:
    """The classes of a file's matrices."""

    names: tuple[str, ...] | None = None  # in the order that is wanted; None where nobody names them
    order: tuple[int, ...] | None = None  # place in the file of each class, where another order is wanted
    named: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # names behind colons, by matrix

    @property
    def in_file(self) -> tuple[str, ...] | None:
        """Class names in the order of the file."""
        if self.order is None or self.names is None:
            return self.names
        return tuple(self.names[self.order.index(place)] for place in range(len(self.order)))

    def ordered(self, names: Sequence[str] | None, where: str, other: str) -> "FileClasses":
        """Return it with the classes in that order, where both have names; `where` and `other` say whose."""
        places = order_of(self.names, names, where, other) if self.names and names else None
        if places is None or names is None:
            return self
        order = self.order or range(len(places))
        return replace(self, names=tuple(names), order=tuple(order[place] for place in places))


def class_columns(
    file: ScoreFile, is_matrix: Callable[[str], bool]
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Return the columns of every matrix, and the class names behind their colons where they have some."""
    matrices: dict[str, tuple[str, ...]] = {}
    for column in file.columns:
        matrix = column.partition(":")[0]
        if is_matrix(matrix):
            matrices[matrix] = (*matrices.get(matrix, ()), column)
    names_of = {
        matrix: tuple(name.partition(":")[2] for name in columns if ":" in name) for matrix, columns in matrices.items()
    }
    for matrix, names in names_of.items():
        if names and len(names) != len(matrices[matrix]):
            raise OpenworldError(f"{file.path} has {matrix} as a table and as columns of single classes; keep one.")
    return matrices, {matrix: names for matrix, names in names_of.items() if names}


def classes_of(
    file: ScoreFile,
    matrices: Mapping[str, tuple[str, ...]],
    in_columns: Mapping[str, tuple[str, ...]],
    wanted: Sequence[str] | None,
) -> tuple[FileClasses, dict[str, tuple[str, ...]]]:
    """Return the classes of a file, and the columns of its matrices in the order of these; `given` by the caller."""
    wanted = tuple(wanted) if wanted is not None else None
    in_list, first = listed_names(file), next(iter(in_columns), "")
    # The order is that of the file's list; else, where a matrix has no names, the caller's; else the first matrix's.
    expected = in_list or (wanted if len(in_columns) < len(matrices) else None) or in_columns.get(first, ())
    whose = f"those of {first}" if expected == in_columns.get(first) else "those expected"
    ordered = {}
    for matrix, names in in_columns.items():
        order = order_of(names, expected, f"the columns of {matrix} in {file.path}", whose)
        ordered[matrix] = tuple(f"{matrix}:{names[place]}" for place in order or range(len(names)))
    classes = FileClasses(in_list or (expected if in_columns else ()) or wanted)
    return classes.ordered(wanted, file.path.name, "those expected"), ordered


def order_of(names: Sequence[str], expected: Sequence[str], where: str, other: str) -> tuple[int, ...] | None:
    """Return the place of every expected class name among a set's own; None where both are in one order."""
    names, expected = tuple(names), tuple(expected)
    if names == expected:
        return None
    place = {name: number for number, name in enumerate(names)}
    if sorted(names) == sorted(expected) and len(place) == len(names):
        return tuple(place[name] for name in expected)
    odd = sorted(set(names) ^ set(expected))
    reason = f"{len(odd)} are in one of the two alone, first {odd[0]!r}" if odd else "a name comes twice"
    raise OpenworldError(
        f"the classes of {where} are not {other}: {len(names)} names, expected {len(expected)}; {reason}."
    )


def listed_names(file: ScoreFile) -> tuple[str, ...] | None:
    """Return the class names that a file lists beside its columns; None where it lists none."""
    if "classnames" not in file.about:
        return None
    try:
        names = parse_json(file.about["classnames"])
    except ValueError as error:
        raise OpenworldError(f"classnames of {file.path} are no JSON list of names ({error}).") from error
    if not isinstance(names, list):
        raise OpenworldError(f"classnames of {file.path} are {names!r}, expected a JSON list of names.")
    return tuple(map(str, names))


def listed(names: Sequence) -> str:
    """Return some names in a sentence."""
    first = ", ".join(map(str, names[:6]))
    return f"{first}, ... ({len(names)})" if len(names) > 6 else first or "none"


def class_numbers(labels: np.ndarray, classnames: Sequence[str] | None, order: Sequence[int] | None) -> np.ndarray:
    """Return class numbers of labels that are names, or numbers of classes in the order of the file."""
    labels = np.asarray(labels)
    if labels.dtype.kind == "f" and np.array_equal(labels, np.trunc(labels)) and np.isfinite(labels).all():
        labels = labels.astype(np.int64)  # whole numbers that passed through a data frame
    if labels.dtype.kind in "iu":
        if order is None or not np.isin(labels, order).all():  # numbers of no class are refused with the scores
            return labels
        return np.argsort(order)[labels]
    if labels.dtype.kind == "f":
        raise OpenworldError("labels are fractions or infinite in some rows; every image needs a class, or none.")
    if classnames is None:
        raise OpenworldError("labels are names, but the classes have none; give numbers from 0, or class names.")
    number = {name: place for place, name in enumerate(classnames)}
    for name in labels.tolist():
        if name not in number:
            raise unknown_name("label", str(name), classnames)
    return np.array([number[name] for name in labels.tolist()], np.int64)


def labels_as_numbers(labels: np.ndarray, classes: FileClasses, count: int, what: str) -> np.ndarray:
    """Return the classes int64[n] of labels, `UNKNOWN` of empty ones; `count` is how many classes there are."""
    if labels.ndim != 1:
        raise OpenworldError(f"{what} has shape {labels.shape}, expected one entry per image.")
    empty = empty_entries(labels)
    numbers = np.full(len(labels), UNKNOWN)
    filled = labels[~empty]
    if filled.size:
        filled = np.array(filled.tolist()) if filled.dtype == object else filled
        filled = class_numbers(filled, classes.names, classes.order)
        odd = filled[(filled < 0) | (filled >= count)]
        if odd.size:
            raise OpenworldError(f"{what} holds class {odd[0]}, and the {count} classes count from 0 to {count - 1}.")
        numbers[~empty] = filled
    return numbers
