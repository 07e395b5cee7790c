"""Predictions that were made elsewhere: a table with a row per image and model, and a check of every column of it."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from openworld.core.arrays import as_correct
from openworld.core.errors import OpenworldError
from openworld.tables.coded import Coded
from openworld.tables.entries import Columns, empty_entries
from openworld.tables.table import PARTS, Schema, TableColumn, open_table

PREDICTIONS = Schema(
    (
        TableColumn("side", "name", choices={"base": "base", "new": "new"}),
        TableColumn("score"),
        TableColumn("correct", "other"),
        TableColumn("prediction", "name", empty=True),
        TableColumn("confidence", "fraction"),
        TableColumn("seed", "whole"),
        TableColumn("part", "name", choices=PARTS),
        *(TableColumn(name, "name") for name in ("label", "joint_prediction", "model")),
        *(TableColumn(name, "key") for name in ("id", "group")),
    ),
    others="other",
    where="openworld score",
)
"""`correct` and `prediction` are empty for new images where a classifier knows base names alone."""

_ROWS = 2**18
"""Rows that are looked at as Python objects at a time."""


def read_predictions(path: Path, model: str = "model") -> Columns:
    """Return the columns of a file with a row per image, model and seed, checked; `model` is what it else is called."""
    # Names are text (`Coded`, a byte or two a row), score and confidence float64, correct bool, seed, id and group
    # int64; closed_set bool says whether a model names base images alone, so that `correct` is False for new ones.
    source = open_table(path, PREDICTIONS)
    _require_columns(source.present, path)
    table = source.whole()
    count = len(table["side"])
    unnamed = {name: empty_entries(table[name]) for name in ("correct", "prediction") if name in table}
    table.setdefault("seed", np.broadcast_to(np.int64(0), count))  # in the memory of one
    table.setdefault("model", Coded.constant(model, count))
    runs = runs_of(table)
    table["closed_set"] = _closed_set(table, runs, unnamed)
    table["correct"] = _correct(table, count)
    table.setdefault("part", Coded.constant("test", count))
    untested = set(runs.names) - set(runs[table["part"] == "test"].present)
    if untested:
        run, seed = min(untested)
        raise OpenworldError(f"{run!r}, seed {seed}, has validation images alone; give test images of it too.")
    table["id"] = _identify(table, runs)
    table["group"] = _numbered(table["group"]) if "group" in table else table["id"]
    return table


def runs_of(table: Columns) -> Coded:
    """Which (model, seed) every row is of, numbered as they first appear."""
    models, seeds = table["model"], table["seed"]
    if len(models.names) == 1 and seeds.min() == seeds.max():
        return Coded.constant((models.names[0], int(seeds[0])), len(models))
    steps = range(0, len(models), _ROWS)
    pairs = (list(zip(models[at : at + _ROWS], seeds[at : at + _ROWS].tolist(), strict=True)) for at in steps)
    return Coded.joined(pairs)


def _require_columns(present: Sequence[str], path: Path) -> None:
    missing = [name for name in ("side", "score") if name not in present]
    if "correct" not in present and not {"label", "prediction"} <= set(present):
        missing.append("correct (or label and prediction)")
    if "joint_prediction" in present and "label" not in present:
        missing.append("label (which joint_prediction is compared with)")
    if missing:
        raise OpenworldError(
            f"{path} lacks {', '.join(missing)}; it has {', '.join(present)} (see openworld score --help)."
        )


def _closed_set(table: Columns, runs: Coded, unnamed: dict[str, np.ndarray]) -> np.ndarray:
    """Return bool[N], whether a row is of a model that names base images alone: all its new images lack a name."""
    closed = np.zeros(len(table["side"]), bool)
    for column, empty in unnamed.items():
        if not empty.any():
            continue
        for model, seed in runs.names:
            own = runs == (model, seed)
            if not np.array_equal(empty[own], (table["side"] == "new")[own]) and empty[own].any():
                raise OpenworldError(
                    f"column {column} is empty in {empty[own].sum()} of {own.sum()} row(s) of {model!r}, seed {seed}, "
                    f"first in row {np.flatnonzero(empty & own)[0]} (from 0); fill those entries in, or leave it empty "
                    "for all new images and no other, if the classifier knows base names alone."
                )
            closed |= own & empty.any() & empty[own].any()
    return closed


def _numbered(values: np.ndarray | Coded) -> np.ndarray:
    """Whole numbers as they are, names numbered in their order."""
    if not isinstance(values, Coded):
        return values
    place = {name: number for number, name in enumerate(sorted(values.present))}
    return np.array([place.get(name, -1) for name in values.names], np.int64)[values.codes]


def _correct(table: Columns, count: int) -> np.ndarray:
    """Which images are named right, as the file says or by label and prediction; False where a name cannot be right."""
    unnamed = table["closed_set"] & (table["side"] == "new")
    if "correct" not in table:
        return (table["label"] == table["prediction"]) & ~unnamed
    answers = table["correct"]
    if isinstance(answers, Coded):  # text, or truth values of which some are empty
        answers = as_correct([value or False for value in answers.names], "column correct")[answers.codes]
    correct = as_correct(np.where(unnamed, 0, answers) if unnamed.any() else answers, "column correct", count)
    if not {"label", "prediction"} <= table.keys():
        return correct
    contradicted = np.flatnonzero((correct != (table["label"] == table["prediction"])) & ~unnamed)
    if contradicted.size:
        raise OpenworldError(
            f"column correct contradicts label and prediction in {contradicted.size} row(s), first in row "
            f"{contradicted[0]} (from 0); prediction is the name among those of the image's own side, "
            "joint_prediction the one among all names."
        )
    return correct


def _identify(table: Columns, runs: Coded) -> np.ndarray:
    """int64[N]: which image every row is, the same for all models and seeds."""
    if "id" not in table:
        ids = np.arange(len(runs))
        if len(runs.names) == 1:
            return ids
        for run in range(len(runs.names)):
            rows = runs.codes == run
            ids[rows] = np.arange(rows.sum())
        # Rows that disagree are other images: numbered apart, so that no test takes them for pairs.
        return ids if _first_clash(ids, table) is None else np.arange(len(runs))
    ids = _numbered(table["id"])
    for run in range(len(runs.names)):
        ranked = np.sort(ids[runs.codes == run] if len(runs.names) > 1 else ids)
        if (ranked[1:] == ranked[:-1]).any():
            raise OpenworldError("column id repeats within one model and seed; every image needs an id of its own.")
    clash = _first_clash(ids, table) if len(runs.names) > 1 else None
    if clash is not None:
        raise OpenworldError(
            f"id {table['id'][clash]!r} stands for images of different sides or labels, first in row {clash} (from 0); "
            "one id is one image, in every model and seed."
        )
    return ids


def _first_clash(ids: np.ndarray, table: Columns) -> int | None:
    """The first row whose side or label is not that of the first row of the same id."""
    _, first, image = np.unique(ids, return_index=True, return_inverse=True)
    columns = [table[name].codes for name in ("side", "label") if name in table]
    rows = np.flatnonzero(np.any([column != column[first][image] for column in columns], axis=0))
    return int(rows[0]) if rows.size else None
