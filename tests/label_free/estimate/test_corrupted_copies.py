"""Corrupted copies of labelled images: which, of how many images, of what size; scores are not made twice."""

import numpy as np
import pytest
from PIL import Image

from openworld import datasets
from openworld.label_free.estimate import scoring as corruptions


@pytest.fixture(scope="module")
def images():
    every = datasets.load("emoji-groups", domain="noto", part="test")
    return every.subset(range(0, len(every), 20))


def test_copies_are_of_four_families_mild_and_strong(images, monkeypatch):
    monkeypatch.setattr(corruptions, "MOST", 5)
    copies = list(corruptions.corrupted_copies(images, 0))
    assert len(copies) == 16 and {family for family, _ in copies} == {"noise", "blur", "weather", "digital"}
    assert len({copy.domain for _, copy in copies}) == 16
    first, *others = (copy for _, copy in copies)
    assert len(first) == 5 and all(np.array_equal(first.labels, one.labels) for one in others)
    assert len({one.fingerprint for one in (first, *others)}) == 16
    other = next(corruptions.corrupted_copies(images, 1))[1]
    assert other.fingerprint != first.fingerprint
    again = next(corruptions.corrupted_copies(images, 0))[1]
    assert np.array_equal(np.asarray(first.image(2)), np.asarray(again.image(2)))


def test_families_are_those_of_the_corruptions():
    from openworld.datasets.corruptions import CORRUPTIONS

    for family, names in corruptions.FAMILIES.items():
        assert {CORRUPTIONS[name].group for name in names} == {family}


@pytest.mark.parametrize(("size", "expected"), [((600, 512), (300, 256)), ((300, 100), (300, 100))])
def test_large_images_are_scaled_down_first(size, expected):
    assert corruptions.read_at_most(lambda index: Image.new("L", size), 0).size == expected
