"""Corrupted copies of labelled pictures: which, of how many pictures, of what size; scores are not made twice."""

import numpy as np
import pytest
from PIL import Image

from openworld import datasets
from openworld.applications.estimate import corrupted_copies as corruptions
from openworld.applications.estimate import images as pictures
from openworld.applications.estimate.models import find_judge


@pytest.fixture(scope="module")
def shown():
    images = datasets.load("emoji-groups", domain="noto", part="test")
    return pictures.Shown(images.subset(range(0, len(images), 20)), True)


def test_copies_are_of_four_families_mild_and_strong(shown, monkeypatch):
    monkeypatch.setattr(corruptions, "MOST", 5)
    copies = corruptions.corrupted_copies(shown, 0)
    assert len(copies) == 16 and {family for family, _ in copies} == {"noise", "blur", "weather", "digital"}
    assert len({copy.images.domain for _, copy in copies}) == 16
    first, *others = (copy.images for _, copy in copies)
    assert len(first) == 5 and all(np.array_equal(first.labels, one.labels) for one in others)
    assert len({one.fingerprint for one in (first, *others)}) == 16
    other = corruptions.corrupted_copies(shown, 1)[0][1].images
    assert other.fingerprint != first.fingerprint
    again = corruptions.corrupted_copies(shown, 0)[0][1].images
    assert np.array_equal(np.asarray(first.image(2)), np.asarray(again.image(2)))


def test_families_are_those_of_the_corruptions():
    from openworld.datasets.corruptions import CORRUPTIONS

    for family, names in corruptions.FAMILIES.items():
        assert {CORRUPTIONS[name].group for name in names} == {family}


@pytest.mark.parametrize(("size", "expected"), [((600, 512), (300, 256)), ((300, 100), (300, 100))])
def test_large_pictures_are_scaled_down_first(size, expected):
    read = corruptions._AtMost(lambda index: Image.new("L", size))
    assert read(0).size == expected and read.file_of(0) is None


def test_scores_know_what_they_are_made_of(shown, tmp_path):
    names = shown.images.classnames
    judged, other = (
        find_judge("embedded", names, f"{noun} of a {{}}.", "cpu", scaled=True) for noun in ("icon", "dot")
    )
    few = pictures.Shown(shown.images.subset([0, 1]), True)
    made = pictures.made_of(few, pictures.Panel(judged))
    path = tmp_path / "scores.parquet"
    assert not pictures.is_written(path, made)
    pictures.write_scores(few, pictures.Panel(judged), path, made=made)
    assert pictures.is_written(path, made)
    different = [
        pictures.made_of(few, pictures.Panel(other)),
        pictures.made_of(few, pictures.Panel(judged, judged)),
        pictures.made_of(pictures.Shown(shown.images.subset([0, 2]), True), pictures.Panel(judged)),
    ]
    assert not any(pictures.is_written(path, one) for one in different)
    path.write_bytes(path.read_bytes()[:-10])
    assert not pictures.is_written(path, made)
