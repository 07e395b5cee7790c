import builtins
import functools
import os

import pytest

from openworld.runs.atomic import write_file, write_folder


def test_a_folder_replaces_another_and_leaves_no_trace(tmp_path):
    goal, scratch = tmp_path / "goal", tmp_path / "scratch"
    write_folder(goal, {"a": b"1", "deep/er/b": b"2"}, scratch)
    write_folder(goal, {"c": b"3"}, scratch)
    assert [path.name for path in tmp_path.iterdir()] == ["goal"]
    assert [path.name for path in goal.iterdir()] == ["c"]


def test_a_failed_writing_leaves_the_old_state(tmp_path, monkeypatch):
    goal, scratch = tmp_path / "goal", tmp_path / "scratch"
    write_folder(goal, {"a": b"1"}, scratch)
    write_file(tmp_path / "file", b"old")

    def refuse(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(KeyboardInterrupt):
        write_folder(goal, {"b": b"2"}, scratch)
    with pytest.raises(KeyboardInterrupt):
        write_file(tmp_path / "file", b"new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "goal"]
    assert (goal / "a").read_bytes() == b"1"
    assert (tmp_path / "file").read_bytes() == b"old"


def open_full(opened, path, mode):
    return opened("/dev/full", mode)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_told_with_the_name_of_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(builtins, "open", functools.partial(open_full, open))
    with pytest.raises(OSError, match=r"No space left on device.*table\.parquet"):
        write_folder(tmp_path / "unit", {"table.parquet": b"x"}, tmp_path / "scratch")
    assert not list(tmp_path.iterdir())
