"""Every function that takes a table, in every format that it reads, refuses what is no number and names the column."""

import csv
import io
import json
import shutil
import warnings
import zipfile

import numpy as np
import pandas
import pyarrow
import pytest
from pyarrow import parquet
from safetensors.numpy import save_file

import openworld as ow
from openworld.tables import files

ROWS = 24
NAMES = ("ant", "bee", "cat", "dog")
rng = np.random.default_rng(0)
LOGITS = rng.normal(size=(ROWS, 4))
LABELS = rng.integers(0, 4, ROWS)
SIDES = np.where(np.arange(ROWS) % 2, "new", "base")
NUMBERS = rng.uniform(0.1, 0.9, ROWS)
IDS = np.arange(ROWS)
LABELLED = {"logits": LOGITS, "labels": LABELS}
EMBEDDED = {"embeddings": rng.normal(size=(ROWS, 3)), "labels": LABELS}
CLASSES = {"class_embeddings": rng.normal(size=(4, 3)), "classnames": np.array(NAMES)}
GROUPS = {"group": np.where(IDS < 12, "id", "far"), "cluster": IDS}
PLACES = {"embeddings": rng.normal(size=(ROWS, 4)), "label": np.array([f"place {row}" for row in range(ROWS)])}
PLACES |= {"group": IDS}
PLACE_NAMES = {"class_embeddings": rng.normal(size=(ROWS, 4, 4)), "classnames": PLACES["label"]}
SCORED = GROUPS | {"part": np.where(IDS < 6, "validation", "test"), "MSP": NUMBERS}
PLACED = GROUPS | {"MSP": NUMBERS} | {"semantic": NUMBERS[::-1].copy(), "covariate": NUMBERS}
STREAM = {"score": NUMBERS, "base_name": np.full(ROWS, "cat"), "new_name": np.full(ROWS, "owl"), "base": NUMBERS}
PREDICTED = {"side": SIDES, "score": NUMBERS, "correct": np.ones(ROWS, int), "confidence": NUMBERS, "group": IDS}
OPENED = {"logits": np.resize(LOGITS, (60, 4)), "score": np.resize(NUMBERS, 60), "side": np.full(60, "base")}
OPENED |= {"label": rng.integers(0, 2, 60), "classnames": np.array(NAMES), "n_base": np.array(2)}

CHANCES = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)
LEVELS = {"logits": LOGITS, "level": np.where(IDS < 12, 0.0, 1.0)}
NAMED = STREAM | {"id": IDS, "group": IDS, "base_right": NUMBERS / 2, "new_right": (1 - NUMBERS) / 2}
NUMBERED = PREDICTED | {"seed": np.ones(ROWS, int), "label": SIDES, "prediction": SIDES}
NUMBERED |= {name: np.full(ROWS, name) for name in ("model", "joint_prediction")}

FILES = ("csv", "jsonl", "npz", "parquet", "safetensors")
PLAIN = "mapping frame arrow csv jsonl npz parquet"
FORMATS, MATRICES = f"{PLAIN} safetensors", "mapping frame arrow jsonl npz parquet safetensors"
FAULTS = {
    "nan": np.nan,
    "infinite": np.inf,
    "empty": None,
    "NA": pandas.NA,
    "text": "many",
    "masked": None,
    "doubled": None,
}


QUIET = {"quiet": True}
BY_DOC = QUIET | {"estimator": ("DoC",)}
BARE, AMONG = {"logits": LOGITS}, QUIET | {"replicates": 0}
FEATURES = {"features": EMBEDDED["embeddings"]}
PARTED = {"labels": LABELS, "cluster": IDS, "part": np.where(IDS < 12, "train", "test")}
TIMED = {"logits": LOGITS, "time": IDS * 86400 // 8 + 1_700_000_000}
DRAWN = {"id": IDS, "label": LABELS, "inclusion": np.full(ROWS, 0.5)}
HEAD = {"weight": rng.normal(size=(4, 3)), "bias": np.zeros(4)}
SEEN = LABELLED | {"seen_in_training": LABELS // 2}


def estimate(table, **more):
    return ow.estimate(LABELLED, table, **BY_DOC, **more)


def partnered(table):
    return estimate(BARE, target_partner=[table], source_partner=[BARE])


def watched(at, *new, **more):
    return ow.watch(at / "watch.safetensors", new, state=at / "state", **QUIET, **more)


def planned(table, at, **more):
    return ow.label_plan(table, at / "plan", n=4, **QUIET, **more)


def detected(table, **more):
    return ow.detect(id=table, ood={"far": FEATURES}, **AMONG, **more)


# Every format is tried of a few calls, which between them use all readers; of the others two.
CALLS = {
    "score": (lambda t, at: ow.score(t), PREDICTED, "score confidence correct group", PLAIN),
    "detect scores": (lambda t, at: ow.detect(scores=t, **AMONG), SCORED, "MSP cluster", "frame csv"),
    "detect apply": (lambda t, at: ow.detect(t, apply=at / "kept", **QUIET), SCORED, "MSP", "csv npz"),
    "detect by shift": (
        lambda t, at: ow.detect(scores=t, least=1, **QUIET),
        PLACED,
        "MSP semantic covariate",
        "mapping csv",
    ),
    "detect in distribution": (
        lambda t, at: ow.detect(id=t, ood={"far": BARE}, **AMONG),
        LABELLED,
        "logits labels",
        "mapping npz",
    ),
    "detect out of distribution": (
        lambda t, at: ow.detect(id=LABELLED, ood={"far": t}, **AMONG),
        BARE,
        "logits",
        "frame npz",
    ),
    "estimate source": (lambda t, at: ow.estimate(t, BARE, **BY_DOC), LABELLED, "logits labels", "frame csv"),
    "estimate target": (lambda t, at: estimate(t), BARE, "logits", FORMATS),
    "estimate reference": (lambda t, at: estimate(t), BARE | {"reference": LOGITS + 1}, "reference", "csv npz"),
    "estimate times": (
        lambda t, at: estimate(t, timestamps="time", period="1d"),
        TIMED,
        "time",
        "frame csv parquet",
    ),
    "estimate open world": (
        lambda t, at: ow.estimate(t, OPENED, open_world=True, **QUIET),
        OPENED,
        "logits score",
        "mapping npz",
    ),
    "estimate embedded": (
        lambda t, at: ow.estimate(EMBEDDED | CLASSES, t, **BY_DOC),
        EMBEDDED,
        "embeddings labels",
        "mapping parquet",
    ),
    "estimate late labels": (
        lambda t, at: estimate(BARE | {"id": IDS}, labels=t),
        DRAWN,
        "inclusion id",
        MATRICES,
    ),
    "watch": (lambda t, at: watched(at, t), BARE, "logits", "csv npz"),
    "watch late labels": (lambda t, at: watched(at, labels=t), DRAWN, "inclusion id", "frame npz"),
    "fit_watch": (
        lambda t, at: ow.fit_watch(t, at / "new.safetensors", images=(10,), **BY_DOC),
        LABELLED,
        "logits labels",
        "frame csv",
    ),
    "label_plan": (planned, STREAM, "score base", PLAIN),
    "label_plan closed": (planned, BARE, "logits", "arrow csv"),
    "label_plan compare": (lambda t, at: planned(STREAM, at, compare=t), STREAM, "score", "frame csv"),
    "score names": (lambda t, at: ow.score(t), NUMBERED, "seed side label model joint_prediction", "frame csv npz"),
    "detect features": (lambda t, at: detected(t), FEATURES | PARTED, "features labels cluster", "frame npz"),
    "detect head": (
        lambda t, at: detected(FEATURES | {"labels": LABELS}, model=t),
        HEAD,
        "weight bias",
        "npz parquet",
    ),
    "estimate probabilities": (lambda t, at: estimate(t), {"probabilities": CHANCES}, "probabilities", "csv npz"),
    "estimate partner": (lambda t, at: partnered(t), BARE, "logits", "frame csv"),
    "estimate seen": (lambda t, at: ow.estimate(t, BARE, **BY_DOC), SEEN, "seen_in_training", "mapping npz"),
    "estimate levels": (
        lambda t, at: ow.estimate(LABELLED, t, levels="level", **QUIET),
        LEVELS,
        "logits level",
        "frame csv",
    ),
    "label_plan names": (planned, NAMED, "base_name new_name base_right new_right id group", "frame csv npz"),
    "predict": (
        lambda t, at: ow.predict(CLASSES, t, new=["dog"], **QUIET),
        EMBEDDED,
        "embeddings",
        "mapping frame npz",
    ),
    "predict of classes": (
        lambda t, at: ow.predict(t, EMBEDDED, new=["dog"], **QUIET),
        CLASSES,
        "class_embeddings",
        "mapping npz",
    ),
    "shift": (
        lambda t, at: ow.shift(PLACES | PLACE_NAMES, t, neighbour=2, least=1, **QUIET),
        PLACES,
        "embeddings label group",
        "frame npz",
    ),
}
"""Name -> a call of a table and a folder, the table, the columns that are spoiled in turn, and the formats."""
CALLS = {name: (ask, table, names.split(), kinds.split()) for name, (ask, table, names, kinds) in CALLS.items()}
CANNOT = {
    "masked": {"frame", "arrow", *FILES},
    "doubled": {"mapping", "safetensors"},
    "NA": {"arrow", "jsonl", "npz", "parquet", "safetensors"},
    "empty": {"npz", "safetensors"},
    "text": {"safetensors"},
}
"""Formats that cannot have a fault."""
SPOKEN = {"group": {"text", "infinite"}, "cluster": {"text", "infinite"}, "id": {"text", "infinite"}}
SPOKEN |= {"label": {"text", "infinite", "nan"}, "level": {"text", "infinite"}}
SPOKEN |= dict.fromkeys(
    ("side", "model", "joint_prediction", "base_name", "new_name"), {"text", "infinite", "nan", "NA"}
)
"""Columns whose entries are names, and what is one there."""
COLUMNS = [(call, column) for call, (_, _, columns, _) in CALLS.items() for column in columns]


def spoiled(column, value):
    """The entries of a column as Python has them, one of them another."""
    entries = np.asarray(column).tolist()
    if isinstance(entries[0], list):
        entries[-1] = [value, *entries[-1][1:]]
    else:
        entries[-1] = value
    return entries


def array(column, fault):
    if fault in ("", "doubled"):
        return column
    if fault == "text":
        return np.array(spoiled(column, FAULTS[fault]), str)
    column = np.array(column, float)
    column[(-1, 0) if column.ndim > 1 else -1] = FAULTS[fault]
    return column


def arrow(columns, name, fault):
    table = pyarrow.table({one: list(column) for one, column in columns.items()})
    if fault == "doubled":
        return table.append_column(name, table.column(name))
    entries = spoiled(columns[name], FAULTS[fault]) if fault else list(columns[name])
    if fault == "text":
        entries = [list(map(str, row)) if isinstance(row, list) else str(row) for row in entries]
    return table.set_column(table.column_names.index(name), name, pyarrow.array(entries))


def table_of(columns, name, kind, fault, folder):
    """A table with one fault, or with none."""
    path = folder / f"table.{kind}"
    if kind in ("csv", "npz"):
        return (csv_of if kind == "csv" else npz_of)(columns, name, fault, path)
    if kind == "jsonl":
        return json_lines(columns, name, fault, path)
    if kind == "mapping" and fault == "masked":
        hidden = np.zeros(columns[name].shape, bool)
        hidden[-1] = True
        return columns | {name: np.ma.array(columns[name], mask=hidden)}
    if kind == "mapping":
        return columns | ({name: spoiled(columns[name], FAULTS[fault])} if fault else {})
    if kind == "frame":
        entries = spoiled(columns[name], FAULTS[fault]) if fault not in ("", "doubled") else columns[name]
        frame = pandas.DataFrame({one: list(column) for one, column in (columns | {name: entries}).items()})
        return pandas.concat([frame, frame[[name]]], axis=1) if fault == "doubled" else frame
    if kind == "arrow":
        return arrow(columns, name, fault)
    if kind == "parquet":
        parquet.write_table(arrow(columns, name, fault), path)
    else:
        numbers = {one: column for one, column in columns.items() if column.dtype.kind in "iuf"}
        save_file(numbers | {name: array(columns[name], fault)}, path)
    return path


def npz_of(columns, name, fault, path):
    np.savez(path, **columns | {name: array(columns[name], fault)})
    if fault == "doubled":
        with zipfile.ZipFile(path, "a") as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            archive.writestr(f"{name}.npy", archive.read(f"{name}.npy"))
    return path


def csv_of(columns, name, fault, path):
    said = {"nan": "nan", "infinite": "inf", "empty": "", "NA": "NA", "text": "many"}
    heads, cells = [], []
    for one, column in columns.items():
        wide = column.ndim > 1
        heads += [f"{one}:{own}" for own in NAMES[: column.shape[1]]] if wide else [one]
        texts = [list(map(str, own)) for own in (column.T.tolist() if wide else [column.tolist()])]
        if one == name and fault in said:
            texts[0][-1] = said[fault]
        if one == name and fault == "doubled":
            heads, texts = [*heads, heads[-1]], [*texts, texts[-1]]
        cells += texts
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([heads, *zip(*cells, strict=True)])
    return path


def json_lines(columns, name, fault, path):
    """Python writes NaN and Infinity, which JSON does not know; the file is refused, and what it holds named."""
    entries = spoiled(columns[name], FAULTS[fault]) if fault not in ("", "doubled") else columns[name].tolist()
    whole = {one: column.tolist() for one, column in columns.items()} | {name: entries}
    rows = [json.dumps(dict(zip(whole, row, strict=True))) for row in zip(*whole.values(), strict=True)]
    if fault == "doubled":
        rows[-1] = f'{{"{name}": 1, {rows[-1][1:]}'
    path.write_text("\n".join(rows))
    return path


SLOW = ("score", "detect by shift", "detect in distribution", "detect out of distribution", "estimate times")
"""Calls of which a sound table is taken in one format; all formats are tried of the others."""
FITTED = "shift"
"""A call that fits a decomposition to a sound table, which its own tests do."""


@pytest.fixture(scope="module")
def beside(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept")
    source = {"logits": rng.normal(size=(200, 4)) + 4 * np.eye(4)[np.arange(200) % 4], "labels": np.arange(200) % 4}
    ow.detect(scores=SCORED, flag_rate=0.2, replicates=0, out=folder / "kept", quiet=True)
    ow.fit_watch(source, folder / "watch.safetensors", chunk_rows=20, images=(20,), estimator=("DoC",), quiet=True)
    days = {"logits": np.resize(LOGITS, (40, 4)), "id": np.arange(40)}
    ow.watch(folder / "watch.safetensors", days, state=folder / "state", quiet=True)
    return folder


@pytest.mark.parametrize(("call", "column"), COLUMNS)
def test_a_fault_is_refused_and_its_column_named(call, column, beside, tmp_path):
    ask, columns, _, kinds = CALLS[call]
    for kind in kinds:
        no_json = "|it holds (NaN|Infinity)" if kind == "jsonl" else ""
        for fault in FAULTS:
            if kind in CANNOT.get(fault, ()) or fault in SPOKEN.get(column, ()):
                continue
            with pytest.raises(ow.OpenworldError, match=rf"\b{column}s?\b|unknown label{no_json}"):
                ask(table_of(columns, column, kind, fault, tmp_path), beside)


@pytest.mark.parametrize("call", [call for call in CALLS if call != FITTED])
def test_the_same_table_without_a_fault_is_taken(call, beside, tmp_path):
    ask, columns, (column, *_), kinds = CALLS[call]
    for kind in kinds[:1] if call in SLOW else kinds:
        kept = shutil.copytree(beside, tmp_path / kind)
        ask(table_of(columns, column, kind, "", kept), kept)


def test_an_array_that_claims_more_than_its_file_holds_is_not_unpacked(tmp_path, monkeypatch):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**12, 4)})
    for name in ("logits.npy", "classnames.npy"):
        with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(name, header.getvalue())
        with pytest.raises(ow.OpenworldError, match="claims 32,000,000,000,000 bytes, and 0 lie packed"):
            estimate(tmp_path / "a.npz")
    monkeypatch.setattr(files, "SURE", 2**20)
    np.savez_compressed(tmp_path / "zeros.npz", logits=np.zeros((50_000, 4)))
    with pytest.raises(ow.OpenworldError, match="claims 1,600,000 bytes, and 1,600,000 lie packed in"):
        estimate(tmp_path / "zeros.npz")


def test_what_lies_in_a_file_beside_its_columns_is_no_column(tmp_path):
    np.savez(tmp_path / "all.npz", **LABELLED, image=IDS.astype(str), classnames=np.array(NAMES), n_base=2)
    ow.estimate(tmp_path / "all.npz", tmp_path / "all.npz", estimator=("DoC",), quiet=True)
    ow.detect(id=tmp_path / "all.npz", ood={"far": tmp_path / "all.npz"}, replicates=0, quiet=True)
    for columns, ask in (
        (SCORED, lambda path: ow.detect(scores=path, replicates=0, quiet=True)),
        (PREDICTED, ow.score),
    ):
        np.savez(tmp_path / "more.npz", **columns, classnames=np.array(NAMES), logit_scale=100.0)
        ask(tmp_path / "more.npz")


TEXTS = {
    "UTF-16": (lambda text: text.encode("utf-16"), "UTF-8"),
    "Latin-1 in the first lines": (lambda text: text.replace("\n", "\xe9\n", 2).encode("latin-1"), "UTF-8"),
    "Latin-1 far below": (
        lambda text: text.encode() + b"\xe9" * 3 + text.encode()[-1:],
        "UTF-8|fields|columns|expected",
    ),
    "semicolons": (lambda text: text.replace(",", ";").encode(), "separated by ';'"),
    "tabs": (lambda text: text.replace(",", "\t").encode(), "separated by tab"),
    "a row with fewer cells": (
        lambda text: (text + text.splitlines()[1].rpartition(",")[0] + "\n").encode(),
        "row|Row",
    ),
    "nothing": (lambda text: b"", "is empty"),
    "one header": (lambda text: (text.splitlines()[0] + "\n").encode(), "no row|no image|no in-distribution"),
}
SEVERAL = [call for call, (_, columns, _, kinds) in CALLS.items() if "csv" in kinds and len(columns) > 1]
"""Calls that take CSV of two columns or more, without which nothing separates them."""


@pytest.mark.parametrize("call", SEVERAL)
def test_text_that_is_no_csv_in_utf_8_is_refused_alike(call, beside, tmp_path):
    ask, columns, (column, *_), _ = CALLS[call]
    path = csv_of(columns, column, "", tmp_path / "table.csv")
    text = path.read_text()
    for change, words in TEXTS.values():
        path.write_bytes(change(text))
        with pytest.raises(ow.OpenworldError, match=words) as refused:
            ask(path, beside)
        assert "table.csv" in str(refused.value)


@pytest.mark.parametrize("call", ["label_plan", "label_plan names"])
def test_a_byte_order_mark_belongs_to_no_name(call, beside, tmp_path):
    ask, columns, (column, *_), _ = CALLS[call]
    path = csv_of(columns, column, "", tmp_path / "table.csv")
    path.write_text(path.read_text(), encoding="utf-8-sig")
    ask(path, tmp_path)


def test_class_names_and_matrices_of_other_lengths_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", logits=LOGITS, labels=LABELS, classnames=np.array(NAMES[:3]))
    with pytest.raises(
        ow.OpenworldError, match=r"logits of .*a.npz is \(24, 4\), expected a number for each of 3 names"
    ):
        estimate(tmp_path / "a.npz")
    with pytest.raises(ow.OpenworldError, match="column labels of source holds class 4, and the 4 classes count"):
        ow.estimate(LABELLED | {"labels": LABELS + 1}, {"logits": LOGITS}, estimator=("DoC",), quiet=True)


def test_numbers_among_names_are_names():
    mixed = LEVELS | {"level": ["near"] * 12 + [2] * 12}
    rows = ow.estimate(LABELLED, mixed, levels="level", quiet=True).results
    assert {row.where.get("level_name") for row in rows} == {None, "source", "near", "2"}
