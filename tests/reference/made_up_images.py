"""An image set of made-up images that counts how often they are read."""

import numpy as np
from PIL import Image

from openworld import OpenworldError
from openworld.datasets import ImageSet


def image(index):
    return Image.fromarray(np.random.default_rng(index).integers(0, 255, (40, 36, 3), np.uint8))


class Reader:
    """Reads made-up images, counts them, and fails on the broken ones."""

    def __init__(self, broken=()):
        self.broken, self.count = set(broken), 0

    def __call__(self, index):
        self.count += 1
        if index in self.broken:
            raise OpenworldError(f"image-{index}.png cannot be read.")
        return image(index)


def image_set(reader, count=7, content="made up"):
    labels = np.arange(count) % 3
    return ImageSet("toy", "", ("a", "b", "c"), labels, np.arange(count), content, reader)
