"""Corruptions by name, and an image set seen through one: its fingerprint lets its features be kept."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from PIL import Image

from openworld._arrays import require_at_least
from openworld._errors import OpenworldError, unknown_name
from openworld._plain import facts
from openworld.datasets.corruptions import _formulas, _weather
from openworld.datasets.corruptions._corruption import SEVERITIES, SMALLEST, Corruption
from openworld.datasets.image_set import ImageSet, file_of

_FORMULAS = {
    "gaussian_noise": ("noise", _formulas.gaussian_noise),
    "shot_noise": ("noise", _formulas.shot_noise),
    "impulse_noise": ("noise", _formulas.impulse_noise),
    "defocus_blur": ("blur", _formulas.defocus_blur),
    "glass_blur": ("blur", _formulas.glass_blur),
    "motion_blur": ("blur", _formulas.motion_blur),
    "zoom_blur": ("blur", _formulas.zoom_blur),
    "snow": ("weather", _weather.snow),
    "frost": ("weather", _weather.frost),
    "fog": ("weather", _weather.fog),
    "brightness": ("weather", _weather.brightness),
    "contrast": ("digital", _formulas.contrast),
    "elastic_transform": ("digital", _formulas.elastic_transform),
    "pixelate": ("digital", _formulas.pixelate),
    "jpeg_compression": ("digital", _formulas.jpeg_compression),
    "speckle_noise": ("noise", _formulas.speckle_noise),
    "gaussian_blur": ("blur", _formulas.gaussian_blur),
    "spatter": ("weather", _weather.spatter),
    "saturate": ("digital", _formulas.saturate),
}
_WIDE = 244 / 224  # the published code multiplies by 244, a slip for 224 that all published images carry


def _parameters() -> dict[str, dict[int, tuple[tuple, ...]]]:
    """Return name -> side of the images -> what a formula takes at each severity."""
    found = {
        name: {int(side): tuple(map(tuple, each)) for side, each in sides.items()}
        for name, sides in facts("openworld.datasets", "corruptions/parameters.toml").items()
    }
    elastic = found["elastic_transform"]
    elastic[224] = tuple(tuple(_WIDE * share for share in shares) for shares in elastic[224])
    return found


PARAMETERS = _parameters()
CORRUPTIONS: dict[str, Corruption] = {
    name: Corruption(group, formula, PARAMETERS[name], held_out=place >= 15)
    for place, (name, (group, formula)) in enumerate(_FORMULAS.items())
}
"""Name -> corruption, the fifteen of ImageNet-C first, then its four held out."""

VERSION = 2
"""Part of every fingerprint: raise it when the same picture, name, severity and seed give other pixels."""

_MARGIN = 8 / 7
"""ImageNet-C scales the shorter side to 256 pixels before it cuts 224."""


def corrupted(images: ImageSet, name: str, severity: int, *, seed: int = 0, cut: int | None = None) -> ImageSet:
    """Return the same images, corrupted when they are read (Hendrycks and Dietterich, 2019, section 3).

    What an image becomes depends on its pixels, the corruption (a key of CORRUPTIONS), the severity (1 to 5) and the
    seed (from 0), not on its place: a subset of a corrupted set is the corrupted subset. With `cut`, at least 16, every
    image is first scaled to a shorter side of 8/7 of it (bilinear) and its middle square cut, as ImageNet-C does with
    224. Raises OpenworldError for values outside these, and on reading for an image below 16 pixels.
    """
    if name not in CORRUPTIONS:
        raise unknown_name("corruption", name, CORRUPTIONS)
    if severity not in SEVERITIES:
        raise OpenworldError(f"severity is {severity!r}; corruptions have the severities 1 to 5.")
    require_at_least(0, seed=seed)
    require_at_least(SMALLEST, cut=SMALLEST if cut is None else cut)
    recipe = f"{VERSION} {name} {severity} {seed} {cut}"
    return replace(
        images,
        domain=f"{images.domain} {name} {severity}".strip(),
        content=hashlib.sha256(f"{images.content}\0{recipe}".encode()).hexdigest(),
        read=_Corrupted(images.read, name, severity, seed, cut),
    )


@dataclass(frozen=True)
class _Corrupted:
    """Reads and corrupts; a class, not a closure, so that it travels between processes."""

    read: Callable[[int], Image.Image]
    name: str
    severity: int
    seed: int
    cut: int | None

    def __call__(self, index: int) -> Image.Image:
        picture = self.read(index).convert("RGB")
        if self.cut is not None:
            picture = middle_square(picture, self.cut)
        draws = draws_of(picture, f"{self.name} {self.severity} {self.seed}")
        return Image.fromarray(CORRUPTIONS[self.name](picture, self.severity, draws))

    def file_of(self, index: int) -> str | None:
        """The path of the picture as it was, if it has one."""
        return file_of(self.read, index)


def middle_square(picture: Image.Image, side: int) -> Image.Image:
    """The middle `side` x `side` pixels of a picture whose shorter side is scaled to 8/7 of that."""
    ratio = side * _MARGIN / min(picture.size)
    width, height = (max(side, round(length * ratio)) for length in picture.size)
    left, top = (width - side) // 2, (height - side) // 2
    scaled = picture.resize((width, height), Image.Resampling.BILINEAR)
    return scaled.crop((left, top, left + side, top + side))


def draws_of(picture: Image.Image, recipe: str) -> np.random.RandomState:
    """Return the random numbers that follow from an RGB image and a recipe alone."""
    digest = hashlib.sha256(recipe.encode() + b"\0" + picture.tobytes()).digest()
    # RandomState, because its numbers are promised never to change (NEP 19); those of a Generator may.
    return np.random.RandomState(np.frombuffer(digest, "<u4"))
