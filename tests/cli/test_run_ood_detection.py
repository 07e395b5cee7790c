"""`openworld run` on ood-detection: stages, starting again, the cache; the same bytes after kills and on Ray."""

import json
import time

import pytest
from disturbed import draw_squares, finish, killed_and_finished, results, start
from in_process import openworld, told

SPEC = """
protocol = "ood-detection"
sources = [{ dataset = "./squares" }]
shots = 4
id_part = "validation"
pool = [
  { dataset = "./squares" },
  { dataset = "./darker" },
  { dataset = "./squares", corruption = "fog", severity = 4 },
]
decomposition = { settings = { steps = 20 } }
k = 2
levels = 3
least = 3
seeds = [0, 1]
[[models]]
architecture = "convnet"
recipe = { epochs = 2, side = 28, batch_size = 8 }
detectors = [{ detector = "MSP" }, { detector = "KNN", settings = { k = 2 } }]
[[models]]
backbone = "embedded"
detectors = [{ detector = "MCM" }, { detector = "Energy" }]
"""
COLOURS = {"blue": (30, 60, 220), "green": (30, 160, 60), "red": (220, 30, 30), "yellow": (230, 220, 40)}


def prepare(folder):
    draw_squares(folder, COLOURS)
    (folder / "spec.toml").write_text(SPEC)
    return folder


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    folder = prepare(tmp_path_factory.mktemp("shift"))
    return folder, told(folder, "run", "spec.toml", "--workers", "1")


@pytest.fixture(scope="module")
def seconds(tmp_path_factory):
    """That a process of its own takes for all of it."""
    folder, started = prepare(tmp_path_factory.mktemp("timed-shift")), time.monotonic()
    finish(start(folder, "run", "spec.toml", "--workers", "1"))
    return time.monotonic() - started


def test_stages_and_tables_are_told(ran):
    folder, printed = ran
    assert "./squares, base classes, against 3 image set(s) · 2 model(s) · 4 detector(s) · seeds 0 1" in printed
    # 2 base classes of 4 training and 4 test pictures, 16 of each entry of the pool; 4 names in CLIP's 80 sentences.
    assert "trained 4 epochs in" in printed and "ran models on 64 images in" in printed
    assert "read 320 sentences in" in printed and "measured 56 images in" in printed
    assert "MSP" in printed and "Energy" in printed
    assert (folder / "runs" / "spec" / "report.html").exists()
    assert json.loads((folder / "runs" / "spec" / "audit.json").read_text())


def test_started_again_it_computes_nothing_even_with_an_empty_cache(ran):
    folder, _ = ran
    before = results(folder)
    again = told(folder, "run", "spec.toml", "--cache", "empty", "--workers", "1")
    assert "trained" not in again and "measured" not in again and results(folder) == before
    assert not (folder / "empty").exists()


def test_the_cache_tells_what_is_kept(ran):
    folder, _ = ran
    sets = json.loads(told(folder, "cache", "--json"))
    assert not sets["foreign"]
    held = [one["holds"] for one in sets["sets"]]
    assert (held.count("1 checkpoint"), held.count("a decomposition"), held.count("shift degrees")) == (2, 1, 4)


def test_help_and_list_tell_of_it(ran):
    folder, _ = ran
    assert 'protocol = "ood-detection"' in told(folder, "run", "--help")
    assert "ood-detection" in told(folder, "list", "evaluations")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (("k = 2", "k = 9"), "distances to training image number 9, and there are 8"),
        (('detector = "MSP"', 'detector = "RankFeat"'), "RankFeat: maps are needed"),
        (('id_part = "validation"', 'id_part = "train"'), "test on images that nothing learned from"),
        (('{ dataset = "./darker" }', '{ dataset = "squares" }'), "twice; an image has one cell"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is_done(ran, tmp_path, changed, said):
    folder, _ = ran
    (folder / "bad.toml").write_text(SPEC.replace(*changed))
    done = openworld("run", "bad.toml", "--out", tmp_path / "bad", cwd=folder)
    assert done.returncode == 2 and said in " ".join(done.stderr.split()) and not (tmp_path / "bad").exists()


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
