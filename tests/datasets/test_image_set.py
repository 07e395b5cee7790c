import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from openworld.core.errors import OpenworldError
from openworld.datasets import ImageSet
from openworld.datasets.corruptions import corrupted
from openworld.datasets.pooling import pooled, remembered
from openworld.datasets.styles import restyled, styled


def grey(number: int) -> Image.Image:
    return Image.new("L", (2, 2), number)


def make(**changes) -> ImageSet:
    fields = {
        "name": "toy",
        "domain": "",
        "classnames": ("cat", "wild_dog", "owl"),
        "labels": [0, 1, 1, 0],
        "groups": [0, 1, 2, 3],
        "content": "greys",
        "read": grey,
    }
    return ImageSet(**fields | changes)


def test_a_subset_keeps_class_names_and_reads_the_chosen_images():
    chosen = make().subset([2, 0, 2]).subset([1, 2])
    assert chosen.labels.tolist() == [0, 1]
    assert chosen.groups.tolist() == [0, 2]
    assert [chosen.image(i).getpixel((0, 0))[0] for i in range(2)] == [0, 2]
    assert chosen.image(0).mode == "RGB" and chosen.classnames == ("cat", "wild dog", "owl")
    assert chosen.labels.dtype == chosen.groups.dtype == np.int64
    copy = pickle.loads(pickle.dumps(chosen))
    assert copy.fingerprint == chosen.fingerprint and copy.image(1) == chosen.image(1)


def test_columns_are_chosen_pooled_and_repeated_with_their_images():
    images = make(read=lambda number: Image.new("RGB", (16, 16), (number, 0, 0)))
    known = replace(images, columns={"path": np.array(["a", "", "c", "d"], object), "embeddings": np.eye(4)})
    chosen = known.subset([3, 1])
    assert [chosen.path_of(place) for place in range(2)] == ["d", "1"] and images.path_of(2) == "2"
    assert chosen.embeddings.tolist() == [[0, 0, 0, 1], [0, 1, 0, 0]] and images.embeddings is None
    both = pooled([known, chosen])
    assert both.embeddings.shape == (6, 4) and pooled([known, images]).embeddings is None
    assert both.image(5).getpixel((0, 0))[0] == 1 and both.path_of(4) == "d"
    for changed in (corrupted(known, "fog", 1), restyled(known, ("neon", "sketch"))):
        assert changed.embeddings is None and changed.path_of(0) == "a"
    for same in (remembered(known, 2), styled(known, "sketch"), restyled(known, ("sketch",))):
        assert [same.path_of(place) for place in range(4)] == ["a", "1", "c", "d"]
    assert [restyled(known, ("neon", "sketch")).path_of(place) for place in (0, 1, 6)] == ["a", "a", "d"]
    with pytest.raises(OpenworldError, match="column 'path'"):
        make(columns={"path": np.array(["a"], object)})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"classnames": ("cat", "dog", "Cat")}, "two classes named 'cat' and 'Cat'"),
        ({"classnames": ("a_b", "a b", "c")}, "two classes named"),
        ({"classnames": ("cat", " ", "owl")}, "empty class name, at place 1"),
        ({"classnames": ("cat",)}, "image 1 has label 1"),
        ({"labels": [0, -1, 1, 0]}, "negative"),
        ({"labels": [0.5, 1, 1, 0]}, "integer"),
        ({"labels": [0, 1]}, "groups"),
    ],
)
def test_wrong_input_is_refused(changes, message):
    with pytest.raises(OpenworldError, match=message):
        make(**changes)
    for index in (-1, 4):
        with pytest.raises(OpenworldError, match="4 images"):
            make().image(index)
    with pytest.raises(OpenworldError, match="4 images"):
        make().subset([4])


def test_the_fingerprint_follows_the_content_and_nothing_else():
    plain = make().fingerprint
    assert make(name="other", domain="sketch").fingerprint == plain
    for change in (
        {"content": "whites"},
        {"classnames": ("cat", "dog", "owl")},
        {"labels": [0, 1, 0, 0]},
        {"groups": [0, 0, 1, 1]},
    ):
        assert make(**change).fingerprint != plain


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6), st.lists(st.integers(0, 3), min_size=1, max_size=6))
def test_subsets_share_a_fingerprint_only_if_they_are_equal(first, second):
    assert (make().subset(first).fingerprint == make().subset(second).fingerprint) == (first == second)
