"""`openworld cache`: what is listed, what is removed, and that nothing is removed unasked."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from openworld.cli.app import app
from openworld.features import default_cache
from openworld.features.store import FeatureStore


def cache(*arguments):
    return CliRunner().invoke(app, ["cache", *map(str, arguments)])


@pytest.fixture
def two_sets():
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
    assert "Not ours, left alone: thesis.tex" in done.output
    assert len(list(two_sets.iterdir())) == 3
