"""Predictions that were made elsewhere: a table with a row per image and model, and a check of every column of it."""

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np

from openworld._arrays import as_correct, as_fractions
from openworld._coded import Coded
from openworld._errors import OpenworldError
from openworld._score_files import Columns, empty_entries, open_scores, require_one_length

KINDS = (".parquet", ".csv", ".npz")
REQUIRED = ("side", "score")
NUMBERS = ("score", "correct", "confidence", "seed", "id", "group")
NAMES = ("side", "label", "prediction", "joint_prediction", "model", "part")
SCORES = ("score", "confidence")
FILLED = ("side", "label", "joint_prediction", "model", "part", "seed", "id", "group")
UNNAMED = ("correct", "prediction")
"""Columns that are empty for new images where a classifier knows base names alone."""

_ROWS = 2**18
"""Rows that are looked at as Python objects at a time."""

PARTS = {"test": "test", "validation": "validation", "val": "validation"}


def read_predictions(path: Path, model: str = "model") -> Columns:
    """Return the columns of a file with a row per image, model and seed, checked; `model` is what it else is called."""
    # Names are text (`Coded`, a byte or two a row), score and confidence float64, correct bool, seed, id and group
    # int64; closed_set bool says whether a model names base images alone, so that `correct` is False for new ones.
    table = _read(Path(path))
    _require_columns(table, path)
    count = len(table["side"])
    unnamed = {name: empty_entries(table[name]) for name in UNNAMED if name in table}
    table |= {name: _as_names(table[name]) for name in NAMES if name in table}
    unknown = sorted(set(table["side"].present) - {"base", "new"})
    if unknown:
        raise OpenworldError(f"column side of {path} holds {unknown[0]!r}; expected 'base' or 'new'.")
    table["score"] = table["score"].astype(np.float64, copy=False)
    if "confidence" in table:
        table["confidence"] = as_fractions(table["confidence"], "column confidence")
    if "seed" in table:
        table["seed"] = _whole_numbers(table["seed"], "seed")
    else:
        table["seed"] = np.broadcast_to(np.int64(0), count)  # in the memory of one
    table.setdefault("model", Coded.constant(model, count))
    runs = runs_of(table)
    table["closed_set"] = _closed_set(table, runs, unnamed)
    table["correct"] = _correct(table, count)
    table["part"] = _parts(table, runs, count)
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


def _read(path: Path) -> Columns:
    """Read the columns, one after the other where the file allows it; of text only the distinct entries are kept."""
    file = open_scores(path, KINDS)
    if path.suffix.lower() == ".csv":  # which has the type of a column from all of its rows
        return {name: _joined([column]) for name, column in file.table(SCORES, FILLED).items()}
    columns = {
        name: _joined(block[name] for block in file.blocks([name], _ROWS, scores=SCORES, filled=FILLED))
        for name in file.columns
    }
    require_one_length(path, {name: len(column) for name, column in columns.items()})
    return columns


def _joined(blocks: Iterable[np.ndarray]) -> np.ndarray | Coded:
    blocks = iter(blocks)
    first = next(blocks, np.empty(0))
    whole = chain([first], blocks)
    return Coded.joined(whole) if first.dtype.kind in "OU" and first.ndim == 1 else np.concatenate(list(whole))


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


def _as_names(values: np.ndarray | Coded) -> Coded:
    """Names or numbers as text, so that 1, 1.0 and "1" are one name."""
    coded = values if isinstance(values, Coded) else Coded.joined(_slices(values))
    return coded.renamed([_name(value) for value in coded.names])


def _name(value) -> str:
    """The text that stands for an entry, "" for an empty one."""
    if value is None or value == "" or value != value:
        return ""
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def _slices(values: np.ndarray) -> Iterator[np.ndarray]:
    """The entries some at a time; every NaN is the same one, so that a column of them has one value."""
    for at in range(0, len(values), _ROWS):
        block = values[at : at + _ROWS]
        missing = block != block
        if missing.any():
            block = block.astype(object)
            block[missing] = None
        yield block


def _closed_set(table: Columns, runs: Coded, unnamed: dict[str, np.ndarray]) -> np.ndarray:
    """Return bool[N], whether a row is of a model that names base images alone: all its new images lack a name."""
    found = np.zeros(len(table["side"]), bool)
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
            found |= own & empty.any() & empty[own].any()
    return found


def _whole_numbers(values: np.ndarray | Coded, column: str) -> np.ndarray:
    if isinstance(values, Coded) or values.dtype.kind not in "iu":
        entries = values.names if isinstance(values, Coded) else values.tolist()
        odd = next((value for value in entries if not isinstance(value, int)), "an odd entry")
        raise OpenworldError(f"column {column} must hold whole numbers; it holds {odd!r}.")
    return values.astype(np.int64, copy=False)


def _numbered(values: np.ndarray | Coded) -> np.ndarray:
    """Whole numbers as they are, anything else numbered in the order of its names."""
    if not isinstance(values, Coded) and values.dtype.kind in "iu":
        return values.astype(np.int64, copy=False)
    named = _as_names(values)
    place = {name: number for number, name in enumerate(sorted(named.present))}
    return np.array([place.get(name, -1) for name in named.names], np.int64)[named.codes]


def _parts(table: Columns, runs: Coded, count: int) -> Coded:
    """Of which part every image is; every model and seed must have some that are tested."""
    if "part" not in table:
        return Coded.constant("test", count)
    unknown = sorted(set(table["part"].present) - set(PARTS))
    if unknown:
        raise OpenworldError(f"column part holds {unknown[0]!r}; expected 'test', or 'validation' (or 'val').")
    parts = table["part"].renamed([PARTS.get(part, part) for part in table["part"].names])
    untested = set(runs.names) - set(runs[parts == "test"].present)
    if untested:
        model, seed = min(untested)
        raise OpenworldError(f"{model!r}, seed {seed}, has validation images alone; give test images of it too.")
    return parts


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
