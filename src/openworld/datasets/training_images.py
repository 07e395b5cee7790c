"""Which images a classifier was trained on, sixteen bytes each: to be found again, not to be seen.

Of every image, as the network's preprocessing leaves it, two numbers are kept: a hash of its pixels; and a difference
hash (Krawetz, "Kind of like that", 2013): whether each of 8 x 8 grey cells is brighter than its left neighbour. Copies
in another format or size share that, and drawings of a few strokes by chance: from how many training images share one,
Good and Turing tell how many new images would (Good, 1953); where these are many, it is not asked.
"""

import hashlib
from dataclasses import dataclass

import numpy as np
from PIL import Image

from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr

NEW, ALIKE, SAME = 0, 1, 2
"""What `SeenImages.find` says of an image: not seen, much like one that was, one that was."""

CELLS = 8  # along each side of a difference hash
BY_CHANCE = 0.02  # share of new images that may have a difference hash of the training before none is asked


@dataclass(frozen=True, eq=False)
class SeenImages:
    """The images of a training: hashes of their pixels and difference hashes, each uint64[N]."""

    same: np.ndarray
    alike: np.ndarray

    __repr__ = short_repr

    def __post_init__(self):
        for name in ("same", "alike"):
            hashes = getattr(self, name)
            if hashes.dtype != np.uint64 or hashes.shape != (len(self.same),):
                raise OpenworldError(
                    f"{name} is {hashes.dtype} of shape {hashes.shape}, expected uint64[{len(self.same)}], a hash per "
                    "image."
                )

    def find(self, hashes: np.ndarray) -> np.ndarray:
        """NEW, ALIKE or SAME uint8[n] for images whose `hashes_of` are uint64[n, 2]."""
        images = np.unique(np.stack([self.same, self.alike], axis=1), axis=0)
        alike, counts = np.unique(images[:, 1], return_counts=True)
        # Good and Turing: of new images, 2 n2 / N have a hash that one of N has, where n2 hashes are shared by two.
        by_chance = 2 * (counts == 2).sum() / max(1, len(images))
        # A difference hash tells where one training image alone has it, and new images seldom have one by chance.
        telling = alike[(counts == 1) & (by_chance <= BY_CHANCE)]
        verdicts = np.where(np.isin(hashes[:, 1], telling), ALIKE, NEW)
        return np.where(np.isin(hashes[:, 0], self.same), SAME, verdicts).astype(np.uint8)


def hashes_of(image: Image.Image) -> tuple[int, int]:
    """Return the hash of an image's pixels, and its difference hash; the image is resized and cropped."""
    grey = image.convert("L").resize((CELLS + 1, CELLS), Image.Resampling.BILINEAR)
    cells = np.asarray(grey)
    brighter = np.packbits(cells[:, 1:] > cells[:, :-1]).tobytes()
    pixels = hashlib.blake2b(np.asarray(image.convert("RGB")).tobytes(), digest_size=8).digest()
    return int.from_bytes(pixels, "little"), int.from_bytes(brighter, "little")
