"""The training augmentation of CoOp and its kin: random resized crop and horizontal flip (Zhou et al., 2022).

Scale 0.08 to 1 of the area, aspect ratio 3/4 to 4/3, bicubic, flip with probability one half: the defaults of
KaiyangZhou/CoOp @ ff61507. The draw comes from the generator given, so a view can be made again.
"""

import math
from typing import Annotated

import numpy as np
from PIL import Image, ImageOps

from openworld.core.arrays import MOST
from openworld.core.errors import OpenworldError
from openworld.core.types import Range, Share, checked

_RATIO = (3 / 4, 4 / 3)
_ATTEMPTS = 10


@checked
def random_resized_crop(
    image: Image.Image,
    size: Annotated[int, Range(1, MOST["side"])],
    generator: np.random.Generator,
    *,
    scale: tuple[float, float] = (0.08, 1.0),
    flip: Share = 0.5,
) -> Image.Image:
    """One augmented view of `image`.

    Args:
        image: PIL image, any mode.
        size: side of the square result, pixels.
        generator: source of randomness; consumed.
        scale: smallest and largest share of the area that a crop keeps, in (0, 1].
        flip: probability of a horizontal flip, in [0, 1].

    Raises:
        OpenworldError: a number outside its range.

    Returns:
        PIL image of `size` x `size`, same mode.

    >>> random_resized_crop(Image.new("RGB", (8, 6)), 4, np.random.default_rng(0)).size
    (4, 4)
    """
    smallest, largest = scale
    if not 0 < smallest <= largest <= 1:
        raise OpenworldError(
            f"scale is {smallest:g} to {largest:g}, expected two shares of the area in order, in (0, 1]."
        )
    box = _crop_box(image.size, scale, generator)
    # Cut, then resized: with `resize(box=...)` the filter would reach over the edges of the crop.
    view = image.crop(box).resize((size, size), Image.Resampling.BICUBIC)
    return ImageOps.mirror(view) if generator.random() < flip else view


def _crop_box(image_size, scale, generator) -> tuple[int, int, int, int]:
    width, height = image_size
    low, high = math.log(_RATIO[0]), math.log(_RATIO[1])
    for _ in range(_ATTEMPTS):
        area = width * height * generator.uniform(*scale)
        ratio = math.exp(generator.uniform(low, high))
        crop_width, crop_height = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < crop_width <= width and 0 < crop_height <= height:
            left = int(generator.integers(0, width - crop_width + 1))
            top = int(generator.integers(0, height - crop_height + 1))
            return left, top, left + crop_width, top + crop_height
    # The largest central crop whose aspect ratio is allowed: what remains when no draw fits a very long image.
    crop_width = min(width, round(height * _RATIO[1]))
    crop_height = min(height, round(width / _RATIO[0]))
    left, top = (width - crop_width) // 2, (height - crop_height) // 2
    return left, top, left + crop_width, top + crop_height
