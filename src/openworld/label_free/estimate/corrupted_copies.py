"""Corrupted copies of labelled images: labelled shifts for everybody who has images and a model.

Four families of corruptions, two of each, mild and strong. What is learned on them holds for corruptions; styles and
new kinds of objects do more to a model than they (`openworld.estimators.quote.learned_shifts`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from PIL import Image

from openworld.datasets import ImageSet
from openworld.datasets.corruptions import corrupted
from openworld.datasets.image_set import file_of

FAMILIES = {
    "noise": ("gaussian_noise", "impulse_noise"),
    "blur": ("defocus_blur", "motion_blur"),
    "weather": ("fog", "snow"),
    "digital": ("contrast", "pixelate"),
}
SEVERITIES = (2, 5)
MOST = 500  # images of a copy: with more, the time grows and what is learned hardly changes
SIDE = 256  # pixels of the shorter side, to which larger images are scaled: corruptions are made for such images


def corrupted_copies(images: ImageSet, seed: int) -> Iterator[tuple[str, ImageSet]]:
    """Yield (family, labelled images) of every copy, all of the same images, 500 at most."""
    if len(images) > MOST:
        images = images.subset(np.sort(np.random.default_rng(seed).choice(len(images), MOST, replace=False)))
    images = replace(images, content=f"{images.content} at most {SIDE}", read=_AtMost(images.read))
    for family, names in FAMILIES.items():
        for name in names:
            for severity in SEVERITIES:
                yield family, corrupted(images, name, severity, seed=seed)


@dataclass(frozen=True)
class _AtMost:
    """Reads an image, and scales it down where it is larger than `SIDE`."""

    read: Callable[[int], Image.Image]

    def __call__(self, index: int) -> Image.Image:
        image = self.read(index)
        ratio = SIDE / min(image.size)
        if ratio >= 1:
            return image
        width, height = (max(SIDE, round(length * ratio)) for length in image.size)
        return image.convert("RGB").resize((width, height), Image.Resampling.BICUBIC)

    def file_of(self, index: int) -> str | None:
        """Return the path of the image as it was, if it has one."""
        return file_of(self.read, index)
