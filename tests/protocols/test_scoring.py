"""Other people's predictions: every file format, every bad input that a user can bring."""

import csv

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from openworld import OpenworldError, metrics
from openworld.protocols.scoring import read_predictions, units


def columns(count=40, model=None):
    generator = np.random.default_rng(0)
    side = np.where(np.arange(count) % 2, "new", "base")
    table = {"side": side, "score": generator.standard_normal(count), "correct": generator.random(count) < 0.7}
    return table if model is None else table | {"model": np.full(count, model)}


def write(path, table):
    if path.suffix == ".npz":
        np.savez(path, **table)
    elif path.suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.table({name: list(values) for name, values in table.items()}), path)
    else:
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(table)
            writer.writerows(zip(*table.values(), strict=True))
    return path


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
def test_every_format_gives_the_metric(tmp_path, suffix):
    table = columns()
    (unit,) = units(write(tmp_path / f"mine{suffix}", table))
    base = table["side"] == "base"
    expected = metrics.openworld_auc(
        table["score"][base], table["correct"][base], table["score"][~base], table["correct"][~base]
    )
    result = unit.run()
    assert result.metrics["openworld_auc"]["value"] == pytest.approx(expected.value, rel=1e-12)
    assert result.metrics["overall_accuracy"] is None


def test_labels_and_predictions_stand_in_for_correct(tmp_path):
    table = columns()
    label = np.where(table["side"] == "base", "cat", "lynx")
    table = table | {"label": label, "prediction": np.where(table.pop("correct"), label, "dog")}
    read = read_predictions(write(tmp_path / "mine.csv", table))
    assert read["correct"].mean() == pytest.approx((table["label"] == table["prediction"]).mean())
    (unit,) = units(tmp_path / "mine.csv")
    assert set(unit.run().metrics["classnames"]) == {"cat", "dog", "lynx"}


def test_a_unit_per_model_and_seed(tmp_path):
    parts = [columns(model=name) | {"seed": np.full(40, seed)} for name in ("a", "b") for seed in (1, 2)]
    table = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    planned = units(write(tmp_path / "mine.npz", table))
    assert [unit.name for unit in planned] == ["a, seed 1", "a, seed 2", "b, seed 1", "b, seed 2"]
    assert all(len(unit.run().outputs["images"]["id"]) == 40 for unit in planned)


def broken(**changes):
    return columns() | changes


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (broken(side=np.full(40, "old")), "holds 'old'; expected 'base' or 'new'"),
        (broken(score=np.r_[np.nan, np.zeros(39)]), "first at index 0"),
        (broken(correct=np.full(40, 2)), "True/False or 0/1"),
        ({"side": columns()["side"], "correct": columns()["correct"]}, "lacks score"),
        ({"side": columns()["side"], "score": columns()["score"]}, "correct .or label and prediction"),
        (broken(score=np.zeros(39)), "differ in length"),
    ],
)
def test_bad_tables_are_refused(tmp_path, table, sentence):
    with pytest.raises(OpenworldError, match=sentence):
        read_predictions(write(tmp_path / "mine.npz", table))


@pytest.mark.parametrize("name", ["mine.parquet", "mine.npz", "mine.csv"])
def test_a_file_that_is_not_what_its_name_says(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
    with pytest.raises(OpenworldError, match="mine"):
        read_predictions(path)


def test_a_missing_file_and_an_unknown_ending(tmp_path):
    with pytest.raises(OpenworldError, match="cannot be read"):
        read_predictions(tmp_path / "none.csv")
    with pytest.raises(OpenworldError, match="expected .parquet, .csv or .npz"):
        read_predictions(write(tmp_path / "mine.csv", columns()).rename(tmp_path / "mine.txt"))


def test_a_file_that_changes_after_planning_is_noticed(tmp_path):
    path = write(tmp_path / "mine.csv", columns())
    (unit,) = units(path)
    path.write_text(path.read_text() + "base,1.0,True\n")
    with pytest.raises(OpenworldError, match="changed since"):
        unit.run()
