"""Scores that were computed elsewhere, or by `openworld detect`: a table with a row per image, read and compared."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from openworld._errors import OpenworldError, failing, unknown_name
from openworld._observer import SILENT, Observer
from openworld.ood.detection_results import detection_results
from openworld.ood.layout import LAYOUT, detection_brief, ranked
from openworld.ood.scored_sets import GROUPS, SCORE_COLUMN, STREAM, ScoredSets, score_columns, sets_of_rows
from openworld.report.report import Report
from openworld.report.shift_axes import AXES
from openworld.results import Results, RunFolder
from openworld.runs.outputs import DETECTED, require_folder
from openworld.tables.entries import Columns
from openworld.tables.files import ScoreFile, open_scores
from openworld.tables.table import Schema, TableColumn, open_table
from openworld.tables.writing import table_bytes

if TYPE_CHECKING:
    from openworld.ood.thresholds import SavedThresholds

PAGES = ("ood-benchmark", "ood-detection")
"""The evaluations of what is written."""
SCORES = "scores.parquet"

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


LEVELS = tuple(f"{half}_level" for half in AXES)
DEGREES = {f"{half}_degree": half for half in AXES}
"""Columns of the degrees.parquet that `openworld shift` keeps -> columns here."""


def detect_scores(
    scores: Any,
    *,
    larger_out: bool = False,
    detector: Sequence[str] = (),
    flag_rate: float | None = None,
    replicates: int = 200,
    seed: int = 0,
    out: Path | None = None,
    observer: Observer = SILENT,
    made: str = "",
) -> Report:
    """Compare detectors by a table of scores; arguments as for `openworld.detect`."""
    require_folder("--out", out, own=(DETECTED,), pages=PAGES, inputs=(scores,))
    sets = read_scores(scores, larger_out=larger_out, only=detector)
    sets = replace(sets, made={"command": made} if made else {})
    if not sets.others:
        raise OpenworldError("there is no set but in-distribution images; name one with --ood near=IMAGES.")
    observer.progress("comparing detectors", 0, 1)
    with failing():
        results = detection_results(sets, replicates=replicates, seed=seed)
    observer.progress("comparing detectors", 1, 1)
    saved = None
    if flag_rate is not None:
        from openworld.ood.thresholds import choose_thresholds, flagged_results, write_saved

        saved = choose_thresholds(sets, flag_rate, ranked(sets, results))
        results = Results(results.evaluation, (*results.rows, *flagged_results(sets, saved)), results.comparisons)
    report = compared(sets, results, saved)
    if out is not None:
        report.write(out)
        if saved is not None:
            write_saved(saved, None, out)
    return report


def compared(
    sets: ScoredSets, results: Results, saved: "SavedThresholds | None", run: RunFolder | None = None
) -> Report:
    """Return the report of detectors whose numbers are known."""
    notes = {"thresholds": f"Chosen on validation images: {saved.promise}."} if saved else {}
    facts = tuple(sets.made.items()) if run else ()
    brief = detection_brief(sets, results, notes=notes, facts=facts, run=run)
    return LAYOUT.report(brief, made=sets.made, found=sets, files={SCORES: scores_parquet(sets)})


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
    require_groups(groups, ("id", *GROUPS))
    parts = [PARTS.get(part or "test", part) for part in table.get("part", [""] * len(groups))]
    for part in parts:
        if part not in PARTS:
            raise unknown_name("part", part, PARTS)
    names = [
        part if group == "id" else name or group
        for part, group, name in zip(parts, groups, table.get("set", groups), strict=True)
    ]
    return sets_of_rows(
        zip(groups, names, strict=True),
        np.array(list(map(str, table.get("image", range(len(groups))))), object),
        np.array(list(table["cluster"]) if "cluster" in table else [f"row {row}" for row in range(len(groups))], str),
        scores,
        {column: sign * table[column].astype(np.float64) for column in streams},
        title=str(file.path),
    )


def require_groups(groups: Sequence[str], known: Sequence[str]) -> None:
    """Refuse a group that is not known."""
    unknown = next((group for group in groups if group not in known), None)
    if unknown is not None:
        raise unknown_name("group", unknown, known)


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


def scores_parquet(sets: ScoredSets) -> bytes:
    """Return all scores as the bytes of a Parquet file, which `read_scores` reads back."""
    columns = score_columns(sets)
    parts = [np.full(len(each), each.name if each.group == "id" else "test", object) for each in sets.all]
    return table_bytes(".parquet", columns | {"part": np.concatenate(parts)})
