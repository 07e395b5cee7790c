"""Score predictions that were made elsewhere: from a table of images to the record of a run.

The file has one entry per image and model: `side`, `score` (larger = more base-like) and either `correct`, or `label`
and `prediction`; `group`, `id`, `model`, `seed`, `joint_prediction` and `confidence` may be there. Of a classifier that
knows base names alone, `correct` is empty for new images: then there is no OpenworldAUC. Rows whose `part` is
"validation" enter no number: `openworld decide` chooses a threshold on them.
"""

import gc
import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from openworld.core.arrays import as_correct
from openworld.core.errors import OpenworldError, failing
from openworld.core.plain_files import sha256_of
from openworld.evaluations.recognition_metrics import image_counts, recognition_rows
from openworld.evaluations.rows import rows_of_unit, with_names
from openworld.runs import RunStore, Unit, UnitResult, execute, provenance
from openworld.runs.outputs import RUN, require_folder
from openworld.tables.coded import Coded, narrow
from openworld.tables.entries import Columns, empty_entries
from openworld.tables.table import PARTS, Schema, TableColumn, open_table

ALGORITHM_VERSION = 3
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


def units(path: Path, title: str = "", model: str = "model") -> list[Unit]:
    """Return one unit per model and seed of the file, in order of first appearance."""
    runs = runs_of(read_predictions(path, model)).names
    digest = _digest(path)
    return [
        Unit(
            function="scored-predictions",
            arguments={"model": str(model), "seed": int(seed), "name": title or Path(path).name},
            inputs={"predictions": digest},
            version=ALGORITHM_VERSION,
            name=f"{model}, seed {seed}",
            resources={"path": str(Path(path).absolute()), "several": len(runs) > 1},
        )
        for model, seed in runs
    ]


def score_file(
    path: Path,
    folder: Path,
    command: Sequence[str],  # what a person typed, for the record of where the numbers come from
    title: str = "",  # what the predictions are called; "" for the name of the file
    model: str = "model",  # what the model is called where the file has no column `model`
    *,
    all_pairs: bool = False,  # test every model against every other, however many there are
) -> None:
    """Score a file into a run, whose records are all that comes of it."""
    require_folder("--out", folder, own=(RUN,), inputs=(path,))
    planned = units(path, title, model)
    store = RunStore(folder)
    origin = {"file": title or path.name, "predictions": planned[0].inputs["predictions"]}
    wanted = {"all_pairs": True} if all_pairs else {}
    store.create({"file": str(path)} | wanted, origin | wanted, provenance(command=command))
    with failing():
        execute(planned, store)
    _of_several.cache_clear()
    gc.collect()  # a result and its estimates refer to one another, and keep the arrays that both rest on


def run_unit(
    model: str, seed: int, name: str, path: str, inputs: Mapping[str, str], several: bool = False
) -> UnitResult:
    """The record of one model and seed of a file."""
    if _digest(path) != inputs["predictions"]:
        raise OpenworldError(f"{path} changed since this run was planned; start the run in a new folder.")
    if several:
        table, rows = _of_several(path, inputs["predictions"])
        chosen = _rows_of_run(dict(table), rows[model, seed])
    else:
        chosen = _rows_of_run(read_predictions(Path(path), model), None)
    closed_set = bool(chosen.pop("closed_set").any())
    has_labels = "label" in chosen
    classes, chosen = _number_classes(chosen)
    outputs = _by_part(chosen)
    tested = outputs["images"]
    sides = {side: len(tested["label"][tested["side"] == side].present) for side in ("base", "new")}
    facts = {
        "protocol": "recognition",
        "task": name,
        "split": "as given",
        "train_domain": None,
        "test_domain": None,
        "backbone": "predictions made elsewhere",
        "learner": model,
        "seed": seed,
        "classnames": classes,
        "n_base_classes": sides["base"],
        "n_new_classes": sides["new"],
        "closed_set": closed_set,
    }
    numbers = recognition_rows(tested, model, closed_set=closed_set)
    kept = rows_of_unit("recognition", numbers, seed=seed, shared=image_counts(tested))
    if has_labels:
        outputs = {name: with_names(columns, classes) for name, columns in outputs.items()}
    return UnitResult(outputs=outputs, metrics=facts, attachments=kept)


def _digest(path: Path | str) -> str:
    state = os.stat(path)
    return _digest_of(str(path), state.st_ino, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=8)
def _digest_of(path: str, _inode: int, _size: int, _changed: int) -> str:
    return sha256_of(Path(path))


@lru_cache(maxsize=1)
def _of_several(path: str, _digest: str) -> tuple[Columns, dict[tuple[str, int], np.ndarray]]:
    """The table of a file of several models and seeds, which all units share, and the rows of each."""
    table = read_predictions(Path(path))
    runs = runs_of(table)
    order = np.argsort(runs.codes, kind="stable")
    ends = np.searchsorted(runs.codes[order], np.arange(len(runs.names)), side="right")
    return table, dict(zip(runs.names, np.split(order, ends[:-1]), strict=True))


def _rows_of_run(table: Columns, own: np.ndarray | None) -> Columns:
    """Some rows, or all, in one order for all models, so that images pair up; taken out of `table`."""
    ids = table["id"]
    if own is not None or (ids[1:] < ids[:-1]).any():
        own = np.arange(len(ids)) if own is None else own
        own = own[np.argsort(ids[own], kind="stable")]
    names = [name for name in table if name not in ("model", "seed")]
    chosen = {}
    for name in names:
        same = name == "group" and table["group"] is ids
        values = table[name] if name == "id" else table.pop(name)
        chosen[name] = chosen["id"] if same and "id" in chosen else values if own is None else values[own]
    return chosen


def _by_part(table: Columns) -> dict[str, Columns]:
    """The tables of a record: "images", which are tested, and "validation" where there are such."""
    parts = table["part"]
    columns = {name: values for name, values in table.items() if name != "part"}
    if parts.present == ["test"]:
        return {"images": columns}
    tables = {
        name: {column: values[parts == part] for column, values in columns.items()}
        for name, part in {"images": "test", "validation": "validation"}.items()
    }
    return {name: columns for name, columns in tables.items() if len(columns["side"])}


def _number_classes(table: Columns) -> tuple[list[str], Columns]:
    """Class names, base ones first, and the table with classes as numbers; without labels, one class per side."""
    is_new = table["side"] == "new"
    if "label" not in table:
        sides = is_new.astype(np.int8)
        filled = {"label": sides, "prediction": np.where(table["correct"], sides, np.int8(-1))}
        return ["a base class", "a new class"], table | {name: _numbers(codes, 2) for name, codes in filled.items()}
    predicted = [table[name] for name in ("prediction", "joint_prediction") if name in table]
    parts = (table["label"][~is_new], table["label"][is_new], *predicted)
    names = dict.fromkeys(name for part in parts for name in sorted(part.present) if name != "")
    number = {"": -1} | {name: place for place, name in enumerate(names)}
    numbered = {
        name: table[name].renamed([number.get(entry, -1) for entry in table[name].names])
        for name in ("label", "prediction", "joint_prediction")
        if name in table
    }
    if "prediction" not in numbered:
        labels = narrow(np.array(numbered["label"].names), len(names))[numbered["label"].codes]
        numbered["prediction"] = _numbers(np.where(table["correct"], labels, labels.dtype.type(-1)), len(names))
    return list(names), table | numbered


def _numbers(values: np.ndarray, count: int) -> Coded:
    """Numbers of classes, from -1, as a column of int64 in the memory of small ones."""
    return Coded(values + values.dtype.type(1), list(range(-1, count)))
