"""The cache of encoded sets: what is told of it, what is removed, and what is never touched."""

import json
from pathlib import Path

import numpy as np
import pytest

from openworld.core.errors import OpenworldError
from openworld.features import default_cache
from openworld.features.cache import look, remove
from openworld.features.checksums import write_with_checksum
from openworld.features.store import FeatureStore

ENCODING = {"views": 8, "patches": True, "pixels": False}


def keep(cache, letter, images=3, **description):
    """A set on disk, as `encode` leaves it."""
    store = FeatureStore(cache / (letter * 32))
    store.write_shard(0, {"embeddings": np.zeros((images, 4), np.float32)})
    told = {"count": images, "name": "pets", "domain": "photos", "model": "embedded", "backbone": "9f" * 32}
    store.finish(1, told | {"encoding": ENCODING} | description)
    return store.folder


def test_every_set_is_told_the_largest_first(tmp_path):
    small, large = keep(tmp_path, "a"), keep(tmp_path, "b", images=3000)
    kept = look(tmp_path)
    assert [one.folder for one in kept.sets] == [large, small] and kept.foreign == ()
    first = kept.sets[0]
    assert (first.dataset, first.backbone, first.images) == ("pets · photos", "embedded", 3000)
    assert first.holds == "8 views, patches"
    assert first.size == sum(file.stat().st_size for file in large.iterdir())
    assert kept.size == sum(one.size for one in kept.sets)


def test_a_set_of_an_older_version_and_one_that_is_not_whole(tmp_path):
    old = keep(tmp_path, "a", model=None, domain=None)
    unfinished = keep(tmp_path, "b")
    (unfinished / "manifest.json").unlink()
    (unfinished / ".shard-00001.safetensors-x1y2").write_bytes(b"half")
    told = {one.folder: one for one in look(tmp_path).sets}
    assert (told[old].dataset, told[old].backbone) == ("pets", "9f9f9f9f9f9f")
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
def test_what_protocols_keep_is_ours_too(tmp_path, file, holds):
    folder = tmp_path / ("c" * 32)
    folder.mkdir()
    write_with_checksum(folder / file, b"numbers")
    kept = look(tmp_path)
    assert [one.holds for one in kept.sets] == [holds] and not kept.foreign


def test_nothing_there_is_nothing(own_cache):
    kept = look(default_cache())
    assert (kept.sets, kept.size, remove(kept)) == ((), 0, 0)


def test_a_file_is_no_cache(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OpenworldError, match="is a file; the cache is a folder"):
        look(tmp_path / "file")


def test_removing(tmp_path):
    one, other = keep(tmp_path, "a"), keep(tmp_path, "b")
    kept = look(tmp_path)
    chosen = [found for found in kept.sets if found.folder == one]
    assert remove(kept, chosen) == chosen[0].size
    assert not one.exists() and other.exists()
    remove(look(tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("foreign", ["thesis.tex", "holiday/photo.jpg", "c" * 32 + "/thesis.tex"])
def test_a_folder_that_holds_anything_else_is_left_alone(tmp_path, foreign):
    ours, file = keep(tmp_path, "a"), tmp_path / foreign
    file.parent.mkdir(exist_ok=True)
    file.write_text("mine")
    kept = look(tmp_path)
    assert kept.foreign == (foreign.partition("/")[0],)
    with pytest.raises(OpenworldError, match="which openworld did not put there, so nothing was removed"):
        remove(kept)
    assert ours.exists() and file.read_text() == "mine"


def test_links_are_not_followed(tmp_path):
    (tmp_path / "cache").mkdir()
    elsewhere = keep(tmp_path, "a")
    (tmp_path / "cache" / ("a" * 32)).symlink_to(elsewhere)
    kept = look(tmp_path / "cache")
    assert kept.sets == () and kept.foreign == ("a" * 32,)


def test_a_set_that_changed_meanwhile_stops_it_before_anything_is_gone(tmp_path):
    one, other = keep(tmp_path, "a"), keep(tmp_path, "b")
    kept = look(tmp_path)
    (one / "notes.txt").write_text("mine")
    with pytest.raises(OpenworldError, match="no encoded image set"):
        remove(kept)
    assert one.exists() and other.exists()


def test_a_damaged_manifest_can_be_removed(tmp_path):
    folder = keep(tmp_path, "a")
    for text in ("{", json.dumps([1])):
        (folder / "manifest.json").write_text(text)
        assert look(tmp_path).sets[0].images is None
    remove(look(tmp_path))
    assert not folder.exists()


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
