"""A finished run takes further learners and seeds, and computes nothing else."""

import tomllib
from pathlib import Path

import pytest
from small_specs import SMALL, draw

import openworld as ow
from openworld.runs import RunStore

ZERO_SHOT, KGCOOP = {"learner": "zero-shot"}, {"learner": "KgCoOp", "settings": {"schedule": {"epochs": 1}}}


@pytest.fixture
def place(tmp_path, monkeypatch):
    draw(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def spec(learners, seeds):
    few = {"shots": 2, "views": 1, "resamples": 1, "ratios": []}
    return few | {"dataset": "squares", "learners": learners, "seeds": seeds}


def run(folder, learners, seeds):
    return ow.run(spec(learners, seeds), folder, quiet=True, workers=1)


def written(folder):
    return {path.parent.name: path.stat().st_mtime_ns for path in folder.glob("units/*/record.json")}


def test_only_what_is_new_is_computed_and_the_end_is_that_of_the_longer_spec(place):
    run("grown", [ZERO_SHOT], [1])
    before = written(place / "grown")
    grown = run("grown", [KGCOOP, ZERO_SHOT], [1, 2])
    after = written(place / "grown")
    assert len(before) == 1 and len(after) == 4 and before.items() <= after.items()
    whole = run("whole", [KGCOOP, ZERO_SHOT], [1, 2])
    first, second = ([record.files for record in done.run_folder.records] for done in (grown, whole))
    assert first == second
    assert (place / "grown" / "plan.json").read_bytes() == (place / "whole" / "plan.json").read_bytes()
    assert grown.spec == whole.spec and grown.verdict == whole.verdict
    (former,) = RunStore("grown").description()["history"]
    assert [entry["label"] for entry in former["resolved"]["learners"]] == ["zero-shot"]


def test_another_estimator_needs_no_model_trained_again(place):
    given = tomllib.loads(SMALL["accuracy-estimation"]) | {"seeds": [0], "estimators": [{"estimator": "AC"}]}
    ow.run(given, "run", cache="cache", quiet=True, workers=1)
    classifiers = {path: path.stat().st_mtime_ns for path in Path("cache").rglob("*.safetensors")}
    grown = ow.run(
        given | {"estimators": [{"estimator": "AC"}, {"estimator": "DoC"}]}, "run", cache="cache", quiet=True
    )
    assert {"AC", "DoC"} <= set(grown.results.entities)
    assert classifiers and classifiers.items() <= {path: path.stat().st_mtime_ns for path in classifiers}.items()
