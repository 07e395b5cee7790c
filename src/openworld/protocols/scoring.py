"""Score predictions that were made elsewhere: from a table of images to the record of a run.

The file is Parquet, CSV or npz with one entry per image and model: `side` ("base" or "new"), `score` (larger = more
base-like) and either `correct` or both `label` and `prediction` (class numbers or names). `group` marks images that are
not independent, `id` pairs the images of several `model`s, `seed` tells repeated trainings of one model apart,
`joint_prediction` (the prediction among base and new names together) and `confidence` add what rests on them.
"""

import hashlib
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from openworld._arrays import as_correct, as_scores
from openworld._errors import OpenworldError
from openworld.protocols._outcome import recognition_metrics
from openworld.runs import Unit, UnitResult

REQUIRED = ("side", "score")
OPTIONAL = ("correct", "label", "prediction", "joint_prediction", "confidence", "group", "id", "model", "seed")
ALGORITHM_VERSION = 1


def units(path: Path) -> list[Unit]:
    """One unit per model and seed of the file, in order of first appearance."""
    table = read_predictions(path)
    pairs = dict.fromkeys(zip(table["model"].tolist(), table["seed"].tolist(), strict=True))
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    return [
        Unit(
            function=f"{__name__}:run_unit",
            arguments={"model": str(model), "seed": int(seed), "name": Path(path).name},
            inputs={"predictions": digest},
            version=ALGORITHM_VERSION,
            name=f"{model}, seed {seed}",
            resources={"path": str(Path(path).absolute())},
        )
        for model, seed in pairs
    ]


def run_unit(model: str, seed: int, name: str, path: str, inputs: Mapping[str, str]) -> UnitResult:
    """The record of one model and seed of a file."""
    if hashlib.sha256(Path(path).read_bytes()).hexdigest() != inputs["predictions"]:
        raise OpenworldError(f"{path} changed since this run was planned; start the run in a new folder.")
    table = read_predictions(Path(path))
    rows = (table["model"] == model) & (table["seed"] == seed)
    chosen = {column: values[rows] for column, values in table.items() if column not in ("model", "seed")}
    classes, chosen = _number_classes(chosen)
    described = {
        "protocol": "recognition",
        "task": name,
        "split": "as given",
        "train_domain": None,
        "test_domain": None,
        "backbone": "predictions made elsewhere",
        "learner": model,
        "seed": seed,
        "shots": None,
        "epochs": None,
        "tuned_parameters": None,
        "classnames": classes,
        "n_base_classes": len(np.unique(chosen["label"][chosen["side"] == "base"])),
        "n_new_classes": len(np.unique(chosen["label"][chosen["side"] == "new"])),
    }
    return UnitResult(outputs={"images": chosen}, metrics=described | recognition_metrics(chosen))


def read_predictions(path: Path) -> dict[str, np.ndarray]:
    """The file's columns, checked, with `correct`, `group`, `id`, `model` and `seed` filled in.

    Raises:
        OpenworldError: a file that is not what its name says, a missing column, a side that is neither base nor new,
            NaN scores, images of two models that cannot be paired.
    """
    table = _read(Path(path))
    _require_columns(table, path)
    count = len(table["side"])
    unknown = set(table["side"].tolist()) - {"base", "new"}
    if unknown:
        raise OpenworldError(f"column side of {path} holds {sorted(map(str, unknown))[0]!r}; expected 'base' or 'new'.")
    table["score"] = as_scores(table["score"], "column score")
    if "correct" not in table:
        table["correct"] = table["label"] == table["prediction"]
    table["correct"] = as_correct(table["correct"], "column correct", count)
    table.setdefault("model", np.full(count, "model"))
    table.setdefault("seed", np.zeros(count, np.int64))
    table["model"] = table["model"].astype(str)
    if "id" not in table:
        table["id"] = _count_up(table["model"], table["seed"])
    table.setdefault("group", table["id"])
    table["group"] = np.unique(table["group"], return_inverse=True)[1]
    table["id"] = np.unique(table["id"], return_inverse=True)[1]
    return table


def _read(path: Path) -> dict[str, np.ndarray]:
    readers = {".parquet": _read_parquet, ".csv": _read_csv, ".npz": _read_npz}
    if path.suffix not in readers:
        raise OpenworldError(f"{path.name} ends in {path.suffix!r}; expected .parquet, .csv or .npz.")
    try:
        return readers[path.suffix](path)
    except OSError as error:
        raise OpenworldError(f"{path} cannot be read: {error}.") from error
    except (ValueError, zipfile.BadZipFile) as error:
        raise OpenworldError(f"{path} is not what its name says, a {path.suffix} file: {error}.") from error


def _read_parquet(path: Path) -> dict[str, np.ndarray]:
    from pyarrow import parquet

    table = parquet.read_table(path)
    return {name: table.column(name).to_numpy() for name in table.column_names}


def _read_csv(path: Path) -> dict[str, np.ndarray]:
    from pyarrow import csv

    table = csv.read_csv(path)
    return {name: table.column(name).to_numpy() for name in table.column_names}


def _read_npz(path: Path) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


def _require_columns(table: dict[str, np.ndarray], path: Path) -> None:
    missing = [name for name in REQUIRED if name not in table]
    if "correct" not in table and not {"label", "prediction"} <= table.keys():
        missing.append("correct (or label and prediction)")
    if missing:
        raise OpenworldError(f"{path} lacks {', '.join(missing)}; it has {', '.join(table)}. Larger score = more base.")
    lengths = {name: len(values) for name, values in table.items()}
    if len(set(lengths.values())) > 1:
        raise OpenworldError(f"the columns of {path} differ in length: {lengths}; expected one entry per image.")


def _count_up(model: np.ndarray, seed: np.ndarray) -> np.ndarray:
    """Images of each model and seed numbered from 0 in the order of the file."""
    ids = np.empty(len(model), np.int64)
    for pair in dict.fromkeys(zip(model.tolist(), seed.tolist(), strict=True)):
        rows = (model == pair[0]) & (seed == pair[1])
        ids[rows] = np.arange(rows.sum())
    return ids


def _number_classes(table: dict[str, np.ndarray]) -> tuple[list[str], dict[str, np.ndarray]]:
    """Class names, and the table with classes as numbers; without labels, one nameless class per side."""
    columns = [name for name in ("label", "prediction", "joint_prediction") if name in table]
    if "label" not in table:
        sides = (table["side"] == "new").astype(np.int64)
        filled = {"label": sides, "prediction": np.where(table["correct"], sides, -1)}
        return ["a base class", "a new class"], table | filled
    names = np.unique(np.concatenate([table[name].astype(str) for name in columns]))
    numbered = {name: np.searchsorted(names, table[name].astype(str)) for name in columns}
    return names.tolist(), table | numbered
