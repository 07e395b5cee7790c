"""Hashes of training images: the same image, a copy in another format, and another one of the embedded world."""

import io

import numpy as np
import pytest
from PIL import Image

from openworld import OpenworldError, datasets
from openworld.datasets.training_images import ALIKE, NEW, SAME, SeenImages, hashes_of


def hashes(images, rows, change=lambda image: image):
    resized = (change(images.image(int(row))).resize((32, 32)) for row in rows)
    return np.array([hashes_of(one) for one in resized], np.uint64)


def as_jpeg(image):
    written = io.BytesIO()
    image.save(written, "JPEG", quality=90)
    return Image.open(io.BytesIO(written.getvalue()))


def seen_of(found):
    return SeenImages(found[:, 0].copy(), found[:, 1].copy())


def test_images_of_the_training_copies_and_others():
    training = datasets.load("emoji-groups", domain="noto", part="train")
    seen = seen_of(hashes(training, range(0, 6000, 20)))
    assert (seen.find(hashes(training, range(0, 500, 20))) == SAME).all()
    for change in (as_jpeg, lambda image: image.resize((48, 48))):
        found = seen.find(hashes(training, range(0, 1000, 20), change))
        assert (found == ALIKE).mean() > 0.4 and not (found == SAME).any()
    other = datasets.load("emoji-groups", domain="noto", part="test")
    assert (seen.find(hashes(other, range(100))) != NEW).mean() <= 0.01


def test_images_that_differ_little_are_not_compared_by_their_looks():
    bars = [np.eye(2, dtype=np.uint8)[row % 2].repeat(16).reshape(32, 1).repeat(32, 1) * 100 + row for row in range(40)]
    found = np.array([hashes_of(Image.fromarray(bar)) for bar in bars], np.uint64)
    assert len(np.unique(found[:, 0])) == 40 and (seen_of(found[:20]).find(found) == [SAME] * 20 + [NEW] * 20).all()


def test_a_chance_by_good_and_turing():
    """Every tenth image shares its difference hash with one other: new ones would often share it, too."""
    same = np.arange(1000, dtype=np.uint64)
    often, seldom = (np.where(same < pairs, same // 2 * 2, same).astype(np.uint64) for pairs in (100, 10))
    new = np.stack([same + np.uint64(5000), same], axis=1)
    assert not SeenImages(same, often).find(new).any()
    assert (SeenImages(same, seldom).find(new) == ALIKE).sum() == 990


def test_arrays_that_are_no_hashes_are_refused():
    with pytest.raises(OpenworldError, match=r"alike is uint64 of shape \(2,\), expected uint64\[3\]"):
        SeenImages(np.zeros(3, np.uint64), np.zeros(2, np.uint64))
    with pytest.raises(OpenworldError, match="same is int64"):
        SeenImages(np.zeros(3, np.int64), np.zeros(3, np.uint64))
