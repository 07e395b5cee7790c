"""A styled image set: what it keeps, what its pictures depend on."""

import hashlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

from openworld import datasets
from openworld.core.errors import OpenworldError
from openworld.datasets.styles import STYLES, restyled, styled

ANOTHER = """
import hashlib
from openworld import datasets
from openworld.datasets.styles import STYLES, restyled
images = restyled(datasets.load("emoji-groups", domain="noto-v1").subset([25]), tuple(STYLES))
for number in range(len(images)):
    print(hashlib.sha256(images.image(number).tobytes()).hexdigest())
"""


@pytest.fixture(scope="module")
def images():
    return datasets.load("emoji-groups", domain="noto-v1").subset(range(0, 60, 5))


def test_it_keeps_all_but_the_pictures(images):
    blue = styled(images, "blueprint")
    assert (blue.name, blue.domain, blue.classnames) == (images.name, "noto-v1 blueprint", images.classnames)
    assert np.array_equal(blue.labels, images.labels)
    assert np.array_equal(blue.groups, images.groups)
    assert blue.image(3) != images.image(3)


def test_every_condition_has_a_fingerprint_of_its_own(images):
    found = [styled(images, name).fingerprint for name in STYLES]
    found += [styled(images, "sketch", seed=1).fingerprint, restyled(images, ("sketch", "neon")).fingerprint]
    found += [restyled(images, ("neon", "sketch")).fingerprint, images.fingerprint]
    assert len(set(found)) == len(found)


def test_several_styles_stand_picture_by_picture(images):
    names = ("neon", "sketch", "papercut")
    every = restyled(images, names, seed=4)
    assert every.domain == "noto-v1 in 3 styles"
    for place, name in enumerate(names):
        alone = styled(images, name, seed=4)
        assert every.image(2 * 3 + place) == alone.image(2)
        assert every.labels[2 * 3 + place] == alone.labels[2]
        assert every.groups[2 * 3 + place] == alone.groups[2]


def test_a_subset_of_the_styled_is_the_styled_subset(images):
    assert styled(images.subset([7, 2]), "sketch").image(0) == styled(images, "sketch").image(7)


def test_it_travels_and_draws_the_same_in_another_process(images):
    again = pickle.loads(pickle.dumps(styled(datasets.load("emoji-groups"), "stained glass")))
    assert again.image(0) == styled(datasets.load("emoji-groups"), "stained glass").image(0)
    every = restyled(datasets.load("emoji-groups", domain="noto-v1").subset([25]), tuple(STYLES))
    mine = [hashlib.sha256(every.image(number).tobytes()).hexdigest() for number in range(len(every))]
    printed = subprocess.run([sys.executable, "-c", ANOTHER], capture_output=True, text=True, check=True).stdout
    assert printed.split() == mine


def test_wrong_requests_are_refused(images):
    with pytest.raises(OpenworldError, match="did you mean 'blueprint'"):
        styled(images, "blue print")
    with pytest.raises(OpenworldError, match="each once"):
        restyled(images, ("neon", "neon"))
    with pytest.raises(OpenworldError, match="one or more"):
        restyled(images, ())
    with pytest.raises(OpenworldError, match="seed: -1 came"):
        styled(images, "neon", seed=-1)
