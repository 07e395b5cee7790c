"""The pool's world of handwritten digits is whole, and no picture serves twice."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench" / "quoted"))

import digits  # noqa: E402
import pool  # noqa: E402
import spoiling  # noqa: E402

COLUMNS = {"logits", "labels", "reference", "reference_weak", "reference_kin", "classnames"}


@pytest.mark.slow
def test_the_world(tmp_path, capsys):
    digits.main(["--out", str(tmp_path), "--seeds", "3"])
    assert capsys.readouterr().out.count(" shifts ") == 2
    for recipe in digits.RECIPES:
        found = pool.sets(tmp_path / "digits" / f"{recipe}-3")
        assert found.keys() == {"source", "same--unseen", *digits.SHIFTS}
        assert all(arrays.keys() == COLUMNS and len(arrays["labels"]) >= 500 for arrays in found.values())
        right = {
            column: pool.accuracy(found["source"][column], found["source"]["labels"])
            for column in COLUMNS - {"labels", "classnames"}
        }
        assert (
            min(right["logits"], right["reference"], right["reference_kin"])
            > 0.85
            > 0.5
            > right["reference_weak"]
            > 0.1
        )
        assert not np.array_equal(found["source"]["logits"], found["source"]["reference_kin"])


def test_parts_share_no_picture():
    sets = digits.image_sets(0)
    pictures = [picture.tobytes() for name in (*digits.PARTS, "same--unseen") for picture in sets[name][0]]
    assert len(pictures) == 1_797 == len(set(pictures))


def test_shifts_are_the_same_every_time():
    once, again = digits.image_sets(1), digits.image_sets(1)
    assert all(np.array_equal(once[name][0], again[name][0]) for name in digits.SHIFTS)
    assert not np.array_equal(once["source"][1], digits.image_sets(2)["source"][1])


@pytest.mark.parametrize("name", digits.SHIFTS)
def test_spoiled_pictures_are_pictures(name):
    sets = digits.image_sets(0)
    pictures, (whole, _) = sets[name][0], sets["same--unseen"]
    assert pictures.shape == whole.shape and pictures.min() >= 0 and pictures.max() <= 1
    assert not np.array_equal(pictures, whole)


def test_a_move_and_an_occlusion_by_hand():
    picture = np.arange(1, 5.0).reshape(1, 2, 2)
    assert spoiling.moved(picture, None, right=1)[0].tolist() == [[0, 1], [0, 3]]
    assert spoiling.moved(picture, None, down=-1)[0].tolist() == [[3, 4], [0, 0]]
    covered = spoiling.occluded(np.ones((1, 5, 5)), np.random.default_rng(0), side=2)
    assert covered.sum() == 25 - 4
