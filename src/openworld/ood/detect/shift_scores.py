"""Scores of detectors beside shift degrees, or levels, of one's own: a table with a row per image."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from openworld._arrays import as_labels
from openworld._errors import OpenworldError, unknown_name
from openworld.metrics.by_cell import HALVES
from openworld.ood.detect.reading import ABOUT, read_detectors
from openworld.ood.scored_sets import GROUPS
from openworld.tables.entries import Columns, finite_numbers
from openworld.tables.files import ScoreFile, open_scores
from openworld.tables.table import TableColumn

POOL = "pool"
LEVELS = tuple(f"{half}_level" for half in HALVES)
DEGREES = {f"{half}_degree": half for half in HALVES}
"""Columns of the degrees.parquet that `openworld shift` keeps -> columns here."""

BY_SHIFT = ABOUT.plus(
    TableColumn("known", "name", empty=True),
    *(TableColumn(half, "other", also=(degree,)) for degree, half in DEGREES.items()),
    *(TableColumn(name, "other") for name in LEVELS),
    *(TableColumn(name, "other") for name in ("picture", "class")),
    *(TableColumn(f"{half}_{name}", "other") for half in HALVES for name in ("far", "nearest")),
)
"""What a table says of its images and where they stand, with the other columns of degrees.parquet."""


@dataclass(frozen=True, eq=False)
class ShiftScores:
    """Scores float64 by detector, groups int64, and by half degrees float64[N] or levels int64[N] of the pool."""

    test: dict[str, np.ndarray]
    pool: dict[str, np.ndarray]
    test_groups: np.ndarray
    pool_groups: np.ndarray
    degrees: dict[str, np.ndarray] | None
    levels: dict[str, np.ndarray] | None
    known: np.ndarray


def have_places(file: "str | ScoreFile") -> bool:
    """Whether a table of scores says how far off its images are; one axis without the other is refused."""
    columns = {DEGREES.get(name, name) for name in open_scores(file).columns}
    for pair in (HALVES, LEVELS):
        there = [name for name in pair if name in columns]
        if len(there) == 1:
            lacking = next(name for name in pair if name not in columns)
            raise OpenworldError(f"the scores have {there[0]} and no {lacking}; give both, or neither.")
        if there:
            return True
    return False


def read_shift_scores(file: "str | ScoreFile", *, larger_out: bool = False, only: Sequence[str] = ()) -> ShiftScores:
    """Return the scores and places of a table; `larger_out` and `only` as for `read_scores`."""
    # Its columns: group ("id" of in-distribution test images; of the pool "pool", or one of `GROUPS`), semantic and
    # covariate (shift degrees, of the pool at least, or as degrees.parquet calls them) or semantic_level and
    # covariate_level (from 0, the nearest), perhaps known (an image of the pool is of an in-distribution class) and
    # cluster. Any other is a detector's.
    file = open_scores(file)
    name = str(file.path)
    table, scores = read_detectors(file, BY_SHIFT, only, -1.0 if larger_out else 1.0)
    groups = table["group"].tolist()
    unknown = next((group for group in groups if group not in ("id", POOL, *GROUPS)), None)
    if unknown is not None:
        raise unknown_name("group", unknown, ("id", POOL, *GROUPS))
    if "part" in table and any(part not in ("", "test") for part in table["part"].present):
        raise OpenworldError(f"{name} has rows of other parts than test; leave them out: nothing is chosen on them.")
    inside = np.array([group == "id" for group in groups])
    for side, there in (("in-distribution test image: no row whose group is id", inside), ("image of a pool", ~inside)):
        if not there.any():
            raise OpenworldError(f"{name} has no {side}.")
    clusters = table["cluster"].tolist() if "cluster" in table else range(len(groups))
    numbers = np.unique([f"{side} {own}" for side, own in zip(inside, clusters, strict=True)], return_inverse=True)[1]
    given = set(LEVELS) <= set(table)
    return ShiftScores(
        {label: values[inside] for label, values in scores.items()},
        {label: values[~inside] for label, values in scores.items()},
        numbers[inside],
        numbers[~inside],
        None if given else {half: _places(table, half, inside, name) for half in HALVES},
        {half: _levels(table, f"{half}_level", inside, name) for half in HALVES} if given else None,
        _known(table, name)[~inside],
    )


def _places(table: Columns, column: str, inside: np.ndarray, name: str) -> np.ndarray:
    """Return the numbers of a column, float64, of the pool's images; the others need none."""
    entries = np.asarray(table[column])
    entries = entries.astype(object) if entries.dtype.kind in "OU" else entries.copy()
    entries[inside] = 0
    return finite_numbers(entries, f"column {column} of {name}")[~inside].astype(np.float64)


def _levels(table: Columns, column: str, inside: np.ndarray, name: str) -> np.ndarray:
    values = _places(table, column, inside, name)
    if (values != np.floor(values)).any():
        raise OpenworldError(f"column {column} holds {values[values != np.floor(values)][0]}, expected levels from 0.")
    return as_labels(values.astype(np.int64), f"column {column}")


def _known(table: Columns, name: str) -> np.ndarray:
    if "known" not in table:
        return np.zeros(len(table["group"]), bool)
    words = {**dict.fromkeys(("true", "1"), True), **dict.fromkeys(("false", "0", "", "none", "nan"), False)}
    said = [word.casefold() for word in table["known"].names]
    wrong = next((word for word in said if word not in words), None)
    if wrong is not None:
        raise OpenworldError(f"known of {name} is {wrong!r} in some row; expected true or false.")
    return np.array([words[word] for word in said], bool)[table["known"].codes]
