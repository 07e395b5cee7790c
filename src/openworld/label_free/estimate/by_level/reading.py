"""A stream with a column of levels: which images are at which level of change, and which names stand there.

A level is a number from 0 (as the source) to 1, and then it means the same as in dynamic scenarios; or any other number
or name, which only orders the levels: numbers by size, names by their first image. Those follow the source in equal
steps, the last at 1. Names that a level does not have stand as -inf in the logits of all its images.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from openworld.core.errors import OpenworldError, present
from openworld.estimators import Outputs
from openworld.estimators.by_level import among
from openworld.label_free.estimate.results import TARGET
from openworld.tables.classes import UNKNOWN
from openworld.tables.judged import JUDGED
from openworld.tables.probabilities import logarithms
from openworld.tables.table import TableColumn, open_table

SAME_IMAGE = ("group", "id", "image", "path")
"""Columns that say which rows are not independent, the first that is there: an image may stand at several levels."""


@dataclass(frozen=True, eq=False)
class LevelScores:
    """Scores read whole."""

    name: str
    logits: np.ndarray  # float64[n, C], -inf for names that an image's level does not have
    labels: np.ndarray  # int64[n], UNKNOWN where none is given
    tables: dict[str, np.ndarray]  # other models' scores with the same names in play, float64[n, C] by name
    names: tuple[str, ...] | None
    groups: np.ndarray  # int64[n], equal for rows that are not independent
    keys: np.ndarray | None = None  # [n], what the levels' column holds
    grouped_by: str = ""

    def __len__(self) -> int:
        return len(self.logits)

    def take(self, rows: np.ndarray) -> "LevelScores":
        tables = {name: table[rows] for name, table in self.tables.items()}
        columns = {"logits": self.logits[rows], "labels": self.labels[rows], "groups": self.groups[rows]}
        return replace(self, **columns, tables=tables)

    def outputs(self, classes: np.ndarray | None = None) -> Outputs:
        """Return them among some names, with labels where all of them are given."""
        tables = {name: among(table, classes) for name, table in sorted(self.tables.items())}
        labels = None if (self.labels == UNKNOWN).any() else self.labels
        reference = tables.pop("reference", None)
        return Outputs(among(self.logits, classes), labels, reference, tuple(tables.values()))

    def named_otherwise(self, other: str) -> np.ndarray:
        """Return which images another model names otherwise, bool[n]."""
        return self.logits.argmax(axis=1) != self.tables[other].argmax(axis=1)

    def level(self, name: str, at: float, rows: np.ndarray, classes: np.ndarray, zero_shot: str) -> "StreamLevel":
        """Return some rows as a level."""
        part = self.take(rows)
        labelled = not (part.labels == UNKNOWN).any()
        truth = float((part.logits.argmax(axis=1) == part.labels).mean()) if labelled else None
        differs = float(part.named_otherwise(zero_shot).mean()) if zero_shot in part.tables else None
        return StreamLevel(name, at, rows, classes, truth, differs)


@dataclass(frozen=True, eq=False)
class StreamLevel:
    """A level, and what is known of it without estimating: what labels say, and where zero-shot parts."""

    name: str
    level: float  # its place from 0 to 1
    rows: np.ndarray  # int64[n]
    classes: np.ndarray  # int64[c], the numbers of its names
    truth: float | None  # the accuracy, where all labels are known
    differs: float | None  # share of images that zero-shot names otherwise

    @property
    def place(self) -> dict[str, str | float]:
        """Where its rows of results are."""
        return {**TARGET, "level": self.level, "level_name": self.name}


def read_scores(
    files: Sequence, *, levels: str = "", classnames: Sequence[str] | None = None, title: str = ""
) -> LevelScores:
    """Read files of scores that follow each other, whole; `levels` is the column of levels, "" for a source."""
    schema = replace(JUDGED, absent=True).plus(
        TableColumn("labels", "label", also=("label",), empty=True),
        TableColumn("group", "entry"),
        TableColumn(levels, "entry", needed=True),
    )
    table = open_table(list(files), schema, classnames=classnames, title=title)
    grouped = next((name for name in SAME_IMAGE if name in table.present), "")
    matrices = table.layouts[0].matrices
    columns = table.whole([*matrices, "labels", levels, grouped])

    scores = {name: np.asarray(columns[name], np.float64) for name in matrices}
    if "probabilities" in scores:
        scores["logits"] = logarithms(scores.pop("probabilities"))
    logits = scores.pop("logits")
    groups, labels = np.arange(len(logits)), columns.get("labels")
    if grouped:
        groups = np.unique(columns[grouped].astype(str), return_inverse=True)[1]
    return LevelScores(
        name=title,
        logits=logits,
        labels=np.full(len(logits), UNKNOWN) if labels is None else labels,
        tables={name: np.where(np.isneginf(logits), -np.inf, scores_beside) for name, scores_beside in scores.items()},
        names=table.classnames,
        groups=groups,
        keys=columns.get(levels),
        grouped_by=grouped,
    )


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


def levels_of(stream: LevelScores, zero_shot: str = "") -> tuple[StreamLevel, ...]:
    """Return the levels of a stream in order, two or more beside the source; one at 0 is the first."""
    keys, first, place = np.unique(present(stream.keys, "a column of levels"), return_index=True, return_inverse=True)
    order = np.arange(len(keys)) if keys.dtype.kind in "fiub" else np.argsort(first)
    if keys.dtype.kind in "fiu" and keys.min() >= 0 and keys.max() <= 1:
        at = keys.astype(np.float64)
    else:
        at = np.empty(len(keys))
        at[order] = np.arange(1, len(keys) + 1) / len(keys)
    levels = []
    for number in order:
        rows = np.flatnonzero(place == number)
        name = f"{keys[number]:g}" if keys.dtype.kind == "f" else str(keys[number])
        classes = names_present(stream.logits[rows], f"level {name} of {stream.name}")
        levels.append(stream.level(name, float(at[number]), rows, classes, zero_shot))
    if not any(level.level > 0 for level in levels):
        raise OpenworldError(f"{stream.name} has no level above 0; a curve needs one or more beside the source at 0.")
    return tuple(levels)
