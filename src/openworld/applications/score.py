"""Score predictions that were made elsewhere: from a table of images to the record of a run.

The file is Parquet, CSV or npz with one entry per image and model: `side` ("base" or "new"), `score` (larger = more
base-like) and either `correct` or both `label` and `prediction` (class numbers or names). `group` marks images that are
not independent, `id` pairs the images of several `model`s (without it, the n-th rows of two models are one image as
long as their sides and labels agree), `seed` tells repeated trainings of one model apart, `joint_prediction` (the
prediction among base and new names together) and `confidence` add what rests on them. Of a classifier that knows base
names alone, `correct` is empty for new images: then there is no OpenworldAUC. Rows whose `part` is "validation" enter
no number: `openworld decide` chooses a threshold on them.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from openworld._errors import OpenworldError, failing
from openworld.applications.predictions import read_predictions
from openworld.evaluations.recognition.record import RecognitionRecord, numbers_of
from openworld.evaluations.record_images import with_names
from openworld.runs import RunStore, Unit, UnitResult, execute, provenance, to_json

ALGORITHM_VERSION = 2


def units(path: Path) -> list[Unit]:
    """One unit per model and seed of the file, in order of first appearance.

    Args:
        path: as `read_predictions` takes it, with its errors.
    """
    table = read_predictions(path)
    pairs = dict.fromkeys(zip(table["model"].tolist(), table["seed"].tolist(), strict=True))
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    return [
        Unit(
            function="scored-predictions",
            arguments={"model": str(model), "seed": int(seed), "name": Path(path).name},
            inputs={"predictions": digest},
            version=ALGORITHM_VERSION,
            name=f"{model}, seed {seed}",
            resources={"path": str(Path(path).absolute())},
        )
        for model, seed in pairs
    ]


def score_file(path: Path, folder: Path, command: Sequence[str]) -> None:
    """Score a file into a run, whose records are all that comes of it.

    Args:
        path: as for `units`.
        folder: of the run.
        command: what a person typed, for the record of where the numbers come from.

    Raises:
        OpenworldError: what `read_predictions` raises, or a folder that holds another run.
    """
    planned = units(path)
    store = RunStore(folder)
    origin = {"file": path.name, "predictions": planned[0].inputs["predictions"]}
    store.create({"file": str(path)}, origin, provenance(command=command))
    with failing():
        execute(planned, store)


def run_unit(model: str, seed: int, name: str, path: str, inputs: Mapping[str, str]) -> UnitResult:
    """The record of one model and seed of a file."""
    if hashlib.sha256(Path(path).read_bytes()).hexdigest() != inputs["predictions"]:
        raise OpenworldError(f"{path} changed since this run was planned; start the run in a new folder.")
    table = read_predictions(Path(path))
    closed_set = table.pop("closed_set")
    rows = np.flatnonzero((table["model"] == model) & (table["seed"] == seed))
    rows = rows[np.argsort(table["id"][rows], kind="stable")]  # one order for all models, so that images pair up
    chosen = {column: values[rows] for column, values in table.items() if column not in ("model", "seed")}
    classes, chosen = _number_classes(chosen)
    outputs = _by_part(chosen)
    tested = outputs["images"]
    sides = {side: len(np.unique(tested["label"][tested["side"] == side])) for side in ("base", "new")}
    record = RecognitionRecord(
        task=name,
        split="as given",
        train_domain=None,
        test_domain=None,
        backbone="predictions made elsewhere",
        learner=model,
        seed=seed,
        tuned_parameters=None,
        classnames=tuple(classes),
        n_base_classes=sides["base"],
        n_new_classes=sides["new"],
        **numbers_of(tested, closed_set=bool(np.any(closed_set[rows]))),
    )
    if "label" in table:
        outputs = {name: with_names(columns, classes) for name, columns in outputs.items()}
    return UnitResult(outputs=outputs, metrics=to_json(record))


def _by_part(table: dict[str, np.ndarray]) -> dict[str, dict[str, np.ndarray]]:
    """The tables of a record: "images", which are tested, and "validation" where there are such."""
    parts = table["part"]
    columns = {name: values for name, values in table.items() if name != "part"}
    tables = {
        name: {column: values[parts == part] for column, values in columns.items()}
        for name, part in {"images": "test", "validation": "validation"}.items()
    }
    return {name: columns for name, columns in tables.items() if len(columns["side"])}


def _number_classes(table: dict[str, np.ndarray]) -> tuple[list[str], dict[str, np.ndarray]]:
    """Class names, base ones first, and the table with classes as numbers; without labels, one class per side."""
    is_new = table["side"] == "new"
    if "label" not in table:
        sides = is_new.astype(np.int64)
        filled = {"label": sides, "prediction": np.where(table["correct"], sides, -1)}
        return ["a base class", "a new class"], table | filled
    predicted = [table[name][table[name] != ""] for name in ("prediction", "joint_prediction") if name in table]
    parts = (table["label"][~is_new], table["label"][is_new], *predicted)
    names = dict.fromkeys(name for part in parts for name in np.unique(part).tolist())
    number = {"": -1} | {name: place for place, name in enumerate(names)}
    numbered = {
        name: np.array([number[entry] for entry in table[name].tolist()], np.int64)
        for name in ("label", "prediction", "joint_prediction")
        if name in table
    }
    numbered.setdefault("prediction", np.where(table["correct"], numbered["label"], -1))
    return list(names), table | numbered
