"""A styled image set: what it keeps, what its images depend on."""

import pickle

import numpy as np
import pytest

from openworld import datasets
from openworld.core.errors import OpenworldError
from openworld.datasets.styles import STYLES, restyled, styled


@pytest.fixture(scope="module")
def images():
    return datasets.load("emoji-groups", domain="noto-v1").subset(range(0, 60, 5))


def test_it_keeps_all_but_the_images(images):
    blue = styled(images, "blueprint")
    assert (blue.name, blue.domain, blue.classnames) == (images.name, "noto-v1 blueprint", images.classnames)
    assert np.array_equal(blue.labels, images.labels) and np.array_equal(blue.groups, images.groups)
    assert blue.image(3) != images.image(3)


def test_every_condition_has_a_fingerprint_of_its_own(images):
    found = [styled(images, name).fingerprint for name in STYLES]
    found += [styled(images, "sketch", seed=1).fingerprint, restyled(images, ("sketch", "neon")).fingerprint]
    found += [restyled(images, ("neon", "sketch")).fingerprint, images.fingerprint]
    assert len(set(found)) == len(found)


def test_several_styles_stand_image_by_image_wherever_it_stands(images):
    names = ("neon", "sketch", "papercut")
    every = pickle.loads(pickle.dumps(restyled(images, names, seed=4)))
    assert every.domain == "noto-v1 in 3 styles"
    for place, name in enumerate(names):
        alone = styled(images.subset([7, 2]), name, seed=4)
        assert every.image(2 * 3 + place) == alone.image(1)
        assert every.labels[2 * 3 + place] == alone.labels[1]
        assert every.groups[2 * 3 + place] == alone.groups[1]


@pytest.mark.parametrize(
    ("names", "seed", "message"),
    [
        (("blue print",), 0, "did you mean 'blueprint'"),
        (("neon", "neon"), 0, "each once"),
        ((), 0, "one or more"),
        (("neon",), -1, "seed: -1 came"),
    ],
)
def test_wrong_requests_are_refused(images, names, seed, message):
    with pytest.raises(OpenworldError, match=message):
        restyled(images, names, seed=seed)
