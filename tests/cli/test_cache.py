"""`openworld cache`: what is listed, what is removed, and that nothing is removed unasked."""

import json
import os
from types import SimpleNamespace

import numpy as np
import pytest
from in_process import openworld, refused

from openworld.features import default_cache
from openworld.features.cache import hold
from openworld.features.store import FeatureStore

FIRST, SECOND = "a" * 32, "b" * 32


@pytest.fixture
def cache(own_cache):
    """A cache with two encoded image sets, of which the first was used last."""
    for folder, name, used in ((FIRST, "pets", 2000), (SECOND, "[bold]food", 1000)):
        store = FeatureStore(default_cache() / folder)
        store.write_shard(0, {"embeddings": np.zeros((1200, 4), np.float32)})
        store.finish(1, {"count": 1200, "name": name, "domain": "", "model": "embedded", "encoding": {"views": 2}})
        hold(default_cache() / folder)
        os.utime(default_cache() / folder / "in-use", (used, used))
    return default_cache()


def sets(cache):
    return sorted(path.name for path in cache.iterdir() if path.is_dir() and len(path.name) == 32)


def test_it_lists_what_lies_where(cache, tmp_path):
    done = openworld("cache")
    assert done.exit_code == 0 and f"{cache}: 2 encoded image set(s)" in done.output.replace("\n", "")
    assert all(word in done.output for word in ("pets", "[bold]food", "embedded", "1,200", "2 views", FIRST, "1970"))
    found = json.loads(openworld("cache", "--json", "--dataset", "pets").output)
    (entry,) = found["sets"]
    assert found["folder"] == str(cache)
    assert (entry["dataset"], entry["folder"], entry["images"]) == ("pets", FIRST, 1200)
    assert "0 encoded image set(s), 0.0 MB" in openworld("cache", "--cache", tmp_path / "empty", "--clear").output


def test_clearing_asks_unless_told_not_to(cache):
    refused("--clear asks before it removes anything, and nobody can answer here; add --yes", "cache", "--clear")
    assert sets(cache) == [FIRST, SECOND]
    done = openworld("cache", "--clear", "--yes", "--dataset", "pets", "--backbone", "embedded")
    assert done.exit_code == 0 and "Removed 1 set(s)" in done.output and sets(cache) == [SECOND]


@pytest.mark.parametrize(("option", "left"), [(("--clear",), []), (("--limit", "30KB"), [FIRST])])
def test_what_somebody_says_at_the_terminal_decides(option, left, cache, monkeypatch):
    monkeypatch.setattr("openworld.api.caching.sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True)))
    for agreed, stays in ((False, [FIRST, SECOND]), (True, left)):
        monkeypatch.setattr("rich.prompt.Confirm.ask", lambda *_, agreed=agreed, **__: agreed)
        done = openworld("cache", *option)
        assert done.exit_code == 0 and sets(cache) == stays and ("Removed" in done.output) == agreed


def test_a_limit_removes_what_was_used_longest_ago(cache):
    refused("--limit asks before it removes anything", "cache", "--limit", "30KB")
    done = openworld("cache", "--limit", "30KB", "--yes")
    assert done.exit_code == 0 and "Removed 1 set(s)" in done.output and sets(cache) == [FIRST]
    assert openworld("cache", "--limit", "30KB").exit_code == 0


def test_what_is_being_read_stays(cache):
    held = hold(cache / FIRST)
    done = openworld("cache", "--clear", "--yes")
    assert "Removed 1 set(s)" in done.output and "1 set(s) are being read and stay" in done.output
    assert "Removed 0 set(s)" in openworld("cache", "--limit", "0GB", "--yes").output
    assert held and sets(cache) == [FIRST]


def test_a_folder_that_is_not_ours_is_refused(cache):
    (cache / "thesis.tex").write_text("mine")
    for option in (("--clear",), ("--limit", "1KB")):
        refused("'thesis.tex', which openworld did not put there", "cache", *option, "--yes")
    assert "Not ours, left alone: thesis.tex" in openworld("cache").output and sets(cache) == [FIRST, SECOND]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("plenty",), "'plenty'"),
        (("1GB", "--clear"), "give it without --clear"),
        (("1GB", "--dataset", "pets"), "--dataset"),
    ],
)
def test_limits_that_say_nothing_are_refused(cache, arguments, words):
    refused(words, "cache", "--limit", *arguments, "--yes")
