"""A real run killed with SIGKILL at random moments and started again ends with the bytes of an undisturbed one."""

import time

import pytest
from disturbed import finish, killed_and_finished, results, start

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


def options(workers, engine="local"):
    return ("run", "spec.toml", "--out", "run", "--workers", str(workers), "--quiet", "--engine", engine)


def prepare(folder):
    folder.mkdir()
    (folder / "spec.toml").write_text(SPEC)
    return folder


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = prepare(tmp_path_factory.mktemp("crash") / "whole")
    started = time.monotonic()
    finish(start(folder, *options(1)))
    return results(folder, "run"), time.monotonic() - started


@pytest.mark.parametrize("workers", [1, 2])
def test_killed_at_random_points(undisturbed, tmp_path, workers):
    expected, seconds = undisturbed
    folder = prepare(tmp_path / "killed")
    killed_and_finished(folder, options(workers), seconds, seed=workers)
    assert results(folder, "run") == expected
    assert not list((folder / "run").glob(".writing/*"))


def test_on_ray_pictures_and_units_give_the_same_bytes(undisturbed, tmp_path):
    pytest.importorskip("ray")
    folder = prepare(tmp_path / "ray")
    finish(start(folder, *options(2, "ray")))
    assert results(folder, "run") == undisturbed[0]
    assert not (folder / "run" / ".encoding").exists()


def test_two_processes_in_one_folder(undisturbed, tmp_path):
    expected, _ = undisturbed
    folder = prepare(tmp_path / "shared")
    for process in [start(folder, *options(1)) for _ in range(2)]:
        finish(process)
    assert results(folder, "run") == expected
