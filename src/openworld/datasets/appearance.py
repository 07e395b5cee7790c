"""How images look, in a few numbers that no model reads: brightness, contrast, colour, sharpness, grain, shape.

They show a change of camera, light or processing that a model does not mind, or does not notice. All but the shape are
of the image at 64 x 64 pixels, which a size alone changes little.
"""

import numpy as np
from PIL import Image

from openworld.datasets.image_set import ImageSet

SIDE = 64
NUMBERS = (
    "brightness",
    "contrast",
    "red against green",
    "blue against yellow",
    "colour contrast",
    "sharpness",
    "grain",
    "shape",
    "size",
)


def appearance(images: ImageSet) -> np.ndarray:
    """Return what `NUMBERS` names of every image, float32[N, 9]."""
    return np.stack([_numbers(images.image(index)) for index in range(len(images))])


def _numbers(image: Image.Image) -> np.ndarray:
    width, height = image.size
    pixels = np.asarray(image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX), np.float32) / 255
    red, green, blue = np.moveaxis(pixels, -1, 0)
    grey, warm, cold = pixels.mean(axis=-1), red - green, blue - (red + green) / 2
    # Laplace's operator; its logarithm, kept finite for a blank image, because sharpness varies by factors.
    edges = 4 * grey[1:-1, 1:-1] - grey[:-2, 1:-1] - grey[2:, 1:-1] - grey[1:-1, :-2] - grey[1:-1, 2:]
    return np.array(
        [
            grey.mean(),
            grey.std(),
            warm.mean(),
            cold.mean(),
            np.hypot(warm.std(), cold.std()),
            np.log(edges.std() + 1e-3),
            np.log(np.median(np.abs(edges)) + 1e-3),
            np.log(width / height),
            np.log(width * height) / 2,
        ],
        np.float32,
    )
