"""A stream with a column of levels: which images are at which level of change, and which names stand there.

A level is a number from 0 (as the source) to 1, and then it means the same as in dynamic scenarios; or any other number
or name, which only orders the levels: numbers by size, names by their first image. Those follow the source in equal
steps, the last at 1. Names that a level does not have stand as -inf in the logits of all its images.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from openworld._errors import OpenworldError, unknown_name
from openworld._score_files import ScoreFile, empty_entries
from openworld.applications.estimate.columns import ScoreLayout, class_numbers, logarithms, score_table
from openworld.applications.estimate.score_tables import open_table

UNKNOWN = -1  # class of an image whose label nobody gave
SAME_IMAGE = ("group", "id", "image", "path")
"""Columns that say which rows are not independent, the first that is there: an image may stand at several levels."""


@dataclass(frozen=True, eq=False)
class LevelScores:
    """Scores read whole."""

    name: str
    logits: np.ndarray  # float64[n, C], -inf for names that an image's level does not have
    labels: np.ndarray | None  # int64[n], UNKNOWN where none is given
    tables: dict[str, np.ndarray]  # other models' scores, float64[n, C] by name
    names: tuple[str, ...] | None
    groups: np.ndarray  # int64[n], equal for rows that are not independent
    keys: np.ndarray | None = None  # [n], what the levels' column holds
    grouped_by: str = ""

    def __len__(self) -> int:
        return len(self.logits)

    @property
    def labelled(self) -> "LevelScores":
        """The images whose labels are given."""
        rows = np.zeros(0, np.int64) if self.labels is None else np.flatnonzero(self.labels != UNKNOWN)
        return replace(
            self,
            logits=self.logits[rows],
            labels=None if self.labels is None else self.labels[rows],
            tables={name: table[rows] for name, table in self.tables.items()},
            groups=self.groups[rows],
        )


@dataclass(frozen=True, eq=False)
class StreamLevel:
    """A level: its name, its place from 0 to 1, its rows, int64[n], and the numbers of its names, int64[c]."""

    name: str
    level: float
    rows: np.ndarray
    classes: np.ndarray


def read_scores(
    given: Sequence, *, levels: str = "", classnames: Sequence[str] | None = None, title: str = ""
) -> LevelScores:
    """Read files of scores that follow each other, whole; `levels` is the column of levels, "" for a source."""
    table = open_table(given, classnames=classnames, times=levels, title=title)
    parts = [_read(file, layout, levels) for file, layout in zip(table.files, table.layouts, strict=True)]
    grouped = parts[0]["grouped_by"]
    tables = {name: np.concatenate([part["tables"][name] for part in parts]) for name in parts[0]["tables"]}
    return LevelScores(
        name=title,
        logits=tables.pop("logits"),
        labels=None if parts[0]["labels"] is None else np.concatenate([part["labels"] for part in parts]),
        tables=tables,
        names=table.classnames,
        groups=np.unique(np.concatenate([part["groups"] for part in parts]), return_inverse=True)[1]
        if grouped
        else np.arange(sum(len(part["groups"]) for part in parts)),
        keys=np.concatenate([part["keys"] for part in parts]) if levels else None,
        grouped_by=grouped,
    )


def _read(file: ScoreFile, layout: ScoreLayout, levels: str) -> dict:
    grouped = next((name for name in SAME_IMAGE if name in file.columns), "")
    wanted = [name for columns in layout.tables.values() for name in columns]
    filled = [name for name in (levels, grouped) if name]
    more = [layout.labels, *filled] if layout.labels else filled
    blocks = list(file.blocks([*wanted, *more], scores=wanted, filled=filled, absent=True))
    if not blocks:
        raise OpenworldError(f"{file.path.name} holds no image; there is nothing to estimate.")
    columns = {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}
    tables = {name: score_table(columns, own, layout.order) for name, own in layout.tables.items()}
    if "probabilities" in tables:
        tables["logits"] = logarithms(tables.pop("probabilities"))
    tables = {name: np.asarray(table, np.float64) for name, table in tables.items()}
    n = len(tables["logits"])
    labels = columns.get(layout.labels)
    return {
        "tables": tables,
        "labels": None if labels is None else _labels(labels, layout, tables["logits"].shape[1], file),
        "groups": columns[grouped].astype(str) if grouped else np.arange(n).astype(str),
        "keys": columns.get(levels),
        "grouped_by": grouped,
    }


def _labels(labels: np.ndarray, layout: ScoreLayout, classes: int, file: ScoreFile) -> np.ndarray:
    """Return class numbers, -1 (UNKNOWN) for an empty entry: None, NaN or no letter."""
    empty = empty_entries(labels)
    numbers = np.full(len(labels), UNKNOWN)
    if not empty.all():
        known = labels[~empty]
        numbers[~empty] = class_numbers(
            known.astype(str) if known.dtype == object else known, layout.classnames, layout.order
        )
    found = numbers[~empty]
    if found.size and not (found.min() >= 0 and found.max() < classes):
        raise OpenworldError(
            f"labels of {file.path.name} reach from {found.min()} to {found.max()}, expected 0 to {classes - 1}."
        )
    return numbers


def names_present(logits: np.ndarray, where: str) -> np.ndarray:
    """Return the numbers int64[c] of the names that stand in these rows; refuse fewer than two, or some in part."""
    absent = np.isneginf(logits)
    some = np.flatnonzero(absent.any(axis=0) & ~absent.all(axis=0))
    if some.size:
        raise OpenworldError(
            f"{where}: class {some[0]} is -inf in {int(absent[:, some[0]].sum()):,} of {len(logits):,} rows; names "
            "that a level does not have are -inf in all of its rows, the others in none."
        )
    present = np.flatnonzero(~absent.all(axis=0))
    if present.size < 2:
        raise OpenworldError(f"{where}: {present.size} name(s) stand there, expected two or more.")
    return present


def levels_of(stream: LevelScores) -> tuple[StreamLevel, ...]:
    """Return the levels of a stream in order, two or more beside the source; one at 0 is the first."""
    keys, first, place = np.unique(stream.keys, return_index=True, return_inverse=True)
    order = np.arange(len(keys)) if keys.dtype.kind in "fiub" else np.argsort(first)
    if keys.dtype.kind in "fiu" and keys.min() >= 0 and keys.max() <= 1:
        at = keys.astype(np.float64)
    else:
        at = np.empty(len(keys))
        at[order] = np.arange(1, len(keys) + 1) / len(keys)
    levels = []
    for number in order:
        rows, name = (
            np.flatnonzero(place == number),
            f"{keys[number]:g}" if keys.dtype.kind == "f" else str(keys[number]),
        )
        where = f"level {name} of {stream.name}"
        levels.append(StreamLevel(name, float(at[number]), rows, names_present(stream.logits[rows], where)))
    if not any(level.level > 0 for level in levels):
        raise OpenworldError(f"{stream.name} has no level above 0; a curve needs one or more beside the source at 0.")
    return tuple(levels)


def require_table(name: str, *sides: LevelScores) -> None:
    """Refuse the name of another model's scores that a side does not hold."""
    for side in sides:
        if name not in side.tables:
            raise unknown_name(f"table of scores in {side.name}:", name, side.tables)
