"""Scores of detectors on in-distribution images and on named sets of others, and the columns of tables that keep them.

Groups are those of OpenOOD v1.5. "near" and "far" sets show other classes. "covariate" sets show the same classes in
another appearance: the AUROC against the in-distribution test images tells how much of the shift a detector sees, and
there is no better or worse to it. "full-spectrum" sets are such sets too, and count as in-distribution in a second
round of near and far numbers, where a detector should let them pass.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from openworld.core.errors import OpenworldError, unknown_name
from openworld.report.shift_axes import AXES
from openworld.tables.coded import Coded
from openworld.tables.entries import Columns, finite_numbers
from openworld.tables.files import ScoreFile, open_scores
from openworld.tables.parquet import table_bytes
from openworld.tables.table import PARTS, Schema, TableColumn, open_table

OTHER_CLASSES = ("near", "far")
SAME_CLASSES = ("covariate", "full-spectrum")
GROUPS = (*OTHER_CLASSES, *SAME_CLASSES)
FULL = "full-spectrum"
WORST_IMAGES = 8
"""Images of every set that a detector is most wrong about: so many are kept and shown."""
SCORE_COLUMN, STREAM = "score ", "stream "
"""How columns begin that hold what a detector says of images, and of test images in the stream with a set."""

ABOUT = Schema(
    (
        TableColumn("group", "name", needed=True, choices={name: name for name in ("id", *GROUPS)}),
        TableColumn("cluster", "name"),
        TableColumn("part", "name", empty=True, choices=PARTS),
        *(TableColumn(name, "name", empty=True) for name in ("set", "image")),
    ),
    where="openworld detect",
)
"""What a table says of its images; any other column is a detector's."""

LEVELS = tuple(f"{half}_level" for half in AXES)
DEGREES = {f"{half}_degree": half for half in AXES}
"""Columns of the degrees.parquet that `openworld shift` keeps -> columns here."""


@dataclass(frozen=True, eq=False)
class SetScores:
    """One set of images: its scores, image ids and the groups that images were drawn in."""

    name: str
    group: str  # of `GROUPS`; "id" of in-distribution images
    scores: Mapping[str, np.ndarray]  # {detector: float64[n]}, larger = more in-distribution
    images: np.ndarray
    clusters: np.ndarray
    read: Callable[[int], Any] | None = None  # place -> PIL image; None where there are scores alone
    # Of detectors whose scores depend on the order of images: {detector: float64[n]} of the in-distribution test
    # images in the stream that they made with this set.
    inside: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.images)

    def worst(self, detector: str) -> np.ndarray:
        """Places of the images that a detector is most wrong about; of in-distribution ones those with least scores."""
        sign = 1 if self.group == "id" else -1
        return np.argsort(sign * self.scores[detector], kind="stable")[:WORST_IMAGES]


@dataclass(frozen=True, eq=False)
class ScoredSets:
    """In-distribution images and others."""

    test: SetScores
    others: tuple[SetScores, ...]
    validation: SetScores | None = None
    made: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = [each.name for each in self.all]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise OpenworldError(f"two sets are called {twice!r}; give every set a name of its own.")
        for each in self.all:
            if each.group not in GROUPS and each.group != "id":
                raise unknown_name("group", each.group, ("id", *GROUPS))
            if list(each.scores) != list(self.detectors):
                raise OpenworldError(f"{each.name} has scores of other detectors than {self.test.name}.")
            if any(len(own) != len(self.test) for own in each.inside.values()):
                raise OpenworldError(f"{each.name} has a stream of another number of test images than there are.")
            if not len(each):
                raise OpenworldError(f"{each.name} has no image; leave it out, or give its images.")

    @property
    def detectors(self) -> tuple[str, ...]:
        return tuple(self.test.scores)

    @property
    def sequential(self) -> tuple[str, ...]:
        """Those whose scores depend on the order of the images and on which others there are."""
        return tuple(name for name in self.detectors if any(name in each.inside for each in self.others))

    @property
    def all(self) -> tuple[SetScores, ...]:
        """Every set, in-distribution ones first."""
        return (self.test, *((self.validation,) if self.validation else ()), *self.others)

    def of(self, *groups: str) -> tuple[SetScores, ...]:
        return tuple(each for each in self.others if each.group in groups)

    @cached_property
    def spectrum(self) -> SetScores | None:
        """The test images joined by those that count as in-distribution; None where there are none."""
        joined = (self.test, *self.of(FULL))
        if len(joined) == 1:
            return None
        scores = {name: np.concatenate([each.scores[name] for each in joined]) for name in self.detectors}
        images, clusters = (np.concatenate([getattr(each, of) for each in joined]) for of in ("images", "clusters"))
        return SetScores(FULL, "id", scores, images, clusters)


def score_columns(sets: ScoredSets) -> dict[str, np.ndarray]:
    """Return a table with a row per image: set, group, image, cluster, "score DETECTOR", "stream DETECTOR with SET"."""
    table = {
        "set": np.concatenate([np.full(len(each), each.name, object) for each in sets.all]),
        "group": np.concatenate([np.full(len(each), each.group, object) for each in sets.all]),
        "image": np.concatenate([each.images for each in sets.all]),
        "cluster": np.concatenate([each.clusters.astype(object) for each in sets.all]),
    }
    scores = {
        SCORE_COLUMN + label: np.concatenate([each.scores[label] for each in sets.all]) for label in sets.detectors
    }
    count = sum(map(len, sets.all))
    streams = {  # NaN but for test images, the first
        stream_column(name, each.name): np.append(own, np.full(count - len(own), np.nan))
        for each in sets.others
        for name, own in each.inside.items()
    }
    return table | scores | streams


def stream_column(detector: str, name: str) -> str:
    """Return what a column is called that holds scores of the test images in the stream with a set."""
    return f"{STREAM}{detector} with {name}"


def sets_of_rows(
    keys: Iterable[tuple[str, str]],
    images: np.ndarray,
    clusters: np.ndarray,
    scores: Mapping[str, np.ndarray],
    streams: Mapping[str, np.ndarray],
    *,
    title: str = "the table",
    read: Callable[[int], Callable[[int], Any]] | None = None,
    warnings: tuple[str, ...] = (),
) -> ScoredSets:
    """Return the sets of a table, in order of appearance.

    Args:
        keys: group and name of every row; those of in-distribution images are called "test" and "validation".
        scores: float64[N] by detector. streams: by `stream_column`, finite in the rows of test images.
        read: the place of a set -> what reads its images.
    """
    keys = Coded.of(keys)
    rows = {key: np.flatnonzero(keys.codes == place) for place, key in enumerate(keys.names)}
    if ("id", "test") not in rows:
        raise OpenworldError(f"{title} has no in-distribution test image: no row whose group is id (and part test).")
    test = rows["id", "test"]
    beside = {column: finite_numbers(values[test], f"column {column} of {title}") for column, values in streams.items()}
    sets = {}
    for place, ((group, name), chosen) in enumerate(rows.items()):
        inside = {label: beside[stream_column(label, name)] for label in scores if stream_column(label, name) in beside}
        sets[group, name] = SetScores(
            name,
            group,
            {label: values[chosen] for label, values in scores.items()},
            images[chosen],
            clusters[chosen],
            None if read is None else read(place),
            {label: np.asarray(values, np.float64) for label, values in inside.items()},
        )
    others = tuple(each for (group, _), each in sets.items() if group != "id")
    return ScoredSets(sets["id", "test"], others, sets.get(("id", "validation")), warnings=warnings)


def have_places(file: "str | ScoreFile") -> bool:
    """Whether a table of scores says how far off its images are; one axis without the other is refused."""
    columns = {DEGREES.get(name, name) for name in open_scores(file).columns}
    for pair in (tuple(AXES), LEVELS):
        there = [name for name in pair if name in columns]
        if len(there) == 1:
            lacking = next(name for name in pair if name not in columns)
            raise OpenworldError(f"the scores have {there[0]} and no {lacking}; give both, or neither.")
        if there:
            return True
    return False


def read_scores(file: "str | ScoreFile", *, larger_out: bool = False, only: Sequence[str] = ()) -> ScoredSets:
    """Return the scores of a table; `only` these detectors, () for all, turned where they are `larger_out`."""
    # Its columns: set (or "" for the name of the group), group ("id", or one of `GROUPS`), and perhaps part of in-
    # distribution images (test or validation), image (a path or id), cluster (of images that are not independent),
    # "stream DETECTOR with SET" (scores of the test images in the stream with a set). Any other is a detector's,
    # larger = more in-distribution; its name may begin with "score ".
    file, sign = open_scores(file), -1.0 if larger_out else 1.0
    streams = [column for column in file.columns if column.startswith(STREAM)]
    table, scores = read_detectors(file, ABOUT.plus(*(TableColumn(own, "other") for own in streams)), only, sign)
    groups = table["group"].tolist()
    parts, sets = table.get("part", [""] * len(groups)), table.get("set", groups)
    names = [(part or "test") if group == "id" else name or group
             for part, group, name in zip(parts, groups, sets, strict=True)]  # fmt: skip
    return sets_of_rows(
        zip(groups, names, strict=True),
        np.array(list(map(str, table.get("image", range(len(groups))))), object),
        np.array(list(table["cluster"]) if "cluster" in table else [f"row {row}" for row in range(len(groups))], str),
        scores,
        {column: sign * table[column].astype(np.float64) for column in streams},
        title=str(file.path),
    )


def read_detectors(
    file: ScoreFile, schema: Schema, only: Sequence[str], sign: float = 1.0
) -> tuple[Columns, dict[str, np.ndarray]]:
    """Return the columns of a schema, and the scores float64[n] by detector of all others; `only` these, () for all."""
    about = {name for column in schema.columns for name in (column.name, *column.also)}
    column_of = {column.removeprefix(SCORE_COLUMN): column for column in file.columns if column not in about}
    unknown = next((wanted for wanted in only if wanted not in column_of), None)
    if unknown is not None:
        raise unknown_name("detector", unknown, column_of)
    if "group" in file.columns and not column_of:
        raise OpenworldError(f"{file.path} has no column of scores; give one per detector, larger = in-distribution.")
    detectors = {label: column for label, column in column_of.items() if not only or label in only}
    columns = open_table(file, schema.plus(*map(TableColumn, detectors.values()))).whole()
    return columns, {label: sign * columns.pop(column) for label, column in detectors.items()}


def scores_parquet(sets: ScoredSets) -> bytes:
    """Return all scores as the bytes of a Parquet file, which `read_scores` reads back."""
    columns = score_columns(sets)
    parts = [np.full(len(each), each.name if each.group == "id" else "test", object) for each in sets.all]
    return table_bytes(".parquet", columns | {"part": np.concatenate(parts)})
