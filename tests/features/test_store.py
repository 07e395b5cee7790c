"""Features on disk: written whole, read through memory maps, refused when damaged."""

import numpy as np
import pytest

from openworld import OpenworldError
from openworld.features import Features, FeatureStore, View
from openworld.features.store import ShardedArray


@pytest.fixture
def store(tmp_path):
    store = FeatureStore(tmp_path / "set")
    for index in range(3):
        rows = np.arange(4, dtype=np.float32).reshape(2, 2) + 4 * index
        store.write_shard(index, {"embeddings": rows, "patches": rows.astype(np.float16)})
    assert store.manifest is None
    store.finish(3, {"name": "toy"})
    files = (f"shard-0000{index}.safetensors{ending}" for index in range(3) for ending in ("", ".sha256"))
    assert sorted(path.name for path in store.folder.iterdir()) == ["manifest.json", *files]
    return store


def test_shards_read_as_one_array(store):
    whole = store.array("embeddings")
    assert whole.shape == (6, 2)
    np.testing.assert_array_equal(np.asarray(whole), np.arange(12, dtype=np.float32).reshape(6, 2))
    np.testing.assert_array_equal(whole[[5, 0, 2]], [[10, 11], [0, 1], [4, 5]])
    np.testing.assert_array_equal(whole[3], [6, 7])
    np.testing.assert_array_equal(whole[np.array([True] + 5 * [False])], [[0, 1]])
    assert store.array("patches").dtype == np.float16
    assert store.array("views") is None


def test_one_view_of_each_row_reads_like_numpy():
    whole = np.arange(9 * 4 * 2).reshape(9, 4, 2)
    sharded = ShardedArray([whole[:4], whole[4:5], whole[5:]])
    rows, views = np.array([7, 0, 4, 4, -1]), np.array([3, 0, 2, 1, 0])
    np.testing.assert_array_equal(sharded[rows, views], whole[rows, views])
    np.testing.assert_array_equal(sharded.take(rows)[[1, 3], [2, 0]], whole[rows][[1, 3], [2, 0]])
    np.testing.assert_array_equal(sharded[3, 1], whole[3, 1])


def test_the_other_views_are_not_read():
    read = []

    class Watched(np.ndarray):
        def __getitem__(self, index):
            found = super().__getitem__(index)
            read.append(np.size(found))
            return found

    sharded = ShardedArray([np.arange(3 * 8 * 5).reshape(3, 8, 5).view(Watched)])
    sharded[np.array([2, 0]), np.array([7, 1])]
    assert sum(read) == 2 * 5


def test_a_changed_shard_is_found(store):
    assert store.is_whole(3) and not store.is_whole(4)
    path = store.shard_path(1)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert [store.has_shard(index) for index in range(3)] == [True, False, True]
    assert not store.is_whole(3)


@pytest.mark.parametrize("content", [b"", b"\x89PNG\r\n\x1a\n" + bytes(50), b"\x02" + bytes(7) + b"{]", None])
def test_a_shard_that_is_something_else_cut_or_missing_is_refused(store, content):
    path = store.shard_path(1)
    path.write_bytes(path.read_bytes()[:-4] if content is None else content)
    with pytest.raises(OpenworldError, match="shard-00001.*cut short.*encode again"):
        store.array("embeddings")
    path.unlink()
    with pytest.raises(OpenworldError, match="missing"):
        store.array("embeddings")


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"shards": 3}', "\x00"])
def test_a_damaged_manifest_is_none(store, content):
    (store.folder / "manifest.json").write_text(content)
    damaged = FeatureStore(store.folder)
    assert damaged.manifest is None and not damaged.is_whole(3) and damaged.has_shard(0)


def test_classes_are_counted_anew_and_images_keep_their_place_in_the_image_set():
    labels = np.array([0, 1, 2, 1])
    features = Features(np.eye(4, dtype=np.float32), labels, labels, np.arange(4), ("a", "b", "c"), "made up")
    chosen = features.of_classes([2, 1])
    assert chosen.classnames == ("c", "b")
    assert chosen.labels.tolist() == [1, 0, 1] and chosen.rows.tolist() == [1, 2, 3]
    assert features.select(np.array([3, 0])).rows.tolist() == [3, 0]


def test_a_view_slices_logits():
    logits = np.arange(12).reshape(4, 3)
    np.testing.assert_array_equal(View([2, 0], [1]).slice(logits), [[7], [1]])
    for classes in ([], [1, 2], [2, 1], [0, 2]):  # neighbours in order are cut out at once
        expected = logits[np.ix_([2, 0, 0], np.array(classes, int))]
        np.testing.assert_array_equal(View([2, 0, 0], classes).slice(logits), expected)
    with pytest.raises(OpenworldError, match="negative"):
        View([-1], [0])
    with pytest.raises(OpenworldError, match="class 3 of a matrix of 3"):
        View([0], [3]).slice(logits)
