"""Other people's predictions: every file format, and what is wrong with a table beyond single entries."""

import csv

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from made_units import numbers

import openworld
from openworld import OpenworldError, metrics
from openworld.own_data import score
from openworld.own_data.score import read_predictions, units
from openworld.runs import RunStore
from openworld.tables import files as score_files

pytestmark = pytest.mark.base


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
    assert numbers(result)["openworld_auc"] == pytest.approx(expected.value, rel=1e-12)
    assert numbers(result)["overall_accuracy"] is None


def test_labels_and_predictions_stand_in_for_correct(tmp_path):
    table = columns()
    label = np.where(table["side"] == "base", "cat", "lynx")
    table = table | {"label": label, "prediction": np.where(table.pop("correct"), label, "dog")}
    read = read_predictions(write(tmp_path / "mine.csv", table))
    assert read["correct"].mean() == pytest.approx((table["label"] == table["prediction"]).mean())
    (unit,) = units(tmp_path / "mine.csv")
    assert set(unit.run().metrics["classnames"]) == {"cat", "dog", "lynx"}


@pytest.mark.parametrize("sign, asked", [(1, False), (-1, True)])
def test_scores_the_wrong_way_round_are_asked_about(sign, asked):
    table = columns(count=200)
    table["score"] = sign * (table["score"] + np.where(table["side"] == "base", 1.0, 0.0))
    words = "below chance (AUROC 50): are the scores the right way round?"
    assert (words in " ".join(openworld.score(table).verdict)) == asked


def test_a_unit_per_model_and_seed(tmp_path):
    parts = [columns(model=name) | {"seed": np.full(40, seed)} for name in ("a", "b") for seed in (1, 2)]
    table = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    planned = units(write(tmp_path / "mine.npz", table))
    assert [unit.name for unit in planned] == ["a, seed 1", "a, seed 2", "b, seed 1", "b, seed 2"]
    assert all(len(unit.run().outputs["images"]["id"]) == 40 for unit in planned)


def two_models(**changes):
    return {name: np.tile(values, 2) for name, values in columns().items()} | {"model": np.repeat([1, 2], 40)} | changes


def tables(path):
    return [unit.run().outputs["images"] for unit in units(path)]


def test_models_pair_by_id_whatever_their_order(tmp_path):
    table = two_models(id=np.tile(np.arange(40), 2))
    shuffled = np.r_[np.arange(40), 40 + np.random.default_rng(1).permutation(40)]
    one, two = tables(write(tmp_path / "mine.csv", {name: values[shuffled] for name, values in table.items()}))
    for name in ("id", "side", "score", "correct"):
        np.testing.assert_array_equal(one[name], two[name])


def test_without_ids_rows_pair_in_order_while_their_sides_agree(tmp_path):
    one, two = tables(write(tmp_path / "same.csv", two_models()))
    assert one["id"].tolist() == two["id"].tolist()
    side = columns()["side"]
    one, two = tables(write(tmp_path / "other.csv", two_models(side=np.r_[side, side[::-1]])))
    assert not set(one["id"]) & set(two["id"])


def test_models_groups_ids_and_classes_may_be_numbers_or_text(tmp_path):
    table = two_models(group=np.tile([f"drawing {i // 4}" for i in range(40)], 2), id=np.tile(np.arange(100, 140), 2))
    table |= {"label": np.full(80, 1), "prediction": np.where(table["correct"], "1", "other")}
    read = read_predictions(write(tmp_path / "mine.csv", table))
    assert set(read["model"]) == {"1", "2"} and len(set(read["group"])) == 10 and read["id"][0] == 100
    np.testing.assert_array_equal(read["correct"], table["correct"])


def test_base_classes_come_first_among_the_names_and_records_keep_them(tmp_path):
    table = columns() | {"label": np.where(columns()["side"] == "base", "zebra", "ant")}
    (unit,) = units(write(tmp_path / "mine.csv", table))
    result = unit.run()
    assert list(result.metrics["classnames"]) == ["zebra", "ant"]
    images = result.outputs["images"]
    np.testing.assert_array_equal(images["prediction"] == images["label"], images["correct"])
    table["prediction"] = np.where(table.pop("correct"), table["label"], "gnu")
    (unit,) = units(write(tmp_path / "other.csv", table))
    images = unit.run().outputs["images"]
    assert images["label_name"].tolist() == table["label"].tolist() and "path" not in images
    assert images["prediction_name"].tolist() == table["prediction"].tolist()


def test_validation_rows_are_kept_apart_and_enter_no_number(tmp_path):
    table = columns(80) | {"part": np.repeat(["val", "test"], 40)}
    (unit,) = units(write(tmp_path / "both.csv", table))
    tested = {name: column[40:] for name, column in table.items() if name != "part"}
    (alone,) = units(write(tmp_path / "tested.csv", tested))
    both, alone = unit.run(), alone.run()
    assert numbers(both) == numbers(alone)
    np.testing.assert_array_equal(both.outputs["images"]["score"], alone.outputs["images"]["score"])
    np.testing.assert_array_equal(both.outputs["validation"]["score"], table["score"][:40])
    assert "validation" not in alone.outputs and "part" not in both.outputs["images"]


@pytest.mark.parametrize("side", ["base", "new"])
def test_one_side_alone_has_no_openworld_auc_and_says_why(tmp_path, side):
    (unit,) = units(write(tmp_path / "mine.csv", columns() | {"side": np.full(40, side)}))
    result = numbers(unit.run())
    assert result["openworld_auc"] is None and (result["base_accuracy"] is None) == (side == "new")


def broken(**changes):
    return columns() | changes


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (broken(side=np.full(40, "old")), "column side .*'old'.* Known: base, new"),
        (broken(part=np.full(40, "train")), "column part of .* 'train'.* Known: test, validation, val"),
        (broken(part=np.full(40, "val")), "'model', seed 0, has validation images alone"),
        (broken(correct=np.full(40, 2)), "True/False or 0/1"),
        ({"side": columns()["side"], "correct": columns()["correct"]}, "lacks score"),
        ({"side": columns()["side"], "score": columns()["score"]}, "correct .or label and prediction"),
        (broken(score=np.zeros((40, 2))), "score .* holds several numbers per image, of shape .40, 2."),
        (broken(confidence=np.full(40, 80.0)), "column confidence of .* holds 80, outside"),
        (broken(id=np.zeros(40, int)), "id repeats within one model"),
        (broken(joint_prediction=np.zeros(40, int)), "lacks label .which joint_prediction"),
        (broken(label=np.zeros(40, int), prediction=np.zeros(40, int)), "correct contradicts label and prediction"),
        (two_models(id=np.tile(np.arange(40), 2), label=np.arange(80) % 3), "stands for images of different sides"),
    ],
)
def test_bad_tables_are_refused(tmp_path, table, sentence):
    with pytest.raises(OpenworldError, match=sentence):
        read_predictions(write(tmp_path / "mine.npz", table))


def test_names_may_follow_numbers_in_a_long_csv_and_lists_stand_beside_the_columns(tmp_path, monkeypatch):
    monkeypatch.setattr(score_files, "NUMBERS", 16)  # of a block, whose first rows are whole numbers here
    table = columns() | {"group": [*range(39), "drawing"]}
    assert len(set(read_predictions(write(tmp_path / "mine.csv", table))["group"])) == 40
    path = write(tmp_path / "mine.parquet", columns() | {"logits": [[0.5, 1.0]] * 40})
    assert read_predictions(path)["logits"].shape == (40, 2)


def test_a_file_of_several_models_is_read_once_for_all(tmp_path, monkeypatch):
    order = np.random.default_rng(1).permutation(160)
    parts = [columns(model=f"m{number}") for number in range(4)]
    table = {name: np.concatenate([part[name] for part in parts])[order] for name in parts[0]}
    path = write(tmp_path / "mine.csv", table | {"id": np.tile(np.arange(40), 4)[order]})
    read = []
    monkeypatch.setattr(score, "read_predictions", lambda *args: read.append(args) or read_predictions(*args))
    score.score_file(path, tmp_path / "run", ["a test"])
    assert len(read) == 2  # once to plan, once for the units
    alone = units(write(tmp_path / "one.csv", parts[0]))[0].run()
    for record in RunStore(tmp_path / "run").records():
        assert numbers(record) == numbers(alone)


def test_a_file_that_changes_after_planning_is_noticed(tmp_path):
    path = write(tmp_path / "mine.csv", columns())
    (unit,) = units(path)
    path.write_text(path.read_text() + "base,1.0,True\n")
    with pytest.raises(OpenworldError, match="changed since"):
        unit.run()
