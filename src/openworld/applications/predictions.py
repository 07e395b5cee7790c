"""Predictions that were made elsewhere: a table with a row per image and model, and a check of every column of it."""

from pathlib import Path

import numpy as np

from openworld._arrays import as_correct, as_fractions, as_scores
from openworld._errors import OpenworldError
from openworld.applications.score_files import Columns, open_scores

KINDS = (".parquet", ".csv", ".npz")
REQUIRED = ("side", "score")
NUMBERS = ("score", "correct", "confidence", "seed", "id", "group")
NAMES = ("side", "label", "prediction", "joint_prediction", "model", "part")
UNNAMED = ("correct", "prediction")
"""Columns that are empty for new images where a classifier knows base names alone."""

PARTS = {"test": "test", "validation": "validation", "val": "validation"}


def read_predictions(path: Path) -> Columns:
    """The file's columns, checked, with `correct`, `group`, `id`, `model` and `seed` filled in.

    Args:
        path: a .parquet, .csv or .npz file with one row per image, model and seed.

    Returns:
        Columns of N rows: side, model, part ("test" or "validation"), label, prediction and joint_prediction as text,
        score float64, correct bool, confidence float64 in [0, 1], seed, id and group int64; closed_set bool, whether a
        model names base images alone, so that `correct` is False, and `prediction` may be "", for new ones. What the
        file lacks and nothing stands in for is absent.

    Raises:
        OpenworldError: a file that is not what its name says, without rows or a needed column, an empty entry, a side
            that is neither base nor new, a part that is neither test nor validation, a model and seed without a test
            image, NaN scores, `correct` against `label` and `prediction`, an `id` that occurs twice in a model or
            stands for images of different sides or labels.
    """
    table = open_scores(Path(path), KINDS).table()
    _require_columns(table, path)
    count = len(table["side"])
    unnamed = {name: _empty(table[name]) for name in UNNAMED if name in table}
    table |= {name: _as_names(table[name], name, unnamed.get(name)) for name in NAMES if name in table}
    unknown = sorted(set(table["side"].tolist()) - {"base", "new"})
    if unknown:
        raise OpenworldError(f"column side of {path} holds {unknown[0]!r}; expected 'base' or 'new'.")
    if np.asarray(table["score"]).dtype == bool:
        raise OpenworldError(f"column score of {path} holds true and false, expected numbers; write the scores.")
    table["score"] = as_scores(table["score"], "column score")
    if "confidence" in table:
        table["confidence"] = as_fractions(table["confidence"], "column confidence")
    table["seed"] = _whole_numbers(table.get("seed", np.zeros(count, np.int64)), "seed")
    table.setdefault("model", np.full(count, "model"))
    table["closed_set"] = _closed_set(table, unnamed)
    table["correct"] = _correct(table, count)
    table["part"] = _parts(table, count)
    table["id"] = _identify(table)
    table["group"] = _numbered(table.get("group", table["id"]), "group")
    return table


def _require_columns(table: Columns, path: Path) -> None:
    missing = [name for name in REQUIRED if name not in table]
    if "correct" not in table and not {"label", "prediction"} <= table.keys():
        missing.append("correct (or label and prediction)")
    if "joint_prediction" in table and "label" not in table:
        missing.append("label (which joint_prediction is compared with)")
    if missing:
        columns = ", ".join(table) or "no column"
        raise OpenworldError(f"{path} lacks {', '.join(missing)}; it has {columns} (see openworld score --help).")
    wide = {name: table[name].shape for name in (*NAMES, *NUMBERS) if name in table and table[name].ndim != 1}
    if wide:
        raise OpenworldError(f"columns of {path} hold several numbers per image: {wide}; expected one entry per image.")
    if not len(table["side"]):
        raise OpenworldError(f"{path} has columns but no row; it needs one row per image.")


def _as_names(values: np.ndarray, column: str, unnamed: np.ndarray | None = None) -> np.ndarray:
    """Names or numbers as text, so that 1, 1.0 and "1" are one name; an empty entry raises, where it is not unnamed."""
    listed = _filled(values, column, unnamed)
    return np.array([str(int(value) if isinstance(value, float) and value.is_integer() else value) for value in listed])


def _empty(values: np.ndarray) -> np.ndarray:
    """bool[N], which entries of a column are empty."""
    return np.array([value is None or value == "" or value != value for value in np.asarray(values).tolist()], bool)


def _closed_set(table: Columns, unnamed: dict[str, np.ndarray]) -> np.ndarray:
    """bool[N], whether a row is of a model that names base images alone: all its new images lack a name, no base one.

    Args:
        table: with columns side, model and seed.
        unnamed: by column, where an entry is empty.
    """
    found = np.zeros(len(table["side"]), bool)
    for column, empty in unnamed.items():
        if not empty.any():
            continue
        for model, seed in {*zip(table["model"].tolist(), table["seed"].tolist(), strict=True)}:
            own = (table["model"] == model) & (table["seed"] == seed)
            if not np.array_equal(empty[own], (table["side"] == "new")[own]) and empty[own].any():
                raise OpenworldError(
                    f"column {column} is empty in {empty[own].sum()} of {own.sum()} row(s) of {model!r}, seed {seed}, "
                    f"first in row {np.flatnonzero(empty & own)[0]} (from 0); fill those entries in, or leave it empty "
                    "for all new images and no other, if the classifier knows base names alone."
                )
            found |= own & empty.any() & empty[own].any()
    return found


def _filled(values: np.ndarray, column: str, unnamed: np.ndarray | None = None) -> list:
    """The entries of a column, "" where an image is unnamed; any other empty one raises."""
    blank = np.zeros(len(values), bool) if unnamed is None else unnamed
    listed = ["" if skipped else value for value, skipped in zip(np.asarray(values).tolist(), blank, strict=True)]
    empty = np.flatnonzero(_empty(values) & ~blank).tolist()
    if empty:
        raise OpenworldError(
            f"column {column} is empty in {len(empty)} row(s), first in row {empty[0]} (from 0); "
            "fill those entries in, or drop the rows."
        )
    return listed


def _whole_numbers(values: np.ndarray, column: str) -> np.ndarray:
    values = np.asarray(values)
    if values.dtype.kind not in "iu":
        odd = next((value for value in _filled(values, column) if not isinstance(value, int)), values.dtype)
        raise OpenworldError(f"column {column} must hold whole numbers; it holds {odd!r}.")
    return values.astype(np.int64)


def _numbered(values: np.ndarray, column: str) -> np.ndarray:
    """Whole numbers as they are, anything else numbered in the order of its names."""
    values = np.asarray(values)
    if values.dtype.kind in "iu":
        return values.astype(np.int64)
    return np.unique(_as_names(values, column), return_inverse=True)[1]


def _parts(table: Columns, count: int) -> np.ndarray:
    """Of which part every image is; every model and seed must have some that are tested."""
    if "part" not in table:
        return np.full(count, "test")
    unknown = sorted(set(table["part"].tolist()) - set(PARTS))
    if unknown:
        raise OpenworldError(f"column part holds {unknown[0]!r}; expected 'test', or 'validation' (or 'val').")
    parts = np.array([PARTS[part] for part in table["part"].tolist()])
    runs = list(zip(table["model"].tolist(), table["seed"].tolist(), strict=True))
    untested = set(runs) - {run for run, part in zip(runs, parts.tolist(), strict=True) if part == "test"}
    if untested:
        model, seed = min(untested)
        raise OpenworldError(f"{model!r}, seed {seed}, has validation images alone; give test images of it too.")
    return parts


def _correct(table: Columns, count: int) -> np.ndarray:
    """Which images are named right: as the file says, or where label and prediction agree; they must not contradict.

    False for new images of a model that names base images alone.
    """
    unnamed = table["closed_set"] & (table["side"] == "new")
    if "correct" not in table:
        return (table["label"] == table["prediction"]) & ~unnamed
    answers = [value or False for value in _filled(table["correct"], "correct", unnamed)]
    correct = as_correct(answers, "column correct", count)
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


def _identify(table: Columns) -> np.ndarray:
    """int64[N]: which image every row is, the same for all models and seeds."""
    runs = [f"{model}\0{seed}" for model, seed in zip(table["model"], table["seed"], strict=True)]
    runs = np.unique(runs, return_inverse=True)[1]
    if "id" not in table:
        ids = np.empty(len(runs), np.int64)
        for run in range(runs.max() + 1):
            ids[runs == run] = np.arange((runs == run).sum())
        # Rows that disagree are other images: numbered apart, so that no test takes them for pairs.
        return ids if _first_clash(ids, table) is None else np.arange(len(runs))
    ids = _numbered(table["id"], "id")
    if len(set(zip(runs.tolist(), ids.tolist(), strict=True))) < len(ids):
        raise OpenworldError("column id repeats within one model and seed; every image needs an id of its own.")
    clash = _first_clash(ids, table)
    if clash is not None:
        raise OpenworldError(
            f"id {table['id'][clash]!r} stands for images of different sides or labels, first in row {clash} (from 0); "
            "one id is one image, in every model and seed."
        )
    return ids


def _first_clash(ids: np.ndarray, table: Columns) -> int | None:
    """The first row whose side or label is not that of the first row of the same id."""
    _, first, image = np.unique(ids, return_index=True, return_inverse=True)
    columns = [table[name] for name in ("side", "label") if name in table]
    rows = np.flatnonzero(np.any([column != column[first][image] for column in columns], axis=0))
    return int(rows[0]) if rows.size else None
