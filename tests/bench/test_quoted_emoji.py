"""The pool of judged pairs is whole: every set has its references, its law is not trained on, and it is made once."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench" / "quoted"))

import emoji  # noqa: E402
import pool  # noqa: E402


@pytest.fixture
def arrays():
    logits = np.array([[2, 1], [0, 1], [1, 0]])
    return {"logits": logits, "reference": -logits, "labels": [0, 1, 1], "classnames": ("cat", "dog")}


def test_what_is_kept_comes_back(tmp_path, arrays):
    pool.keep(tmp_path, "noise--fine-1", **arrays)
    (found,) = pool.sets(tmp_path).values()
    assert found["logits"].dtype == np.float32 and found["labels"].dtype == np.int64
    assert (
        found["classnames"].tolist() == ["cat", "dog"] and found["reference"].tolist() == (-arrays["logits"]).tolist()
    )
    assert pool.accuracy(found["logits"], found["labels"]) == pytest.approx(2 / 3)
    assert pool.is_kept(tmp_path, "noise--fine-1") and not pool.is_kept(tmp_path, "noise--fine-2")


@pytest.mark.parametrize("wrong", [np.zeros((3, 3)), np.full((3, 2), np.nan)], ids=["shape", "not finite"])
def test_damaged_arrays_are_not_kept(tmp_path, arrays, wrong):
    with pytest.raises(ValueError, match="noise--fine-1"):
        pool.keep(tmp_path, "noise--fine-1", **{**arrays, "reference": wrong})
    assert not pool.is_kept(tmp_path, "noise--fine-1")


@pytest.mark.parametrize("name", emoji.WORLDS)
def test_labelled_pictures_are_disjoint(name):
    sets = emoji.image_sets(emoji.quick(emoji.WORLDS[name]))
    drawn = ("training", "source", "same--unseen")
    pictures = [{sets[one].image(row).tobytes() for row in range(len(sets[one]))} for one in drawn]
    assert sum(map(len, pictures)) == len(set().union(*pictures)) == sum(len(sets[one]) for one in drawn)


@pytest.mark.slow
def test_a_world_in_small(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENWORLD_CACHE", str(tmp_path / "cache"))
    world = replace(emoji.quick(emoji.WORLDS["emoji-three-styles"]), labelled=20, shifted=5)
    emoji.judge(tmp_path / "resnet-0", world, "resnet", 0)
    found = pool.sets(tmp_path / "resnet-0")
    families = {pool.family(name) for name in found} - {"source", "same"}
    assert families == {*emoji.CORRUPTIONS, *emoji.REDRAWN, "mixture", "style", "monochrome"}
    assert {"source", "same--unseen"} <= found.keys()
    for arrays in found.values():
        assert arrays.keys() == {"logits", "labels", "reference", "reference_kin", "classnames"}
        assert not np.array_equal(arrays["logits"], arrays["reference_kin"]), "the kin has another seed"


def test_what_is_there_is_not_made_again(tmp_path, monkeypatch, arrays):
    world = emoji.quick(emoji.WORLDS["emoji-one-style"])
    for name in emoji.image_sets(world).keys() - {"training"}:
        pool.keep(tmp_path, name, **arrays)
    monkeypatch.setattr(emoji, "answers", None)
    emoji.judge(tmp_path, world, "resnet", 0)
    assert len(pool.sets(tmp_path)) == len(emoji.image_sets(world)) - 1
