"""A real run killed with SIGKILL at random moments and started again ends with the bytes of an undisturbed one."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.slow

SPEC = """
dataset = "emoji-groups"
seeds = [1, 2]
shots = 2
views = 1
[[learners]]
learner = "zero-shot"
[[learners]]
learner = "CoOp"
settings = { context_length = 2, schedule = { epochs = 4 } }
[[learners]]
learner = "GMoP"
settings = { detectors = 2, detector_context = 4, schedule = { epochs = 4 } }
"""


def start(folder, workers, engine="local"):
    command = ["-m", "openworld", "run", "spec.toml", "--out", "run", "--workers", str(workers), "--quiet"]
    command += ["--engine", engine]
    environment = os.environ | {"OPENWORLD_CACHE": str(folder / "cache")}
    return subprocess.Popen([sys.executable, *command], cwd=folder, env=environment, start_new_session=True)


def results(folder):
    """Every file that must not depend on how the run went."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted((folder / "run" / "units").rglob("*"))
        if path.is_file() and path.name != "timing.json" and ".locks" not in path.parts
    }


def prepare(folder):
    folder.mkdir()
    (folder / "spec.toml").write_text(SPEC)
    return folder


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = prepare(tmp_path_factory.mktemp("crash") / "whole")
    started = time.monotonic()
    assert start(folder, workers=1).wait() == 0
    return results(folder), time.monotonic() - started


@pytest.mark.parametrize("workers", [1, 2])
def test_killed_at_random_points(undisturbed, tmp_path, workers):
    expected, seconds = undisturbed
    folder, dice = prepare(tmp_path / "killed"), random.Random(workers)
    for _ in range(5):
        process = start(folder, workers)
        time.sleep(dice.uniform(0.1, 0.9) * seconds)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert start(folder, workers).wait() == 0
    assert results(folder) == expected
    assert not list((folder / "run" / "units").glob(".writing/*"))


def test_on_ray_pictures_and_units_give_the_same_bytes(undisturbed, tmp_path):
    pytest.importorskip("ray")
    folder = prepare(tmp_path / "ray")
    assert start(folder, 2, "ray").wait() == 0
    assert results(folder) == undisturbed[0]
    assert not (folder / "run" / ".encoding").exists()


def test_two_processes_in_one_folder(undisturbed, tmp_path):
    expected, _ = undisturbed
    folder = prepare(tmp_path / "shared")
    both = [start(folder, workers=1) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert results(folder) == expected
