"""Streamed features: the numbers that would lie on disk, computed when they are read, and nothing kept."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "reference"))

from made_up_images import Reader, image_set  # noqa: E402

from openworld import OpenworldError  # noqa: E402
from openworld.features import Encoding, encode, stream  # noqa: E402
from openworld.learners.engine.images import select_images  # noqa: E402

ASK = Encoding(patches=True, pixels=True)


def test_what_is_read_is_what_would_be_on_disk(clip, tmp_path):
    images = image_set(Reader({4}))
    kept = encode(clip, images, ASK, cache=tmp_path / "kept", allow_corrupt=1)
    streamed = stream(clip, images, ASK, cache=tmp_path / "streamed", allow_corrupt=1)
    assert streamed.fingerprint == kept.fingerprint and streamed.rows.tolist() == [0, 1, 2, 3, 5, 6]
    for name in ("embeddings", "patches", "pixels"):
        for rows in (slice(None), np.array([5, 0, 3]), 2):
            np.testing.assert_array_equal(getattr(streamed, name)[rows], getattr(kept, name)[rows])
        np.testing.assert_array_equal(
            getattr(streamed.of_classes(np.array([2, 0])), name)[:], getattr(kept.of_classes(np.array([2, 0])), name)[:]
        )
    for consumes in ("patches", "pixels"):
        rows = np.array([1, 4])
        ours, theirs = (select_images(one, clip, consumes, rows) for one in (streamed, kept))
        assert getattr(ours, consumes).equal(getattr(theirs, consumes))


def test_only_embeddings_are_kept(clip, tmp_path):
    images = image_set(Reader())
    encode(clip, images, cache=tmp_path / "plain")
    features = stream(clip, images, ASK, cache=tmp_path / "streamed")
    features.patches[:], features.pixels[:]
    plain, streamed = ({file.relative_to(top) for file in top.rglob("*")} for top in sorted(tmp_path.iterdir()))
    assert streamed == plain


def test_a_scan_in_order_sees_each_batch_once(clip, tmp_path):
    reader = Reader()
    features = stream(clip, image_set(reader), Encoding(patches=True), cache=tmp_path)
    reader.count = 0
    for start in range(0, 7, 2):
        features.patches[np.arange(start, min(start + 2, 7))]
    assert reader.count == 7


def test_an_image_that_broke_since_is_named(clip, tmp_path):
    reader = Reader()
    features = stream(clip, image_set(reader), ASK, cache=tmp_path)
    reader.broken = {3}
    for array in (features.patches, features.pixels):
        with pytest.raises(OpenworldError, match="image-3"):
            array[np.array([3])]
    with pytest.raises(OpenworldError, match="2 views of each image cannot be streamed"):
        stream(clip, image_set(reader), Encoding(views=2, pixels=True), cache=tmp_path)
