"""`openworld compare`: table, verdicts, JSON, and a sentence where two runs cannot be compared."""

import json

import numpy as np
import pytest

from openworld.cli.app import app
from openworld.cli.in_process import CliRunner
from openworld.runs import record
from openworld.tables.parquet import decode_table

NOISE = {"old": 2.0, "new": 0.2}


def openworld(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two runs of one model each on the same images, and one on other images, made by `openworld score`."""
    folder, generator = tmp_path_factory.mktemp("runs"), np.random.default_rng(0)
    for name, count in (("old", 200), ("new", 200), ("other", 100)):
        side = np.repeat(["base", "new"], count // 2)
        score = (side == "base") + NOISE.get(name, 1.0) * generator.standard_normal(count)
        np.savez(folder / f"{name}.npz", side=side, score=score, correct=np.ones(count, bool), id=np.arange(count))
        assert openworld("score", folder / f"{name}.npz", "--out", folder / name).exit_code == 0
    return folder


def test_records_are_read_once_however_much_is_told(runs, tmp_path, monkeypatch):
    read = []
    monkeypatch.setattr(record, "decode_table", lambda data, **how: read.append(data) or decode_table(data, **how))
    assert openworld("score", runs / "old.npz", "--out", tmp_path / "again").exit_code == 0
    assert read and len(read) == len(set(read))


def test_a_row_with_a_verdict(runs):
    done = openworld("compare", runs / "old", runs / "new")
    assert done.exit_code == 0, done.output
    assert "task: old.npz → new.npz" in done.output
    assert "better, p < .001" in done.output.replace("\xa0", " ")
    assert "n = 200" in done.output


def test_json(runs):
    told = json.loads(openworld("compare", runs / "new", runs / "old", "--of", "auroc", "--json").output)
    (test,) = told["comparisons"]
    assert told["of"] == "auroc" and test["difference"] < 0 and ": AUROC worse" in told["verdict"][0]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("old", "other"), "was not scored on the same images (200 images in"),
        (("old", "nowhere"), "holds no run"),
        (("old", "new", "--of", "aurocs"), "did you mean 'auroc'"),
    ],
)
def test_wrong_use_is_a_sentence(runs, arguments, sentence):
    done = openworld("compare", runs / arguments[0], runs / arguments[1], *arguments[2:])
    assert done.exit_code == 2 and sentence in done.output


@pytest.mark.parametrize(("form", "begins"), [("csv", "evaluation,entity"), ("json", "{"), ("text", "OpenworldAUC of")])
def test_a_table_is_written_where_output_says(runs, tmp_path, form, begins):
    done = openworld("report", runs / "old", "--table", form, "--out", tmp_path / "table")
    assert done.exit_code == 0 and str(tmp_path / "table") in done.output
    printed = openworld("report", runs / "old", "--table", form).output
    assert (tmp_path / "table").read_text(encoding="utf-8") == printed
    assert printed.startswith(begins)


def test_models_on_partly_different_images_are_compared_on_those_that_they_share(tmp_path):
    generator = np.random.default_rng(0)
    columns = {name: [] for name in ("side", "score", "correct", "id", "model")}
    for model, ids in (("one", range(200)), ("other", [*range(50, 200), *range(300, 310)])):
        for image in ids:
            new = image % 2
            noise = (0.2 if model == "one" else 2.0) * generator.standard_normal()
            for name, value in zip(columns, ("new" if new else "base", noise - new, True, image, model), strict=True):
                columns[name].append(value)
    np.savez(tmp_path / "both.npz", **{name: np.array(values) for name, values in columns.items()})
    done = openworld("score", tmp_path / "both.npz")
    assert done.exit_code == 0 and "on 150 shared images" in done.output.replace("\n", " "), done.output


def test_json_holds_the_intervals_the_seeds_and_the_basis_of_the_table(runs):
    compared = json.loads(openworld("compare", runs / "new", runs / "old", "--json").output)
    for row, side in zip(compared["results"], ("first", "second"), strict=True):
        assert row["run"] == side and row["low_images"] < row["value"] < row["high_images"] and row["n_images"] == 200
    (test,) = compared["comparisons"]
    assert row["seeds"] and "n = 200" in compared["basis"] and "equivalence_p" in test
