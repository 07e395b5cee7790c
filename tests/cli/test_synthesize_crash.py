"""`openworld synthesize` killed with SIGKILL at random moments and started again ends with the bytes of a whole one."""

import random
import time

import pytest
from disturbed import finish, kill_after, start

pytestmark = pytest.mark.slow

COMMAND = (
    *("synthesize", "--painter", "rendered", "--quiet", "--out", "set", "--levels", "4"),
    *("--each", "300", "--reference", "emoji-concepts/noto/train", "--images", "emoji-concepts/noto/test"),
)


def begin(folder):
    folder.mkdir(exist_ok=True)
    return start(folder, *COMMAND)


def painted(folder):
    journal = folder / "set" / "journal.jsonl"
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def made(folder):
    """Everything but the journal, whose lines stand in the order of the painting."""
    files = (path for path in (folder / "set").rglob("*") if path.is_file() and path.name != "journal.jsonl")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_killed_at_random_moments(tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    started = time.monotonic()
    finish(begin(whole))
    seconds, dice = time.monotonic() - started, random.Random(7)
    for _ in range(4):
        kill_after(begin(killed), dice.uniform(0.1, 0.7) * seconds)
    for _ in range(3):  # and among the pictures for certain, whenever these come
        process, before = begin(killed), painted(killed)
        while process.poll() is None and painted(killed) <= before:
            time.sleep(0.01)
        kill_after(process, dice.uniform(0, 0.3))
    finish(begin(killed))
    assert made(killed) == made(whole)
