"""Scores of detectors that were computed elsewhere, or by `openworld detect`: a table with a row per image."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from openworld._errors import OpenworldError, unknown_name
from openworld.ood.scored_sets import (
    GROUPS,
    SCORE_COLUMN,
    STREAM,
    ScoredSets,
    SetScores,
    score_columns,
    with_streams,
)
from openworld.tables.coded import Coded
from openworld.tables.entries import Columns, finite_numbers
from openworld.tables.files import ScoreFile, open_scores
from openworld.tables.table import Schema, TableColumn, open_table
from openworld.tables.writing import table_bytes

ABOUT = Schema(
    (
        TableColumn("group", "name", needed=True),
        TableColumn("cluster", "name"),
        *(TableColumn(name, "name", empty=True) for name in ("set", "part", "image")),
    ),
    where="openworld detect",
)
"""What a table says of its images; any other column is a detector's."""

PARTS = {"test": "test", "validation": "validation", "val": "validation"}


def read_scores(file: "str | ScoreFile", *, larger_out: bool = False, only: Sequence[str] = ()) -> ScoredSets:
    """Return the scores of a table; `only` these detectors, () for all, turned where they are `larger_out`."""
    # Its columns: set (or "" for the name of the group), group ("id", or one of `GROUPS`), and perhaps part of in-
    # distribution images (test or validation), image (a path or id), cluster (of images that are not independent),
    # "stream DETECTOR with SET" (scores of the test images in the stream with a set). Any other is a detector's,
    # larger = more in-distribution; its name may begin with "score ".
    file, sign = open_scores(file), -1.0 if larger_out else 1.0
    streams = [column for column in file.columns if column.startswith(STREAM)]
    schema = ABOUT.plus(*(TableColumn(column, "other") for column in streams))
    text, scores = read_detectors(file, schema, only, sign)
    name = str(file.path)
    inside = {column: sign * text.pop(column).astype(np.float64) for column in streams}
    sets = list(_sets(text, scores | inside))
    test = [each for each in sets if each.group == "id" and each.name == "test"]
    if not test:
        raise OpenworldError(f"{name} has no in-distribution test image: no row whose group is id (and part test).")
    validation = next((each for each in sets if each.group == "id" and each.name == "validation"), None)
    others = [_of_detectors(each, scores) for each in sets if each.group != "id"]
    beside = {column: finite_numbers(test[0].scores[column], f"column {column} of {name}") for column in streams}
    kept = with_streams(others, beside)
    validation = validation and _of_detectors(validation, scores)
    return ScoredSets(_of_detectors(test[0], scores), kept, validation)


def read_detectors(
    file: ScoreFile, schema: Schema, only: Sequence[str], sign: float = 1.0
) -> tuple[Columns, dict[str, np.ndarray]]:
    """Return the columns of a schema, and the scores float64[n] by detector of all others; `only` these, () for all."""
    about = {name for column in schema.columns for name in (column.name, *column.also)}
    found = {column.removeprefix(SCORE_COLUMN): column for column in file.columns if column not in about}
    unknown = next((wanted for wanted in only if wanted not in found), None)
    if unknown is not None:
        raise unknown_name("detector", unknown, found)
    if "group" in file.columns and not found:
        raise OpenworldError(f"{file.path} has no column of scores; give one per detector, larger = in-distribution.")
    detectors = {label: column for label, column in found.items() if not only or label in only}
    columns = open_table(file, schema.plus(*map(TableColumn, detectors.values()))).whole()
    return columns, {label: sign * columns.pop(column) for label, column in detectors.items()}


def _of_detectors(images: SetScores, wanted: Iterable[str]) -> SetScores:
    return replace(images, scores={label: images.scores[label] for label in wanted})


def scores_parquet(sets: ScoredSets) -> bytes:
    """Return all scores as the bytes of a Parquet file, which `read_scores` reads back."""
    columns = score_columns(sets)
    parts = [np.full(len(each), each.name if each.group == "id" else "test", object) for each in sets.all]
    return table_bytes(".parquet", columns | {"part": np.concatenate(parts)})


def _sets(text: Columns, scores: dict[str, np.ndarray]) -> Iterator[SetScores]:
    """Yield the sets in order of appearance, the parts of in-distribution images under their own names."""
    groups, parts = text["group"].tolist(), text.get("part")
    unknown = next((group for group in groups if group not in ("id", *GROUPS)), None)
    if unknown is not None:
        raise unknown_name("group", unknown, ("id", *GROUPS))
    parts = ["test"] * len(groups) if parts is None else [PARTS.get(part or "test", part) for part in parts.tolist()]
    names = text.get("set", text["group"]).tolist()
    for part in parts:
        if part not in PARTS:
            raise unknown_name("part", part, PARTS)
    keys = Coded.of(
        (group, part if group == "id" else name or group)
        for group, part, name in zip(groups, parts, names, strict=True)
    )
    images, clusters = text.get("image"), text.get("cluster")
    for place, (group, name) in enumerate(keys.names):
        rows = np.flatnonzero(keys.codes == place)
        own = {label: values[rows] for label, values in scores.items()}
        shown = np.array(list(map(str, rows.tolist() if images is None else images[rows])), object)
        alone = [f"row {row}" for row in rows.tolist()] if clusters is None else clusters[rows].tolist()
        yield SetScores(name, group, own, shown, np.array(alone, str))
