"""`openworld run` on open-world quality by shift: tables, page, other forms; the same bytes after kills."""

import json
import time

import numpy as np
import pytest
from disturbed import finish, killed_and_finished, results, start
from in_process import told
from PIL import Image

SPEC = """
protocol = "recognition-by-shift"
sources = [{ dataset = "squares" }]
pool = [{ dataset = "squares" }, { dataset = "stripes" }]
base_part = "test"
shots = 2
views = 1
seeds = [1]
k = 1
levels = 3
least = 2
estimators = [{ estimator = "AC" }, { estimator = "FRAP" }]
decomposition = { settings = { steps = 10 } }
[[learners]]
learner = "zero-shot"
[[learners]]
learner = "CoOp"
settings = { context_length = 2, schedule = { epochs = 2 } }
"""
COLOURS = {"red": (220, 30, 30), "green": (30, 160, 60), "blue": (30, 60, 220), "yellow": (240, 220, 40)}


def draw(root, step):
    dice = np.random.default_rng(step)
    for name, colour in COLOURS.items():
        for part in ("train", "validation", "test"):
            folder = root / part / f"{name} square"
            folder.mkdir(parents=True)
            for number in range(4):
                picture = np.full((32, 32, 3), 255, np.uint8)
                top, left = dice.integers(2, 8, 2)
                picture[top : top + 20 : step, left : left + 20] = colour
                Image.fromarray(picture).save(folder / f"{number}.png")


def prepare(folder):
    folder.mkdir()
    draw(folder / "squares", 1)
    draw(folder / "stripes", 4)
    (folder / "spec.toml").write_text(SPEC)
    return folder


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    folder = prepare(tmp_path_factory.mktemp("open-world") / "whole")
    return folder, told(folder, "run", "spec.toml", "--workers", "1")


@pytest.fixture(scope="module")
def seconds(tmp_path_factory):
    """That a process of its own takes for all of it."""
    folder, started = prepare(tmp_path_factory.mktemp("timed-open-world") / "whole"), time.monotonic()
    finish(start(folder, "run", "spec.toml", "--workers", "1"))
    return time.monotonic() - started


def test_tables_by_level_and_a_page(ran):
    folder, printed = ran
    assert "2 learner(s)" in printed and "against 2 image set(s)" in printed
    assert "Training appearance, semantic, OpenworldAUC by level" in printed
    assert "Without labels: " in printed and "mean absolute error" in printed and "Report: " in printed
    page = (folder / "runs" / "spec" / "report.html").read_text(encoding="utf-8")
    assert "How far off until it fails?" in page and "Class names" in page


def test_started_again_it_computes_nothing_and_tells_json(ran):
    folder, _ = ran
    before = results(folder)
    printed = json.loads(told(folder, "run", "spec.toml", "--json", "--workers", "1"))
    assert {"zero-shot", "CoOp", "AC", "FRAP"} <= {row["entity"] for row in printed["results"]}
    assert results(folder) == before


@pytest.mark.parametrize(("form", "said"), [("csv", "covariate_level,semantic_level"), ("text", "OpenworldAUC by")])
def test_other_forms(ran, form, said):
    assert said in told(ran[0], "report", "runs/spec", "--table", form)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_killed_at_random_points(ran, seconds, tmp_path, workers):
    folder, options = prepare(tmp_path / "killed"), ("run", "spec.toml", "--workers", str(workers), "--quiet")
    killed_and_finished(folder, options, seconds, seed=workers, times=4)
    assert results(folder) == results(ran[0])
    assert not list((folder / "runs" / "spec").glob(".writing/*"))


@pytest.mark.slow
def test_on_ray_the_same_bytes(ran, tmp_path):
    pytest.importorskip("ray")
    folder = prepare(tmp_path / "ray")
    finish(start(folder, "run", "spec.toml", "--workers", "2", "--engine", "ray", "--quiet"))
    assert results(folder) == results(ran[0])
