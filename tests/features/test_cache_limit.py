"""A cache with a limit: what goes, what stays, who waits, and that nothing goes from under a reader."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from openworld.core.errors import OpenworldError
from openworld.features.cache import IN_USE, hold, look, remove, reserve, shrink
from openworld.features.store import FeatureStore


def keep(cache, letter, size=1000, age=0, **encoding):
    """A whole set of some `size` bytes more than its heads, used `age` seconds ago."""
    store = FeatureStore(cache / (letter * 32))
    store.hold()
    store.write_shard(0, {"embeddings": np.zeros((size // 4, 1), np.float32)})
    store.finish(
        1, {"count": size // 4, "name": "pets", "encoding": {"views": 0, "patches": False, "pixels": False} | encoding}
    )
    os.utime(store.folder / IN_USE, (time.time() - age,) * 2)
    return store.folder


def total(cache):
    return sum(file.stat().st_size for file in cache.glob("*/*"))


def names(cache):
    return {folder.name[0] for folder in cache.iterdir() if folder.is_dir()}


def test_what_was_used_longest_ago_goes_first(tmp_path):
    old, older, _ = keep(tmp_path, "a", age=20), keep(tmp_path, "b", age=30), keep(tmp_path, "c", age=10)
    assert shrink(tmp_path, total(tmp_path)) == []
    assert shrink(tmp_path, total(tmp_path) - 1) == [older]
    assert shrink(tmp_path, total(tmp_path) - 1001) == [old]
    assert names(tmp_path) == {"c"} and look(tmp_path).sets[0].used.timestamp() < time.time() - 9


def test_embeddings_go_last(tmp_path):
    keep(tmp_path, "a", age=30), keep(tmp_path, "b", age=20, views=2, patches=True)
    keep(tmp_path, "c", age=10, pixels=True), keep(tmp_path, "d", age=25, views=2)
    for left in ("acd", "ad", "d", ""):
        shrink(tmp_path, total(tmp_path) - 1)
        assert names(tmp_path) == set(left)


def test_what_is_read_stays_until_its_arrays_are_gone(tmp_path):
    keep(tmp_path, "a")
    store = FeatureStore(tmp_path / ("a" * 32))
    store.hold()
    array = store.array("embeddings").take(np.arange(3))
    del store
    assert shrink(tmp_path, 0) == []
    assert remove(look(tmp_path)) == 0 and names(tmp_path) == {"a"}
    del array
    assert shrink(tmp_path, 0) and names(tmp_path) == set()


def test_another_process_keeps_what_it_reads_and_its_death_lets_go(tmp_path):
    folder = keep(tmp_path, "a")
    code = (
        "import sys; from pathlib import Path; from openworld.features.cache import hold; "
        f"held = hold(Path({str(folder)!r})); print('held', flush=True); sys.stdin.read()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as reader:
        assert reader.stdout.readline().strip() == b"held"
        assert shrink(tmp_path, 0) == []
        reader.kill()
    assert shrink(tmp_path, 0) == [folder]


@pytest.mark.parametrize("other", ["answers-" + "0" * 32 + ".safetensors", "00001-weights.safetensors", "thesis.tex"])
def test_what_is_more_than_an_encoded_set_stays(tmp_path, other):
    folder = keep(tmp_path, "a")
    (folder / other).write_bytes(b"work")
    assert shrink(tmp_path, 0) == [] and folder.exists()


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
        for _ in range(200):
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
