"""Temporary folders of a process that was killed go when the next one is made; those of a living one stay."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from openworld.runs import scratch
from openworld.runs.scratch import ScratchFolder

HOLD = "from openworld.runs.scratch import ScratchFolder\nheld = ScratchFolder()\nprint(held.name, flush=True)\ninput()"


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL and locks of folders")
def test_only_what_a_killed_process_left_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    other = subprocess.Popen([sys.executable, "-c", HOLD], env=os.environ | {"TMPDIR": str(tmp_path)}, **pipes)
    theirs = Path(other.stdout.readline().strip())
    (theirs / "half").touch()
    (tmp_path / "openworld-notes").mkdir()  # somebody's own
    with ScratchFolder() as mine:
        assert theirs.exists()
        other.send_signal(signal.SIGKILL)
        other.communicate()
        with ScratchFolder():
            assert not theirs.exists() and Path(mine).exists()
    assert [path.name for path in tmp_path.iterdir()] == ["openworld-notes"]


@pytest.mark.skipif(os.name == "nt", reason="needs locks of folders")
@pytest.mark.parametrize("when", ["before it is opened", "before it is locked"])
def test_a_folder_that_another_process_takes_for_abandoned_is_made_anew(tmp_path, monkeypatch, when):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    taken, opened = [], scratch.Descriptor

    def open_late(path, flags):
        held = opened(path, flags) if when == "before it is locked" or taken else None
        if not taken:
            taken.append(path)
            os.rmdir(path)
        return held or opened(path, flags)

    monkeypatch.setattr(scratch, "Descriptor", open_late)
    with ScratchFolder() as mine:
        assert Path(mine).is_dir() and taken and mine != taken[0]
    assert list(tmp_path.iterdir()) == []
