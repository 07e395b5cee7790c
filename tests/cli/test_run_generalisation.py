"""`openworld run` on generalisation: tables, page, starting again; `openworld report`, `predict`, `compare` of it."""

import json

import numpy as np
import pytest
from in_process import openworld
from PIL import Image

from openworld.results import Results

SPEC = """
protocol = "generalisation"
source = { dataset = "./squares" }
variants = [{ dataset = "./darker" }]
others = [{ dataset = "./stripes" }]
seeds = [1, 2]
shots = 2
views = 1
[[learners]]
learner = "zero-shot"
[[learners]]
learner = "CoOp"
settings = { context_length = 2, schedule = { epochs = 1 } }
"""
COLOURS = {"red": (220, 30, 30), "green": (30, 160, 60), "blue": (30, 60, 220), "yellow": (240, 220, 40)}


def draw(root, shade, step):
    for name, colour in COLOURS.items():
        for part in ("train", "test"):
            folder = root / part / f"{name} {'stripes' if root.name == 'stripes' and name != 'blue' else 'square'}"
            folder.mkdir(parents=True)
            for number in range(3):
                picture = np.full((32, 32, 3), 255, np.uint8)
                picture[4 + number : 28 : step, 4:28] = np.array(colour) * shade
                Image.fromarray(picture).save(folder / f"{number}.png")


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    folder = tmp_path_factory.mktemp("generalisation")
    for name, shade, step in (("squares", 1.0, 1), ("darker", 0.5, 1), ("stripes", 1.0, 4)):
        draw(folder / name, shade, step)
    (folder / "spec.toml").write_text(SPEC)
    return folder, openworld("run", "spec.toml", "--workers", "1", cwd=folder, cache=folder / "cache")


def test_a_table_per_kind_of_target_and_a_page(ran):
    folder, done = ran
    assert done.returncode == 0, done.stderr
    assert "squares → 1 variant and 1 other data set" in done.stdout
    assert "mean over 1 variant" in " ".join(done.stdout.lower().split())
    assert "Left out as base classes of the source (by name)" in done.stdout and "blue square" in done.stdout
    page = (folder / "runs" / "spec" / "report.html").read_text(encoding="utf-8")
    assert "1 variant and 1 other data set" in page


def test_started_again_it_computes_nothing(ran):
    folder, _ = ran
    before = {path: path.stat().st_mtime_ns for path in (folder / "runs" / "spec" / "units").glob("*/record.json")}
    again = openworld("run", "spec.toml", "--json", "--workers", "1", cwd=folder, cache=folder / "cache")
    assert again.returncode == 0, again.stderr
    assert Results.from_json(again.stdout).places("target") == ("./squares", "→ ./darker", "→ ./stripes")
    assert {path: path.stat().st_mtime_ns for path in before} == before and len(before) == 4


def test_every_target_is_told_by_itself(ran):
    folder, _ = ran
    told = openworld("report", "runs/spec", "--table", "text", cwd=folder, cache=folder / "cache")
    assert told.returncode == 0 and told.stdout.count("zero-shot") >= 3
    assert "→ ./stripes" in told.stdout


def test_a_kept_learner_predicts(ran):
    folder, _ = ran
    asked = ("--unit", "CoOp, seed 1", "--run-names", "--json")
    done = openworld("predict", "runs/spec", "squares/test/red square", *asked, cwd=folder, cache=folder / "cache")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["base_names"] == ["blue square", "green square"]
    assert said["new_names"] == ["red square", "yellow square"] and len(said["pictures"]) == 3


def test_a_run_is_compared_with_itself_target_by_target(ran):
    folder, _ = ran
    done = openworld("compare", "runs/spec", "runs/spec", cwd=folder, cache=folder / "cache")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("CoOp") >= 3
