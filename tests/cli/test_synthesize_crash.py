"""`openworld synthesize` killed with SIGKILL at random moments and started again ends with the bytes of a whole one."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.slow

COMMAND = (
    *("-m", "openworld", "synthesize", "--painter", "rendered", "--quiet", "--out", "set", "--levels", "4"),
    *("--each", "300", "--reference", "emoji-concepts/noto/train", "--pictures", "emoji-concepts/noto/test"),
)


def start(folder):
    folder.mkdir(exist_ok=True)
    environment = os.environ | {"OPENWORLD_CACHE": str(folder / "cache")}
    return subprocess.Popen([sys.executable, *COMMAND], cwd=folder, env=environment, start_new_session=True)


def painted(folder):
    journal = folder / "set" / "journal.jsonl"
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def made(folder):
    """Everything but the journal, whose lines stand in the order of the painting."""
    files = (path for path in (folder / "set").rglob("*") if path.is_file() and path.name != "journal.jsonl")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def kill_after(process, seconds):
    time.sleep(seconds)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_killed_at_random_moments(tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    started = time.monotonic()
    assert start(whole).wait() == 0
    seconds, dice = time.monotonic() - started, random.Random(7)
    for _ in range(4):
        kill_after(start(killed), dice.uniform(0.1, 0.7) * seconds)
    for _ in range(3):  # and among the pictures for certain, whenever these come
        process, before = start(killed), painted(killed)
        while process.poll() is None and painted(killed) <= before:
            time.sleep(0.01)
        kill_after(process, dice.uniform(0, 0.3))
    assert start(killed).wait() == 0
    assert made(killed) == made(whole)
