"""A real run killed with SIGKILL at random moments and started again ends with the bytes of an undisturbed one.

And every command that writes, stopped at every fifth change of a file (`crash_points.py` does all of them), leaves no
half and no scratch file once it is called again.
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from disturbed import finish, killed_and_finished, results, start
from every_output import COMMANDS

QUICK = ("check", "new", "watch")
posix_only = pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL and fork")

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


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_killed_at_random_points(undisturbed, tmp_path, workers):
    expected, seconds = undisturbed
    folder = prepare(tmp_path / "killed")
    killed_and_finished(folder, options(workers), seconds, seed=workers)
    assert results(folder, "run") == expected
    assert not list((folder / "run").glob(".writing/*"))


@pytest.mark.slow
def test_on_ray_pictures_and_units_give_the_same_bytes(undisturbed, tmp_path):
    pytest.importorskip("ray")
    folder = prepare(tmp_path / "ray")
    finish(start(folder, *options(2, "ray")))
    assert results(folder, "run") == undisturbed[0]
    assert not (folder / "run" / ".encoding").exists()


@pytest.mark.slow
def test_two_processes_in_one_folder(undisturbed, tmp_path):
    expected, _ = undisturbed
    folder = prepare(tmp_path / "shared")
    for process in [start(folder, *options(1)) for _ in range(2)]:
        finish(process)
    assert results(folder, "run") == expected


@pytest.mark.slow
@posix_only
def test_terminated_as_a_job_is_nothing_half_written_stays(undisturbed, tmp_path):
    folder = prepare(tmp_path / "terminated")
    process = start(folder, *options(2))
    while not list((folder / "run" / "units").glob("*")) and process.poll() is None:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGTERM)
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 143 and "stopped; what is done is kept" in errors and "Traceback" not in errors
    assert not [path for path in folder.rglob("*") if path.name.endswith(".writing") and not path.is_dir()]
    assert not list((folder / "run").glob(".writing/*"))
    finish(start(folder, *options(1)))
    assert results(folder, "run") == undisturbed[0]


@posix_only
@pytest.mark.parametrize(
    "name", [*QUICK, *(pytest.param(n, marks=pytest.mark.slow) for n in COMMANDS if n not in QUICK)]
)
def test_stopped_at_a_change_of_a_file_and_called_again(inputs_of_all, tmp_path, name):
    every = 5 if name not in ("run", "score") else 20
    command = [sys.executable, Path(__file__).with_name("crash_points.py"), "--place", tmp_path, "--every", every, name]
    (tmp_path / "world").symlink_to(inputs_of_all)
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(rf"^{re.escape(name)} \| [1-9]", done.stdout, re.MULTILINE)
