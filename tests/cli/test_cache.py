"""`openworld cache`: what is listed, what is removed, and that nothing is removed unasked."""

import json
import os

import numpy as np
import pytest

from openworld.cli.app import app
from openworld.cli.in_process import CliRunner
from openworld.features import default_cache
from openworld.features.cache import hold
from openworld.features.store import FeatureStore


def cache(*arguments):
    return CliRunner().invoke(app, ["cache", *map(str, arguments)])


@pytest.fixture
def two_sets(own_cache):
    for letter, name in (("a", "pets"), ("b", "[bold]food")):
        store = FeatureStore(default_cache() / (letter * 32))
        store.write_shard(0, {"embeddings": np.zeros((1200, 4), np.float32)})
        store.finish(1, {"count": 1200, "name": name, "domain": "", "model": "embedded", "encoding": {"views": 2}})
    return default_cache()


def test_it_lists_what_lies_where(two_sets):
    done = cache()
    assert done.exit_code == 0
    assert f"{two_sets}: 2 encoded image set(s)" in done.output.replace("\n", "")
    assert all(word in done.output for word in ("pets", "[bold]food", "embedded", "1,200", "2 views", "a" * 32))


def test_an_empty_cache(tmp_path):
    assert "0 encoded image set(s), 0.0 MB" in cache("--cache", tmp_path, "--clear").output


def test_json(two_sets):
    told = json.loads(cache("--json", "--dataset", "pets").output)
    assert told["folder"] == str(two_sets)
    (one,) = told["sets"]
    assert (one["dataset"], one["folder"], one["images"]) == ("pets", "a" * 32, 1200)


def test_clearing_asks_unless_told_not_to(two_sets):
    done = cache("--clear")
    assert done.exit_code == 2 and "add --yes" in done.output
    assert len(list(two_sets.iterdir())) == 2
    done = cache("--clear", "--yes", "--dataset", "pets", "--backbone", "embedded")
    assert done.exit_code == 0 and "Removed 1 set(s)" in done.output
    assert [folder.name for folder in two_sets.iterdir()] == ["b" * 32]


def test_a_folder_that_is_not_ours_is_refused(two_sets):
    (two_sets / "thesis.tex").write_text("mine")
    done = cache("--clear", "--yes")
    assert done.exit_code == 2 and "'thesis.tex', which openworld did not put there" in done.output
    assert "Not ours, left alone: thesis.tex" in cache().output
    assert len(list(two_sets.iterdir())) == 3


def test_a_limit_removes_what_was_used_longest_ago(two_sets):
    for letter, used in (("a", 2000), ("b", 1000)):
        hold(two_sets / (letter * 32))
        os.utime(two_sets / (letter * 32) / "in-use", (used, used))
    done = cache("--limit", "30KB")
    assert done.exit_code == 2 and "--limit asks before it removes anything" in done.output
    done = cache("--limit", "30KB", "--yes")
    assert done.exit_code == 0 and "Removed 1 set(s)" in done.output
    assert [folder.name for folder in two_sets.iterdir() if folder.is_dir()] == ["a" * 32]
    assert cache("--limit", "30KB").exit_code == 0
    assert "1970" in cache().output


def test_what_is_being_read_stays(two_sets):
    held = hold(two_sets / ("a" * 32))
    done = cache("--clear", "--yes")
    assert "Removed 1 set(s)" in done.output and "1 set(s) are being read and stay" in done.output
    assert "Removed 0 set(s)" in cache("--limit", "0GB", "--yes").output
    assert held and (two_sets / ("a" * 32)).exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--limit", "plenty"), ("'plenty'", "50GB")),
        (("--limit", "1GB", "--clear"), ("--limit", "--clear")),
        (("--limit", "1GB", "--dataset", "pets"), ("--limit", "--dataset")),
    ],
)
def test_limits_that_say_nothing_are_refused(two_sets, arguments, words):
    done = cache(*arguments, "--yes")
    assert done.exit_code == 2 and all(word in done.output for word in words)
