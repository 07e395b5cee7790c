import os
import threading

import pytest

from openworld.core.errors import OpenworldError
from openworld.runs.atomic import write_file, write_folder, writing


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


def test_an_end_between_the_two_renames_puts_the_old_folder_back(tmp_path, monkeypatch):
    goal, rename = tmp_path / "goal", os.rename
    write_folder(goal, {"a": b"1"}, tmp_path / "scratch")

    def interrupted(source, target):
        if source == tmp_path / "scratch":
            raise KeyboardInterrupt
        rename(source, target)

    monkeypatch.setattr(os, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_folder(goal, {"b": b"2"}, tmp_path / "scratch")
    assert [path.name for path in tmp_path.iterdir()] == ["goal"] and (goal / "a").read_bytes() == b"1"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_told_with_the_name_of_the_file(tmp_path, monkeypatch):
    opened = open
    monkeypatch.setattr("builtins.open", lambda path, mode: opened("/dev/full", mode))
    with pytest.raises(OSError, match=r"No space left on device.*table\.parquet"):
        write_folder(tmp_path / "unit", {"table.parquet": b"x"}, tmp_path / "scratch")
    assert not list(tmp_path.iterdir())


def test_what_a_killed_writer_left_is_used_up(tmp_path):
    (tmp_path / ".file.writing").write_bytes(b"half of something that was longer")
    write_file(tmp_path / "file", b"whole")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"file": b"whole"}
    (tmp_path / ".folder.writing").mkdir()
    (tmp_path / ".folder.writing" / "half").touch()
    write_folder(tmp_path / "folder", {"a": b"1"})
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "file", "folder"]


@pytest.mark.skipif(os.name == "nt", reason="needs locks of files")
def test_a_living_writer_of_the_same_file_is_waited_for(tmp_path):
    path = tmp_path / "file"
    other = threading.Thread(target=write_file, args=(path, b"second"))
    with writing(path) as file:
        file.write(b"first")
        other.start()
        other.join(0.2)
        assert other.is_alive() and not path.exists()
    other.join()
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {"file": b"second"}


@pytest.mark.skipif(os.name == "nt", reason="needs pipes")
def test_only_a_plain_file_is_replaced(tmp_path):
    (tmp_path / "real").write_bytes(b"kept")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name, words in (("link", r"is a link to .*real"), ("folder", "is a folder"), ("pipe", "is a pipe")):
        with pytest.raises(OpenworldError, match=words):
            write_file(tmp_path / name, b"new")
    assert (tmp_path / "real").read_bytes() == b"kept" and (tmp_path / "link").is_symlink()


@pytest.mark.skipif(os.name == "nt", reason="needs links that cannot be followed")
def test_a_scratch_file_that_is_a_link_is_left_alone(tmp_path):
    (tmp_path / "precious").write_bytes(b"kept")
    (tmp_path / ".file.writing").symlink_to("precious")
    write_file(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"new" and (tmp_path / "precious").read_bytes() == b"kept"
