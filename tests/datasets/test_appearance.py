"""How images look: each number answers to its own change, and to no other image."""

import numpy as np
import pytest
from PIL import Image, ImageFilter

from openworld.datasets import ImageSet
from openworld.datasets.appearance import NUMBERS, appearance

PIXELS = (np.random.default_rng(0).random((90, 120, 3)) * 160 + 40).astype(np.uint8)
PLAIN = Image.fromarray(PIXELS)


def numbers(image):
    found = appearance(ImageSet("some", "drawn", ("a", "b"), [0, 0], [0, 1], "two", [PLAIN, image].__getitem__))
    assert found.dtype == np.float32 and found.shape == (2, len(NUMBERS)) and np.isfinite(found).all()
    return dict(zip(NUMBERS, found[1] - found[0], strict=True))


def channels(image, **changes):
    bands = [image.getchannel(band).point(changes.get(band, lambda value: value)) for band in "RGB"]
    return Image.merge("RGB", bands)


CHANGES = {  # name -> sign of its change, and a change of the image
    "brightness": (1, lambda image: image.point(lambda value: value + 30)),
    "contrast": (-1, lambda image: image.point(lambda value: value // 2 + 60)),
    "red against green": (1, lambda image: channels(image, R=lambda value: value + 40)),
    "blue against yellow": (-1, lambda image: channels(image, B=lambda value: value // 2)),
    "colour contrast": (-1, lambda image: image.convert("L")),
    "sharpness": (-1, lambda image: image.filter(ImageFilter.GaussianBlur(3))),
    "grain": (-1, lambda image: image.filter(ImageFilter.GaussianBlur(3))),
    "shape": (1, lambda image: image.resize((240, 90))),
    "size": (1, lambda image: image.resize((240, 180))),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_each_number_answers_to_its_own_change(name):
    sign, change = CHANGES[name]
    found = numbers(change(PLAIN))
    assert sign * found[name] > 0.01
    assert numbers(PLAIN) == dict.fromkeys(NUMBERS, 0.0)
    assert numbers(Image.new("L", (1, 1)))["size"] < 0  # of one grey pixel, too
