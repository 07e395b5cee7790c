"""`openworld run` on accuracy estimation: stages, starting again, the cache; the same bytes after kills and on Ray."""

import json
import time

import pytest
from disturbed import draw_squares, finish, killed_and_finished, results, start
from in_process import told

SPEC = """
protocol = "accuracy-estimation"
sources = [{ dataset = "./squares" }]
shots = 4
targets = [{ dataset = "./darker", row = "darker" }]
corruptions = ["fog"]
severities = [2, 5]
images = 12
seeds = [0, 1]
references = [{ name = "CLIP", backbone = "embedded" }]
estimators = [{ estimator = "AC" }, { estimator = "GDE" }, { estimator = "FRAP" }, { estimator = "COTT" }]
[[models]]
architecture = "convnet"
checkpoints = [1, 2]
recipe = { epochs = 2, side = 28, batch_size = 8 }
"""
COLOURS = {"red": (220, 30, 30), "green": (30, 160, 60), "blue": (30, 60, 220)}


def prepare(folder):
    draw_squares(folder, COLOURS)
    (folder / "spec.toml").write_text(SPEC)
    return folder


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    folder = prepare(tmp_path_factory.mktemp("estimation"))
    return folder, told(folder, "run", "spec.toml", "--workers", "1")


@pytest.fixture(scope="module")
def seconds(tmp_path_factory):
    """That a process of its own takes for all of it."""
    folder, started = prepare(tmp_path_factory.mktemp("timed-estimation")), time.monotonic()
    finish(start(folder, "run", "spec.toml", "--workers", "1"))
    return time.monotonic() - started


def test_stages_and_a_table_are_told(ran):
    folder, printed = ran
    assert "./squares → 1 natural and 2 synthetic conditions · 1 model, 2 checkpoints of each seed" in printed
    assert "trained 4 epochs in" in printed and "ran models on 48 images in" in printed
    assert "mean absolute error" in printed and "darker" in printed
    assert (folder / "runs" / "spec" / "report.html").exists()
    assert json.loads((folder / "runs" / "spec" / "audit.json").read_text())


def test_started_again_it_computes_nothing_even_with_an_empty_cache(ran):
    folder, _ = ran
    before = results(folder)
    again = told(folder, "run", "spec.toml", "--cache", "empty", "--workers", "1")
    assert "trained" not in again.partition("Mean")[0] and results(folder) == before
    assert not (folder / "empty").exists()


def test_the_cache_tells_what_is_kept(ran):
    folder, _ = ran
    sets = json.loads(told(folder, "cache", "--json"))
    assert not sets["foreign"]
    held = [one["holds"] for one in sets["sets"]]
    assert held.count("2 checkpoints") == 2 and held.count("answers of 4 classifiers") == 4 and held.count("") == 4


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_killed_at_random_points(ran, seconds, tmp_path, workers):
    whole, _ = ran
    folder, options = prepare(tmp_path / "killed"), ("run", "spec.toml", "--workers", str(workers), "--quiet")
    killed_and_finished(folder, options, seconds, seed=workers)
    assert results(folder) == results(whole)
    assert {path.name for path in (folder / "runs" / "spec").glob(".*")} <= {".locks", ".writing"}


@pytest.mark.slow
def test_on_ray_stages_and_units_give_the_same_bytes(ran, tmp_path):
    pytest.importorskip("ray")
    folder = prepare(tmp_path / "ray")
    finish(start(folder, "run", "spec.toml", "--engine", "ray", "--workers", "2", "--quiet"))
    assert results(folder) == results(ran[0])
    assert {path.name for path in (folder / "runs" / "spec").glob(".*")} <= {".locks", ".writing"}


@pytest.mark.slow
def test_two_processes_in_one_folder(ran, tmp_path):
    folder = prepare(tmp_path / "shared")
    for process in [start(folder, "run", "spec.toml", "--workers", "1", "--quiet") for _ in range(2)]:
        finish(process)
    assert results(folder) == results(ran[0])
