"""Pooled image sets by hand; a draw that keeps the shares of classes; images that are read once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from openworld.core.errors import OpenworldError
from openworld.datasets import ImageSet
from openworld.datasets.pooling import few, pooled, remembered


def toy(domain, names, labels, groups=None, level=0):
    def read(number):
        return Image.new("RGB", (16, 16), (level, number, 0))

    return ImageSet("toy", domain, names, labels, labels if groups is None else groups, f"{domain} {level}", read)


def test_labels_groups_and_images_stand_one_behind_the_other():
    one = toy("a", ("cat", "dog"), [0, 1], [3, 3], level=1)
    other = toy("b", ("Dog", "cat"), [0, 0, 1], [0, 1, 1], level=2)
    both = pooled([one, other])
    assert both.classnames == ("cat", "dog") and both.domain == "a + b" and both.name == "toy"
    assert both.labels.tolist() == [0, 1, 1, 1, 0]
    assert both.groups.tolist() == [3, 3, 4, 5, 5]
    assert [both.image(number).getpixel((0, 0))[:2] for number in range(5)] == [(1, 0), (1, 1), (2, 0), (2, 1), (2, 2)]
    assert both.fingerprint != pooled([other, one]).fingerprint


def test_one_set_stays_what_it_is_and_other_classes_are_refused():
    one = toy("a", ("cat", "dog"), [0, 1])
    assert pooled([one]).fingerprint == one.fingerprint
    wider = pooled([toy("a", ("dog",), [0])], ("cat", "dog"))
    assert wider.labels.tolist() == [1] and wider.classnames == ("cat", "dog")
    with pytest.raises(OpenworldError, match=r"1 class\(es\) that are not among the 1 of the model, first 'dog'"):
        pooled([one], ("cat",))
    with pytest.raises(OpenworldError, match="no image set to pool"):
        pooled([])


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.integers(1, 70), st.integers(0, 5))
def test_a_draw_keeps_shares_and_grows(labels, count, seed):
    images = toy("a", ("a", "b", "c", "d"), labels)
    chosen = few(images, count, seed=seed)
    assert (np.diff(chosen) > 0).all() and len(chosen) == min(count, len(labels))
    drawn, there = (np.bincount(each, minlength=4) for each in (images.labels[chosen], images.labels))
    assert (np.abs(drawn - there * len(chosen) / len(labels)) < 2).all()
    assert set(chosen) <= set(few(images, count + 3, seed=seed))


def test_the_last_images_are_remembered():
    asked = []
    images = toy("a", ("a",), [0] * 5)
    object.__setattr__(images, "read", lambda number: asked.append(number) or Image.new("RGB", (2, 2)))
    kept = remembered(images, 2)
    for number in (0, 0, 1, 0, 2, 1, 0):
        kept.image(number)
    assert asked == [0, 1, 2, 0] and kept.fingerprint == images.fingerprint
