"""The cache of encoded sets: what is told of it, what goes, what stays, who waits, and what is never touched."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from openworld.core.errors import OpenworldError
from openworld.features import default_cache
from openworld.features.cache import IN_USE, hold, look, remove, reserve, shrink
from openworld.features.checksums import write_with_checksum
from openworld.features.store import FeatureStore

HOLD = """
import sys
from openworld.runs.lock import SharedLock
held = SharedLock(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


def keep(cache, letter, size=1000, age=0, encoding=(), **description):
    """A whole set of some `size` bytes more than its heads, used `age` seconds ago, as `encode` leaves it."""
    store = FeatureStore(cache / (letter * 32))
    store.hold()
    store.write_shard(0, {"embeddings": np.zeros((size // 4, 1), np.float32)})
    told = {"count": size // 4, "name": "pets", "domain": "photos", "model": "embedded", "backbone": "9f" * 32}
    made = {"views": 0, "patches": False, "pixels": False} | dict(encoding)
    store.finish(1, told | {"encoding": made} | description)
    os.utime(store.folder / IN_USE, (time.time() - age,) * 2)
    return store.folder


def total(cache):
    return sum(file.stat().st_size for file in cache.glob("*/*"))


def names(cache):
    return {folder.name[0] for folder in cache.iterdir() if folder.is_dir()}


def test_every_set_is_told_the_largest_first(tmp_path):
    small = keep(tmp_path, "a", model=None, domain=None)
    large = keep(tmp_path, "b", 12_000, encoding={"views": 8, "patches": True})
    unfinished = keep(tmp_path, "c")
    (unfinished / "manifest.json").unlink()
    (unfinished / ".shard-00001.safetensors-x1y2").write_bytes(b"half")
    kept = look(tmp_path)
    first, told = kept.sets[0], {one.folder: one for one in kept.sets}
    assert set(told) == {small, large, unfinished} and kept.foreign == ()
    assert (first.folder, first.dataset, first.backbone, first.images) == (large, "pets · photos", "embedded", 3000)
    assert first.holds == "8 views, patches"
    assert first.size == sum(file.stat().st_size for file in large.iterdir())
    assert kept.size == sum(one.size for one in kept.sets)
    assert (told[small].dataset, told[small].backbone) == ("pets", "9f9f9f9f9f9f")  # of an older version
    assert (told[unfinished].dataset, told[unfinished].images) == ("", None)


@pytest.mark.parametrize(
    ("file", "holds"),
    [
        ("decomposition.safetensors", "a decomposition"),
        ("degrees.safetensors", "shift degrees"),
        ("00002-weights.safetensors", "1 checkpoint"),
        (f"answers-{'0' * 32}.safetensors", "answers of 1 classifier"),
    ],
)
def test_what_evaluations_keep_is_ours_too_and_makes_no_room(tmp_path, file, holds):
    write_with_checksum(tmp_path / ("c" * 32) / file, b"numbers")
    kept = look(tmp_path)
    assert [one.holds for one in kept.sets] == [holds] and not kept.foreign
    (keep(tmp_path, "a") / file).write_bytes(b"work")
    assert shrink(tmp_path, 0) == [] and names(tmp_path) == {"a", "c"}


def test_nothing_there_is_nothing_and_a_file_is_no_cache(own_cache, tmp_path):
    kept = look(default_cache())
    assert (kept.sets, kept.size, remove(kept)) == ((), 0, 0)
    (tmp_path / "file").write_text("")
    with pytest.raises(OpenworldError, match="is a file; the cache is a folder"):
        look(tmp_path / "file")


def test_removing(tmp_path):
    one, other = keep(tmp_path, "a"), keep(tmp_path, "b")
    kept = look(tmp_path)
    chosen = [found for found in kept.sets if found.folder == one]
    assert remove(kept, chosen) == chosen[0].size
    assert not one.exists() and other.exists()
    for text in ("{", json.dumps([1])):  # a damaged set can be removed
        (other / "manifest.json").write_text(text)
        assert look(tmp_path).sets[0].images is None
    remove(look(tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("foreign", ["thesis.tex", "holiday/photo.jpg", "c" * 32 + "/thesis.tex", "link"])
def test_a_folder_that_holds_anything_else_is_left_alone(tmp_path, foreign):
    cache = tmp_path / "cache"
    ours, file = keep(cache, "a"), cache / foreign
    if foreign == "link":
        file = cache / ("b" * 32)
        file.symlink_to(keep(tmp_path, "b"))  # links are not followed
    else:
        file.parent.mkdir(exist_ok=True)
        file.write_text("mine")
    kept = look(cache)
    assert kept.foreign == (file.relative_to(cache).parts[0],)
    with pytest.raises(OpenworldError, match="which openworld did not put there, so nothing was removed"):
        remove(kept)
    assert ours.exists() and file.exists()


def test_a_set_that_changed_meanwhile_stops_it_before_anything_is_gone(tmp_path):
    one, other = keep(tmp_path, "a"), keep(tmp_path, "b")
    kept = look(tmp_path)
    (one / "notes.txt").write_text("mine")
    with pytest.raises(OpenworldError, match="no encoded image set"):
        remove(kept)
    assert one.exists() and other.exists()


@pytest.mark.parametrize(
    ("own", "shared", "expected"),
    [
        ("/a", "/b", "/a"),
        (None, "/b", "/b/openworld"),
        ("", "/b", "/b/openworld"),
        (None, "relative", "~/.cache/openworld"),
        (None, None, "~/.cache/openworld"),
    ],
)
def test_variables_move_the_cache(own, shared, expected, monkeypatch):
    for name, value in {"OPENWORLD_CACHE": own, "XDG_CACHE_HOME": shared}.items():
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    assert default_cache() == Path(expected).expanduser() / "features"


def test_what_was_used_longest_ago_goes_first(tmp_path):
    old, older, _ = keep(tmp_path, "a", age=20), keep(tmp_path, "b", age=30), keep(tmp_path, "c", age=10)
    assert shrink(tmp_path, total(tmp_path)) == []
    assert shrink(tmp_path, total(tmp_path) - 1) == [older]
    assert shrink(tmp_path, total(tmp_path) - 1001) == [old]
    assert names(tmp_path) == {"c"} and look(tmp_path).sets[0].used.timestamp() < time.time() - 9


def test_embeddings_go_last(tmp_path):
    keep(tmp_path, "a", age=30), keep(tmp_path, "b", age=20, encoding={"views": 2, "patches": True})
    keep(tmp_path, "c", age=10, encoding={"pixels": True}), keep(tmp_path, "d", age=25, encoding={"views": 2})
    for left in ("acd", "ad", "d", ""):
        shrink(tmp_path, total(tmp_path) - 1)
        assert names(tmp_path) == set(left)


def test_what_is_read_stays_until_its_arrays_are_gone_or_its_reader_dies(tmp_path):
    folder = keep(tmp_path, "a")
    store = FeatureStore(folder)
    store.hold()
    array = store.array("embeddings").take(np.arange(3))
    del store
    assert shrink(tmp_path, 0) == []
    assert remove(look(tmp_path)) == 0 and names(tmp_path) == {"a"}
    command = [sys.executable, "-c", HOLD, str(folder / IN_USE)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:
        assert reader.stdout.readline().strip() == b"held"
        del array
        assert shrink(tmp_path, 0) == []
        reader.kill()
    assert shrink(tmp_path, 0) == [folder] and names(tmp_path) == set()


def test_room_is_made_for_what_will_be_written_and_counts_as_taken(tmp_path):
    keep(tmp_path, "a", age=20), keep(tmp_path, "b", age=10)
    limit = total(tmp_path)
    held = reserve({tmp_path / ("c" * 32): 900}, limit)
    assert names(tmp_path) == {"b", "c"}
    shrink(tmp_path, total(tmp_path) + 897)
    assert names(tmp_path) == {"b", "c"}
    shrink(tmp_path, total(tmp_path) + 896)  # nobody reads b, and what is written into c is not there yet
    assert names(tmp_path) == {"c"}
    del held


def test_a_limit_that_is_too_small_is_told_with_what_is_needed(tmp_path):
    keep(tmp_path, "a")
    with pytest.raises(OpenworldError, match="may have 5.0 MB, and 7.0 MB are needed.*--cache-limit"):
        reserve({tmp_path / ("b" * 32): 3_000_000, tmp_path / ("c" * 32): 4_000_000}, 5_000_000)
    assert names(tmp_path) == set()


def test_it_waits_for_a_reader(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("openworld.features.cache._PAUSE", 0.01)
    keep(tmp_path, "a")
    reading, got = [hold(tmp_path / ("a" * 32))], []
    waiting = threading.Thread(target=lambda: got.append(reserve({tmp_path / ("b" * 32): 900}, 1000)))
    waiting.start()
    while "waiting until" not in caplog.text:
        time.sleep(0.01)
    assert not got
    reading.clear()
    waiting.join()
    assert got and names(tmp_path) == {"b"}


def test_a_set_removed_in_the_moment_of_being_marked_is_marked_anew(tmp_path):
    folder, stop = tmp_path / ("a" * 32), threading.Event()

    def disturb():
        while not stop.is_set():
            if (folder / IN_USE).exists():
                shrink(tmp_path, 0)

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        for _ in range(100):
            held = hold(folder)
            assert held.stands and (folder / IN_USE).exists()
            del held
    finally:
        stop.set()
        thread.join()


def test_a_cache_that_is_only_read_needs_no_mark(tmp_path, monkeypatch):
    refused = lambda path: (_ for _ in ()).throw(PermissionError())  # noqa: E731
    monkeypatch.setattr("openworld.features.cache.SharedLock", refused)
    assert hold(tmp_path / ("a" * 32)) is None
