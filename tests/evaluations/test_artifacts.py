"""Stages: every protocol has some, what is missing is done once, and a failure leaves what is done and no notes."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from openworld import OpenworldError
from openworld.evaluations import artifacts
from openworld.evaluations.artifacts import Stage
from openworld.evaluations.running import RunOptions
from openworld.evaluations.runtime import Machine
from openworld.runs.engine import ENGINES
from openworld.runs.local import run_local


@dataclass(frozen=True)
class File:
    """The artifact of these tests: a file; number 13 fails."""

    number: int
    folder: str

    @property
    def name(self):
        return f"number {self.number}"

    @property
    def key(self):
        return str(self.number)

    def size(self):
        return self.number

    def is_kept(self, machine):
        return Path(self.folder, f"{self.number}.json").exists()

    def build(self, machine):
        if self.number == 13:
            raise OpenworldError("unlucky")
        Path(self.folder, f"{self.number}.json").write_text("{}")


def stage(folder, *numbers):
    return Stage("making", "made", "files", Machine(), lambda: [File(one, str(folder)) for one in numbers])


def test_what_is_missing_is_done_once(tmp_path):
    crew, told = RunOptions(tmp_path / "run", workers=1), []
    first = stage(tmp_path, 1, 2, 3, 2).work(crew, lambda *done: told.append(done))
    again = stage(tmp_path, 1, 2, 3, 4).work(crew, lambda *done: told.append(done))
    assert (first, again) == (6, 4) and told == [(0, 6), (1, 6), (3, 6), (6, 6), (0, 4), (4, 4)]
    assert not (tmp_path / "run" / ".making").exists()


def test_a_failure_keeps_what_is_done_and_no_notes(tmp_path):
    crew = RunOptions(tmp_path / "run", workers=1)
    with pytest.raises(OpenworldError, match="unit 'number 13': unlucky"):
        stage(tmp_path, 5, 13, 6).work(crew)
    assert (tmp_path / "5.json").exists() and not (tmp_path / "6.json").exists()
    assert not (tmp_path / "run" / ".making").exists()
    assert stage(tmp_path, 5, 6).work(crew) == 6


def test_a_cache_that_nodes_do_not_share_is_refused_with_the_first_artifact(tmp_path, monkeypatch):
    """The nodes are acted by this machine, and their cache by another folder."""
    monkeypatch.setitem(ENGINES, "ray", run_local)
    monkeypatch.setattr(artifacts, "_ARRIVAL", 0.0)
    monkeypatch.setattr(File, "is_kept", lambda self, machine: False)
    with pytest.raises(OpenworldError, match="number 5 was built by a node .* does not show in the cache here"):
        stage(tmp_path, 5, 6).work(RunOptions(tmp_path / "run", workers=1, engine="ray"))
    assert (tmp_path / "5.json").exists() and not (tmp_path / "6.json").exists()
