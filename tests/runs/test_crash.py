"""The crash story: whenever a run is killed, starting it again ends with the bytes of an uninterrupted run."""

import os
import random
import signal
import time

import pytest
from driven import PATIENCE, finish, kill_between_units, no_leftovers, start, stop_with_ctrl_c
from example_units import draws

from openworld.runs import RunStore, Unit

posix_only = pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL and fork")


@posix_only
@pytest.mark.parametrize(
    ("mode", "number"),
    [("die", 7), *(pytest.param(*each, marks=pytest.mark.slow) for each in (("die", 1), ("moments", 5)))],
)
def test_killed_before_any_step_of_the_writing_or_at_any_moment(tmp_path, contents, mode, number):
    finish(mode, tmp_path, number)
    expected = contents(tmp_path / "whole")
    died = list(tmp_path.glob("died-*"))
    assert len(died) >= (number if mode == "moments" else 60 // number) and len(expected) > 14
    for folder in died:
        assert contents(folder) == expected, folder.name
        assert no_leftovers(folder)


@posix_only
def test_killed_from_outside(tmp_path, whole, contents):
    kill_between_units(tmp_path, 2)
    assert 0 < len(RunStore(tmp_path).records(partial=True)) < 3
    finish("run", tmp_path, 1, 0)
    assert contents(tmp_path) == contents(whole) and no_leftovers(tmp_path)


@pytest.mark.slow
@posix_only
def test_workers_killed_from_outside_again_and_again(tmp_path, whole, contents):
    moments = random.Random(0)
    for workers in (2, 3):
        process = start("hang", tmp_path, workers, 0.1)
        process.stdout.readline()  # units are begun
        time.sleep(moments.uniform(0, 0.3))
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL
    finish("run", tmp_path, 2, 0)
    assert contents(tmp_path) == contents(whole) and no_leftovers(tmp_path)


@posix_only
def test_ctrl_c_from_a_terminal_leaves_a_clean_folder(tmp_path, whole, contents):
    stop_with_ctrl_c(tmp_path, "local")
    assert no_leftovers(tmp_path)
    finish("run", tmp_path, 1, 0)
    assert contents(tmp_path) == contents(whole)


def test_two_processes_in_one_folder_share_the_work(tmp_path, whole, contents):
    first, second = start("run", tmp_path, 1, 0.2), start("run", tmp_path, 1, 0.2)
    output = first.communicate(timeout=PATIENCE)[0] + second.communicate(timeout=PATIENCE)[0]
    assert first.returncode == second.returncode == 0
    for unit in ("draw-0", "draw-1", "draw-2"):
        assert output.count(f"{unit} finished") == 1
    assert contents(tmp_path) == contents(whole) and no_leftovers(tmp_path)


def test_the_finished_run_verifies(whole):
    store = RunStore(whole)
    assert [record.unit for record in store.records()] == draws(3)
    assert store.has(Unit("example_units:draw", {"seed": 2}))
