"""A two-tower model whose image features also tell how an image looks, and images in looks to learn that from.

A model that was trained to name things whatever their style forgets the style on its way up; its first blocks still
see it. So the embedding is joined by means and standard deviations over the patches of early activations, which carry
an image's style (Huang and Belongie, 2017, "Arbitrary Style Transfer in Real-time with Adaptive Instance
Normalization"). Texts have no such activations, so LAID is then taught by images of things in looks.
"""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.types import Fraction, checked
from openworld.datasets import ImageSet
from openworld.datasets.corruptions import CORRUPTIONS, corrupted
from openworld.datasets.styles import STYLES, styled
from openworld.features import encode
from openworld.shifts._rows import unit

PLAIN = "plain"

LOOKS = (PLAIN, *STYLES, *(f"{name} 3" for name in CORRUPTIONS))
"""Every look that can be drawn here, none of them picked: the more there are, the better looks of no teacher are seen.

Taught by ten that hide nothing of what is shown, images of known concepts in two black-and-white styles nobody was
taught by were told from those in known styles with an AUROC of .68 and .73 in the covariate half; by all, .83 and .83.
"""


@checked
class AppearanceEncoder:
    """A backbone to encode images with, in the place of the one it wraps; see `openworld.features.encode`.

    Args:
        clip: backbone of `openworld.backbones.load`.
        depths: how many blocks lie below the activations that are looked at, from 0; each once.
        share: of the squared length of a feature that is statistics, in (0, 1); the rest is the embedding.

    Raises:
        OpenworldError: no depth, one twice, one that the tower does not have; a share outside (0, 1).
    """

    def __init__(self, clip: Any, depths: Sequence[int] = (0, 1, 2), share: Fraction = 0.75) -> None:
        layers = clip.config.image.layers
        if not depths or len(set(depths)) < len(depths) or not all(0 <= depth < layers for depth in depths):
            raise OpenworldError(f"depths are {list(depths)}, expected some of 0 to {layers - 1}, each once.")
        self.clip, self.depths, self.share = clip, tuple(depths), share
        self.name, self.config, self.preprocess = f"{clip.name}, looks", clip.config, clip.preprocess

    @property
    def width(self) -> int:
        """How many numbers a feature has."""
        return self.config.joint_dimension + 2 * self.config.image.width * len(self.depths)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.clip.device

    @property
    def dtype(self) -> torch.dtype:
        """The floating type of the weights."""
        return self.clip.dtype

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of the backbone's, the depths and the share."""
        return hashlib.sha256(f"{self.clip.fingerprint} {self.depths} {self.share}".encode()).hexdigest()

    @property
    def preprocess_fingerprint(self) -> str:
        """The backbone's."""
        return self.clip.preprocess_fingerprint

    def encode_image(self, pixels: Tensor) -> Tensor:
        """Pixels float[B, 3, H, W] to features float32[B, `width`] of length 1.

        First the embedding, then mean and standard deviation over the patches at every depth: unit vectors each, times
        the square root of their share.
        """
        patches: dict[int, Tensor] = {}

        def remember(index: int, rows: Tensor) -> Tensor:
            if index in self.depths:
                patches[index] = rows[:, int(self.config.image.class_token) :]
            return rows

        embedding = self.clip.image(pixels, edit=remember)
        rows = [patches[depth].float() for depth in self.depths]
        statistics = [part for numbers in rows for part in (numbers.mean(dim=1), numbers.std(dim=1, correction=0))]
        length = (self.share / len(statistics)) ** 0.5
        return torch.cat([unit(embedding) * (1 - self.share) ** 0.5, *(unit(part) * length for part in statistics)], 1)


@checked
def in_looks(images: ImageSet, looks: Sequence[str] = LOOKS, *, seed: int = 0) -> tuple[ImageSet, ...]:
    """Return the same images in every appearance, an image set each.

    Args:
        images: any. looks: "plain", names of `STYLES`, or of `CORRUPTIONS` with a severity ("fog 3").
        seed: of the draws.
    Raises:
        OpenworldError: an unknown look.

    >>> from PIL import Image
    >>> toy = ImageSet("toy", "", ("cat",), [0], [0], "white", lambda number: Image.new("RGB", (16, 16)))
    >>> [one.domain for one in in_looks(toy, ("plain", "sketch", "fog 3"))]
    ['', 'sketch', 'fog 3']
    """
    return tuple(_in_look(images, look, seed) for look in looks)


@checked
def image_grid(
    clip: Any,
    sets: Sequence[ImageSet],
    *,
    cache: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Tensor:
    """Features of the same things in several looks, for `LAID.fit`: float32[N, looks, D], on the CPU.

    Args:
        clip: a `AppearanceEncoder`, or any backbone.
        sets: a look each, of N images each; image i of every set shows the same thing.
        cache: as in `openworld.features.encode`. progress: called with (looks done, looks in all).
    Raises:
        OpenworldError: sets of several lengths or with other labels; an image that cannot be read.
    """
    labels = [images.labels.tolist() for images in sets]
    if not labels or any(each != labels[0] for each in labels):
        raise OpenworldError("the looks show other things or other numbers of them; give the same things in each.")
    columns = []
    for count, images in enumerate(sets, 1):
        columns.append(torch.from_numpy(encode(clip, images, cache=cache).embeddings[:]))
        if progress:
            progress(count, len(sets))
    return torch.stack(columns, dim=1)


def _in_look(images: ImageSet, look: str, seed: int) -> ImageSet:
    if look == PLAIN:
        return images
    if look in STYLES:
        return styled(images, look, seed=seed)
    name, _, severity = look.rpartition(" ")
    if name not in CORRUPTIONS or not severity.isdigit():
        raise unknown_name("look", look, (PLAIN, *STYLES, *(f"{corruption} 3" for corruption in CORRUPTIONS)))
    return corrupted(images, name, int(severity), seed=seed)
