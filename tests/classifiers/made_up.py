"""Images that a small network learns in a second, each class a colour of its own with noise, and settings for it."""

import numpy as np
from PIL import Image

from openworld.classifiers import Recipe
from openworld.datasets import ImageSet

NAMES = ("red", "green", "blue")
SMALL = Recipe(learning_rate=0.05, batch_size=8, epochs=4, side=16, checkpoints=(1, 4))


def image(index: int) -> Image.Image:
    """40 x 36 pixels; image i shows class i modulo 3."""
    pixels = np.random.default_rng(index).integers(0, 120, (36, 40, 3))
    pixels[..., index % 3] += 100
    return Image.fromarray(pixels.astype(np.uint8))


def image_set(count: int = 24, read=image) -> ImageSet:
    """`count` images of three classes, in turns."""
    rows = np.arange(count)
    return ImageSet("colours", "", NAMES, rows % 3, rows, f"colours {count}", read)
