"""`openworld run`: what is refused; the same bytes after kills, on Ray, and from two processes at once."""

import os
import random
import signal
import time

import pytest
from disturbed import finish, kill_once, results, start
from in_process import refused, told
from small_specs import SMALL, draw

RUN = ("run", "spec.toml", "--quiet", "--workers")


def prepare(folder, name):
    folder.mkdir()
    draw(folder)
    (folder / "spec.toml").write_text(SMALL[name])
    return folder


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A function that gives the folder of an undisturbed run, made once."""
    made = {}

    def run(name):
        if name not in made:
            made[name] = prepare(tmp_path_factory.mktemp("whole") / "place", name)
            told(made[name], *RUN, "1")
        return made[name]

    return run


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("k = 2", "k = 9", "distances to training image number 9, and there are 6"),
        ('detector = "MSP"', 'detector = "RankFeat"', "RankFeat: maps are needed"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is_done(tmp_path, before, after, words):
    draw(tmp_path)
    (tmp_path / "bad.toml").write_text(SMALL["ood-detection"].replace(before, after))
    refused(words, "run", "bad.toml", "--out", "bad", cwd=tmp_path)
    assert not (tmp_path / "bad").exists()


@pytest.mark.slow
def test_killed_in_its_stages_and_between_units(ran, tmp_path):
    folder, dice = prepare(tmp_path / "killed", "ood-detection"), random.Random(1)
    for begun in ("cache/**/*.safetensors", "runs/spec/units/*/record.json"):
        process = start(folder, *RUN, "1")
        kill_once(process, lambda begun=begun: any(folder.glob(begun)), dice.uniform(0, 0.5))
    told(folder, *RUN, "1")
    assert results(folder) == results(ran("ood-detection"))
    assert {path.name for path in (folder / "runs" / "spec").glob(".*")} <= {".locks", ".writing"}
    assert not list((folder / "runs" / "spec").glob(".writing/*"))


@pytest.mark.slow
def test_on_ray_stages_and_units_give_the_same_bytes(ran, tmp_path):
    pytest.importorskip("ray")
    folder = prepare(tmp_path / "ray", "accuracy-estimation")
    finish(start(folder, *RUN, "2", "--engine", "ray"))
    assert (
        results(folder) == results(ran("accuracy-estimation")) and not (folder / "runs" / "spec" / ".encoding").exists()
    )


@pytest.mark.slow
def test_two_processes_in_one_folder(ran, tmp_path):
    folder = prepare(tmp_path / "shared", "ood-detection")
    for process in [start(folder, *RUN, "1") for _ in range(2)]:
        finish(process)
    assert results(folder) == results(ran("ood-detection"))


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs signals")
def test_terminated_as_a_job_is_nothing_half_written_stays(ran, tmp_path):
    folder = prepare(tmp_path / "terminated", "recognition")
    process = start(folder, *RUN, "2")
    while not list((folder / "runs" / "spec" / "units").glob("*")) and process.poll() is None:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGTERM)
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 143 and "stopped; what is done is kept" in errors and "Traceback" not in errors
    assert not [path for path in folder.rglob("*") if path.name.endswith(".writing") and not path.is_dir()]
    told(folder, *RUN, "1")
    assert results(folder) == results(ran("recognition"))
