"""Scores of detectors that were computed elsewhere, or by `openworld detect`: a table with a row per image."""

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from openworld._errors import OpenworldError, unknown_name
from openworld._score_files import Columns, ScoreFile, finite_numbers, open_scores
from openworld.results.scored_sets import (
    GROUPS,
    SCORE_COLUMN,
    STREAM,
    ScoredSets,
    SetScores,
    score_columns,
    with_streams,
)

KINDS = (".parquet", ".csv", ".npz")
ABOUT = ("set", "group", "part", "image", "cluster")
"""Columns that are no detector's."""
FILLED = ("group", "cluster")

PARTS = {"test": "test", "validation": "validation", "val": "validation"}


def read_scores(file: "str | ScoreFile", *, larger_out: bool = False, only: Sequence[str] = ()) -> ScoredSets:
    """Return the scores of a table; `only` these detectors, () for all, turned where they are `larger_out`."""
    # Its columns: set (or "" for the name of the group), group ("id", or one of `GROUPS`), and perhaps part of in-
    # distribution images (test or validation), image (a path or id), cluster (of images that are not independent),
    # "stream DETECTOR with SET" (scores of the test images in the stream with a set). Any other is a detector's,
    # larger = more in-distribution; its name may begin with "score ".
    file = open_scores(file, KINDS)
    name, detectors, sign = str(file.path), detectors_of(file, only), -1.0 if larger_out else 1.0
    table = file.table(detectors.values(), FILLED)
    text = text_columns(table, name)
    scores = wanted_scores(table, detectors, sign)
    text.setdefault("image", np.array(list(map(str, range(len(text["group"])))), object))
    streams = {column: sign * table[column] for column in table if column.startswith(STREAM)}
    sets = list(_sets(text, scores | streams))
    test = [each for each in sets if each.group == "id" and each.name == "test"]
    if not test:
        raise OpenworldError(f"{name} has no in-distribution test image: no row whose group is id (and part test).")
    validation = next((each for each in sets if each.group == "id" and each.name == "validation"), None)
    others = [_of_detectors(each, scores) for each in sets if each.group != "id"]
    beside = {column: finite_numbers(test[0].scores[column], f"column {column} of {name}") for column in streams}
    kept = with_streams(others, beside)
    validation = validation and _of_detectors(validation, scores)
    return ScoredSets(_of_detectors(test[0], scores), kept, validation)


def _of_detectors(images: SetScores, wanted: Iterable[str]) -> SetScores:
    return replace(images, scores={label: images.scores[label] for label in wanted})


def scores_parquet(sets: ScoredSets) -> bytes:
    """Return all scores as the bytes of a Parquet file, which `read_scores` reads back."""
    import pyarrow
    from pyarrow import parquet

    columns = score_columns(sets)
    columns["image"], columns["cluster"] = (
        np.array(list(map(str, columns[name])), object) for name in ("image", "cluster")
    )
    parts = [np.full(len(each), each.name if each.group == "id" else "test", object) for each in sets.all]
    columns["part"] = np.concatenate(parts)
    file = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), file)
    return file.getvalue()


def text_columns(table: Columns, name: str) -> dict[str, np.ndarray]:
    """Return what a table says of its images, as text."""
    if "group" not in table:
        raise OpenworldError(
            f"{name} lacks group; it has {', '.join(table) or 'no column'}. A row per image says in group whether it "
            f"is id, or one of {', '.join(GROUPS)}, and in set the name of its set (see openworld detect --help)."
        )
    return {column: np.array(list(map(_text, table[column].tolist())), object) for column in ABOUT if column in table}


def detectors_of(file: ScoreFile, only: Sequence[str], about: Sequence[str] = ABOUT) -> dict[str, str]:
    """Return the columns of scores by detector; `only` are wanted, () for all, and `about` are no detector's."""
    found = {column.removeprefix(SCORE_COLUMN): column for column in file.columns
             if column not in about and not column.startswith(STREAM)}  # fmt: skip
    unknown = next((wanted for wanted in only if wanted not in found), None)
    if unknown is not None:
        raise unknown_name("detector", unknown, found)
    if "group" in file.columns and not found:
        raise OpenworldError(f"{file.path} has no column of scores; give one per detector, larger = in-distribution.")
    return {label: column for label, column in found.items() if not only or label in only}


def wanted_scores(table: Columns, detectors: Mapping[str, str], sign: float) -> dict[str, np.ndarray]:
    """Return the scores float64[n] by detector, times a sign; a table with several numbers per image is refused."""
    wide = {column: table[column].shape for column in detectors.values() if table[column].ndim != 1}
    if wide:
        raise OpenworldError(f"columns of scores hold several numbers per image: {wide}; expected one score per image.")
    return {label: sign * table[column].astype(np.float64) for label, column in detectors.items()}


def _sets(text: dict[str, np.ndarray], scores: dict[str, np.ndarray]) -> Iterator[SetScores]:
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
    keys = [
        (group, part if group == "id" else name or group)
        for group, part, name in zip(groups, parts, names, strict=True)
    ]
    for group, name in dict.fromkeys(keys):
        rows = np.array([place for place, key in enumerate(keys) if key == (group, name)])
        images = text["image"][rows]
        clusters = text["cluster"][rows] if "cluster" in text else np.array([f"row {row}" for row in rows.tolist()])
        own = {label: values[rows] for label, values in scores.items()}
        yield SetScores(name, group, own, images, clusters.astype(str))


def _text(value) -> str:
    return "" if value is None or value != value else str(value)
