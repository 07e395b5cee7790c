"""Corrupted copies of labelled pictures: labelled shifts for everybody who has pictures and a model.

Four families of corruptions, two of each, mild and strong. What is learned on them holds for corruptions; styles and
new kinds of objects do more to a model than they (`openworld.estimators.quote.learned_shifts`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from PIL import Image

from openworld.applications.estimate.images import Shown
from openworld.datasets.corruptions import corrupted
from openworld.datasets.image_set import file_of

FAMILIES = {
    "noise": ("gaussian_noise", "impulse_noise"),
    "blur": ("defocus_blur", "motion_blur"),
    "weather": ("fog", "snow"),
    "digital": ("contrast", "pixelate"),
}
SEVERITIES = (2, 5)
MOST = 500  # pictures of a copy: with more, the time grows and what is learned hardly changes
SIDE = 256  # pixels of the shorter side, to which larger pictures are scaled: corruptions are made for such pictures


def corrupted_copies(shown: Shown, seed: int) -> list[tuple[str, Shown]]:
    """(family, labelled pictures) of every copy, all of the same pictures.

    Args:
        shown: labelled pictures. seed: of the draw of pictures, where there are more than 500, and of the corruptions.
    """
    images = shown.images
    if len(images) > MOST:
        images = images.subset(np.sort(np.random.default_rng(seed).choice(len(images), MOST, replace=False)))
    images = replace(images, content=f"{images.content} at most {SIDE}", read=_AtMost(images.read))
    return [
        (family, Shown(corrupted(images, name, severity, seed=seed), shown.named))
        for family, names in FAMILIES.items()
        for name in names
        for severity in SEVERITIES
    ]


@dataclass(frozen=True)
class _AtMost:
    """Reads a picture, and scales it down where it is larger than `SIDE`."""

    read: Callable[[int], Image.Image]

    def __call__(self, index: int) -> Image.Image:
        picture = self.read(index)
        ratio = SIDE / min(picture.size)
        if ratio >= 1:
            return picture
        width, height = (max(SIDE, round(length * ratio)) for length in picture.size)
        return picture.convert("RGB").resize((width, height), Image.Resampling.BICUBIC)

    def file_of(self, index: int) -> str | None:
        """The path of the picture as it was, if it has one."""
        return file_of(self.read, index)
