"""A corrupted image set: what it keeps, what its images depend on, and that its features are kept."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from openworld import datasets
from openworld.core.errors import OpenworldError
from openworld.datasets.corruptions import CORRUPTIONS, corrupted
from openworld.datasets.corruptions.corrupted import draws_of, middle_square

HASHES = """
import hashlib
from openworld import datasets
from openworld.datasets.corruptions import corrupted
from openworld.datasets.styles import STYLES, restyled
images = datasets.load("emoji-groups", domain="noto-v1").subset([25])
drawn = ("impulse_noise", "glass_blur", "motion_blur", "snow", "frost", "fog", "elastic_transform", "spatter")
seen = [corrupted(images, name, 1 + place % 5).image(0) for place, name in enumerate(drawn)]
random = [name for name, style in STYLES.items() if style.random]
seen += [restyled(images, random).image(place) for place in range(len(random))]
hashes = [hashlib.sha256(image.tobytes()).hexdigest() for image in seen]
"""


@pytest.fixture(scope="module")
def images():
    return datasets.load("emoji-groups", domain="noto-v1").subset(range(0, 60, 5))


def pixels(image_set):
    return [np.asarray(image_set.image(index)) for index in range(len(image_set))]


def test_it_keeps_all_but_the_images_and_travels(images):
    foggy = corrupted(images, "fog", 3)
    assert foggy.name == images.name and foggy.domain == "noto-v1 fog 3" and foggy.classnames == images.classnames
    assert np.array_equal(foggy.labels, images.labels) and np.array_equal(foggy.groups, images.groups)
    seen = pixels(foggy)
    assert all((a != b).any() for a, b in zip(seen, pixels(images), strict=True))
    copy = pickle.loads(pickle.dumps(corrupted(images.subset([3]), "fog", 3)))
    assert np.array_equal(pixels(copy)[0], seen[3])


def test_every_condition_has_a_fingerprint_of_its_own(images):
    found = [corrupted(images, name, severity).fingerprint for name in CORRUPTIONS for severity in (1, 2)]
    found += [corrupted(images, "fog", 1, seed=1).fingerprint, corrupted(images, "fog", 1, cut=48).fingerprint]
    found += [images.fingerprint, corrupted(images.subset([0, 1]), "fog", 1).fingerprint]
    assert len(set(found)) == len(found)
    assert corrupted(images, "fog", 1).fingerprint == corrupted(images, "fog", 1).fingerprint


@pytest.mark.parametrize("name", ["gaussian_noise", "glass_blur", "elastic_transform"])
def test_an_image_is_corrupted_alike_wherever_it_stands(images, name):
    chosen = [7, 2, 7]
    one, two, _ = pixels(corrupted(images.subset(chosen), name, 2, seed=5))
    found = pixels(corrupted(images, name, 2, seed=5).subset(chosen))
    assert np.array_equal(found[0], one) and np.array_equal(found[1], two)


def test_images_and_seeds_draw_apart():
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


def test_another_process_makes_the_same_images():
    here = {}
    exec(HASHES, here)
    told = subprocess.run([sys.executable, "-c", HASHES + "print(*hashes)"], capture_output=True, text=True, check=True)
    assert told.stdout.split() == here["hashes"]


def test_a_cut_is_imagenet_cs():
    rows, columns = np.mgrid[:256, :400]
    image = Image.fromarray(np.stack([rows % 256, columns % 256, 0 * rows], axis=2).astype(np.uint8))
    found = np.asarray(middle_square(image, 224))
    assert found.shape == (224, 224, 3)
    assert found[0, 0].tolist() == [16, 88, 0]
    assert np.asarray(middle_square(image.resize((100, 64)), 56)).shape == (56, 56, 3)


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
    found = draws_of(Image.new("RGB", (2, 2)), "fog 1 0")
    assert found.normal() == pytest.approx(0.08729178612698103, abs=1e-12)
