"""`openworld compare`: table, verdicts, JSON, and a sentence where two runs cannot be compared."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from openworld.cli.app import app

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


def test_a_row_with_a_verdict(runs):
    done = openworld("compare", runs / "old", runs / "new")
    assert done.exit_code == 0, done.output
    assert "task: old.npz → new.npz" in done.output
    assert "better, p < .001" in done.output.replace("\xa0", " ")
    assert "n = 200" in done.output


def test_json(runs):
    told = json.loads(openworld("compare", runs / "new", runs / "old", "--of", "auroc", "--json").output)
    (pair,) = told["pairs"]
    assert told["of"] == "auroc" and pair["second"] < pair["first"] and pair["verdict"].startswith("worse")


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
