"""`openworld run` on incremental shift: stages, starting again, the cache; the same bytes after kills and on Ray."""

import json
import time

import pytest
from disturbed import draw_squares, finish, killed_and_finished, results, start

SPEC = """
protocol = "incremental-shift"
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
    folder, started = prepare(tmp_path_factory.mktemp("shift")), time.monotonic()
    told = finish(start(folder, "run", "spec.toml", "--workers", "1"))
    return folder, told, time.monotonic() - started


def test_stages_and_tables_are_told(ran):
    folder, told, _ = ran
    assert "./squares, base classes, against 3 image set(s) · 2 model(s) · 4 detector(s) · seeds 0 1" in told
    # 2 base classes of 4 training and 4 test pictures, 16 of each entry of the pool; 4 names in CLIP's 80 sentences.
    assert "trained 4 epochs in" in told and "looked at 64 images in" in told
    assert "read 320 sentences in" in told and "measured 56 images in" in told
    assert "MSP" in told and "Energy" in told
    assert (folder / "runs" / "spec" / "report.html").exists()
    assert json.loads((folder / "runs" / "spec" / "audit.json").read_text())


def test_started_again_it_computes_nothing_even_with_an_empty_cache(ran):
    folder, _, _ = ran
    before = results(folder)
    again = finish(start(folder, "run", "spec.toml", "--cache", "empty"))
    assert "trained" not in again and "measured" not in again and results(folder) == before
    assert not (folder / "empty").exists()


def test_the_cache_tells_what_is_kept(ran):
    folder, _, _ = ran
    sets = json.loads(finish(start(folder, "cache", "--json")))
    assert not sets["foreign"]
    held = [one["holds"] for one in sets["sets"]]
    assert (held.count("1 checkpoint"), held.count("a decomposition"), held.count("shift degrees")) == (2, 1, 4)


def test_help_and_list_tell_of_it(ran):
    folder, _, _ = ran
    assert 'protocol = "incremental-shift"' in finish(start(folder, "run", "--help"))
    assert "ood-detection" in finish(start(folder, "list", "protocols"))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (("k = 2", "k = 9"), "distances to training picture number 9, and there are 8"),
        (('detector = "MSP"', 'detector = "RankFeat"'), "RankFeat: maps are needed"),
        (('id_part = "validation"', 'id_part = "train"'), "test on pictures that nothing learned from"),
        (('{ dataset = "./darker" }', '{ dataset = "squares" }'), "twice; a picture has one cell"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is_done(ran, tmp_path, changed, said):
    folder, _, _ = ran
    (folder / "bad.toml").write_text(SPEC.replace(*changed))
    process = start(folder, "run", "bad.toml", "--out", str(tmp_path / "bad"))
    _, err = process.communicate()
    assert process.returncode == 2 and said in " ".join(err.split()) and not (tmp_path / "bad").exists()


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_killed_at_random_points(ran, tmp_path, workers):
    whole, _, seconds = ran
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
