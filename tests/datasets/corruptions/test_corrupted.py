"""A corrupted image set: what it keeps, what its pictures depend on, and that its features are kept."""

import hashlib
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from openworld import datasets
from openworld.core.errors import OpenworldError
from openworld.datasets.corruptions import CORRUPTIONS, corrupted
from openworld.datasets.corruptions.corrupted import middle_square

ANOTHER = """
import hashlib, json, sys
from openworld import datasets
from openworld.datasets.corruptions import corrupted
images = datasets.load("emoji-groups", domain="noto-v1").subset([25])
for name, severity in json.loads(sys.argv[1]):
    print(hashlib.sha256(corrupted(images, name, severity).image(0).tobytes()).hexdigest())
"""


@pytest.fixture(scope="module")
def images():
    return datasets.load("emoji-groups", domain="noto-v1").subset(range(0, 60, 5))


def pixels(image_set):
    return [np.asarray(image_set.image(index)) for index in range(len(image_set))]


def test_it_keeps_all_but_the_pictures(images):
    foggy = corrupted(images, "fog", 3)
    assert foggy.name == images.name
    assert foggy.domain == "noto-v1 fog 3"
    assert foggy.classnames == images.classnames
    assert np.array_equal(foggy.labels, images.labels)
    assert np.array_equal(foggy.groups, images.groups)
    assert all((a != b).any() for a, b in zip(pixels(foggy), pixels(images), strict=True))


def test_every_condition_has_a_fingerprint_of_its_own(images):
    found = [corrupted(images, name, severity).fingerprint for name in CORRUPTIONS for severity in (1, 2)]
    found += [corrupted(images, "fog", 1, seed=1).fingerprint, corrupted(images, "fog", 1, cut=48).fingerprint]
    found += [images.fingerprint, corrupted(images.subset([0, 1]), "fog", 1).fingerprint]
    assert len(set(found)) == len(found)
    assert corrupted(images, "fog", 1).fingerprint == corrupted(images, "fog", 1).fingerprint


@pytest.mark.parametrize("name", ["gaussian_noise", "glass_blur", "frost", "elastic_transform"])
def test_a_picture_is_corrupted_alike_wherever_it_stands(images, name):
    whole = pixels(corrupted(images, name, 2, seed=5))
    chosen = [7, 2, 7]
    before = pixels(corrupted(images.subset(chosen), name, 2, seed=5))
    after = pixels(corrupted(images, name, 2, seed=5).subset(chosen))
    for place, index in enumerate(chosen):
        assert np.array_equal(before[place], whole[index])
        assert np.array_equal(after[place], whole[index])


def test_pictures_seeds_and_severities_draw_apart(images):
    plain = np.full((32, 32, 3), 128, dtype=np.uint8)
    other = plain.copy()
    other[0, 0] = 129
    pair = datasets.ImageSet(
        "toy", "", ("grey",), [0, 0], [0, 1], "greys", lambda index: Image.fromarray((plain, other)[index])
    )
    first = [corrupted(pair, "gaussian_noise", 1, seed=seed).image(0) for seed in (0, 1)]
    second = corrupted(pair, "gaussian_noise", 1).image(1)
    steps = [np.asarray(one, int)[1:] - 128 for one in (*first, second)]
    for one, another in ((0, 1), (0, 2)):
        assert abs(np.corrcoef(steps[one].ravel(), steps[another].ravel())[0, 1]) < 0.1


def test_it_travels_between_processes(images):
    foggy = corrupted(images, "fog", 2)
    copy = pickle.loads(pickle.dumps(corrupted(images.subset([3]), "fog", 2)))
    assert np.array_equal(pixels(copy)[0], pixels(foggy)[3])


def test_another_process_makes_the_same_pictures(images):
    conditions = [(name, 1 + place % 5) for place, name in enumerate(CORRUPTIONS)]
    told = subprocess.run(
        [sys.executable, "-c", ANOTHER, json.dumps(conditions)], capture_output=True, text=True, check=True
    )
    ours = [hashlib.sha256(pixels(corrupted(images.subset([5]), *one))[0].tobytes()).hexdigest() for one in conditions]
    assert told.stdout.split() == ours


def test_a_cut_is_imagenet_cs():
    rows, columns = np.mgrid[:256, :400]
    picture = Image.fromarray(np.stack([rows % 256, columns % 256, 0 * rows], axis=2).astype(np.uint8))
    found = np.asarray(middle_square(picture, 224))
    assert found.shape == (224, 224, 3)
    assert found[0, 0].tolist() == [16, 88, 0]
    assert np.asarray(middle_square(picture.resize((100, 64)), 56)).shape == (56, 56, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "fogg", "severity": 1}, "did you mean 'fog'"),
        ({"name": "fog", "severity": 0}, "severity is 0"),
        ({"name": "fog", "severity": 1, "seed": -1}, "seed: -1 came"),
        ({"name": "fog", "severity": 1, "cut": 8}, "cut is 8"),
    ],
)
def test_wrong_input_is_refused(images, options, message):
    with pytest.raises(OpenworldError, match=message):
        corrupted(images, **options)


def test_draws_are_those_of_the_day_they_were_written():
    """NumPy promises it; the fingerprint relies on it."""
    from openworld.datasets.corruptions.corrupted import draws_of

    found = draws_of(Image.new("RGB", (2, 2)), "fog 1 0")
    assert found.normal() == pytest.approx(0.08729178612698103, abs=1e-12)
