"""Corruptions: formulas with published parameters for five severities and three sizes; image sets seen through one."""

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

import numpy as np
from PIL import Image

from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.plain_files import facts
from openworld.core.types import Range, checked
from openworld.datasets.corruptions import _formulas, _weather
from openworld.datasets.corruptions._formulas import SMALLEST, Draws, as_levels, pixels_of
from openworld.datasets.image_set import ImageSet

SEVERITIES = (1, 2, 3, 4, 5)
SIDES = (32, 64, 224)
"""Sides of the images that parameters were published for: CIFAR-10-C, Tiny-ImageNet-C, ImageNet-C."""


@dataclass(frozen=True, eq=False)
class Corruption:
    """A corruption of images in five severities (Hendrycks and Dietterich, 2019).

    The formula takes (pixels float64[H, W, 3] in [0, 1], draws, *parameters) to pixels of that shape, of any range.
    Parameters are five tuples for each of SIDES.
    """

    group: str  # "noise", "blur", "weather" or "digital"
    formula: Callable[..., np.ndarray]
    parameters: dict[int, tuple[tuple, ...]]
    held_out: bool = False  # ImageNet-C keeps four for choosing settings, apart from its fifteen

    def __call__(self, image, severity: int, draws: Draws, *, side: int | None = None) -> np.ndarray:
        """Return an image (PIL, or uint8[H, W, 3], 16 pixels each way or more) corrupted, uint8[H, W, 3].

        `draws`, a NumPy Generator or RandomState, is consumed. `side`, one of SIDES, says whose parameters to take;
        None is the nearest to the shorter side. Raises OpenworldError for another shape, type or size, severity or
        side.
        """
        pixels = pixels_of(image, "corruptions")
        if severity not in SEVERITIES:
            raise OpenworldError(f"severity is {severity!r}; corruptions have the severities 1 to 5.")
        side = nearest_side(*pixels.shape[:2]) if side is None else side
        if side not in SIDES:
            raise OpenworldError(f"side is {side!r}; parameters are published for the sides 32, 64 and 224.")
        filtered = self.formula(pixels / 255, draws, *self.parameters[side][severity - 1])
        return as_levels(filtered)


def nearest_side(height: int, width: int) -> int:
    """Return which of SIDES is nearest, as a ratio, to the shorter side of an image."""
    return min(SIDES, key=lambda side: abs(math.log(min(height, width) / side)))


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


PARAMETERS: dict[str, dict[int, tuple[tuple, ...]]] = {
    name: {int(side): tuple(map(tuple, each)) for side, each in sides.items()}
    for name, sides in facts("openworld.datasets", "corruptions/parameters.toml").items()
}
_ELASTIC = PARAMETERS["elastic_transform"]
_ELASTIC[224] = tuple(tuple(_WIDE * share for share in shares) for shares in _ELASTIC[224])
CORRUPTIONS: dict[str, Corruption] = {
    name: Corruption(group, formula, PARAMETERS[name], held_out=place >= 15)
    for place, (name, (group, formula)) in enumerate(_FORMULAS.items())
}
"""Name -> corruption, the fifteen of ImageNet-C first, then its four held out."""

VERSION = 2
"""Part of every fingerprint: raise it when the same image, name, severity and seed give other pixels."""

_MARGIN = 8 / 7
"""ImageNet-C scales the shorter side to 256 pixels before it cuts 224."""


@checked
def corrupted(
    images: ImageSet, name: str, severity: int, *, seed: int = 0, cut: Annotated[int, Range(SMALLEST)] | None = None
) -> ImageSet:
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
    recipe = f"{VERSION} {name} {severity} {seed} {cut}"
    return replace(
        images,
        domain=f"{images.domain} {name} {severity}".strip(),
        content=hashlib.sha256(f"{images.content}\0{recipe}".encode()).hexdigest(),
        read=partial(read_corrupted, images.read, name, severity, seed, cut),
        columns={key: column for key, column in images.columns.items() if key == "path"},
    )


def read_corrupted(
    read: Callable[[int], Image.Image], name: str, severity: int, seed: int, cut: int | None, index: int
) -> Image.Image:
    image = read(index).convert("RGB")
    if cut is not None:
        image = middle_square(image, cut)
    return Image.fromarray(CORRUPTIONS[name](image, severity, draws_of(image, f"{name} {severity} {seed}")))


def middle_square(image: Image.Image, side: int) -> Image.Image:
    ratio = side * _MARGIN / min(image.size)
    width, height = (max(side, round(length * ratio)) for length in image.size)
    left, top = (width - side) // 2, (height - side) // 2
    scaled = image.resize((width, height), Image.Resampling.BILINEAR)
    return scaled.crop((left, top, left + side, top + side))


def draws_of(image: Image.Image, recipe: str) -> np.random.RandomState:
    """Return the random numbers that follow from an RGB image and a recipe alone."""
    digest = hashlib.sha256(recipe.encode() + b"\0" + image.tobytes()).digest()
    # RandomState, because its numbers are promised never to change (NEP 19); those of a Generator may.
    return np.random.RandomState(np.frombuffer(digest, "<u4"))
