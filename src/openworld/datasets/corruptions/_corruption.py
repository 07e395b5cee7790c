"""What a corruption is: a formula, and its published parameters for five severities at three sizes of pictures."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PIL import Image

from openworld._errors import OpenworldError

SEVERITIES = (1, 2, 3, 4, 5)
SIDES = (32, 64, 224)
"""Sides of the pictures that parameters were published for: CIFAR-10-C, Tiny-ImageNet-C, ImageNet-C."""
SMALLEST = 16
"""Pixels that either side of a picture needs: the widest kernel looks 10 of them away."""

Draws = np.random.Generator | np.random.RandomState
"""Where randomness comes from; only methods that both kinds have are called."""


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

    def __call__(self, picture, severity: int, draws: Draws, *, side: int | None = None) -> np.ndarray:
        """Return an image (PIL, or uint8[H, W, 3], 16 pixels each way or more) corrupted, uint8[H, W, 3].

        `draws`, a NumPy Generator or RandomState, is consumed. `side`, one of SIDES, says whose parameters to take;
        None is the nearest to the shorter side. Raises OpenworldError for another shape, type or size, severity or
        side.
        """
        pixels = pixels_of(picture, "corruptions")
        if severity not in SEVERITIES:
            raise OpenworldError(f"severity is {severity!r}; corruptions have the severities 1 to 5.")
        side = nearest_side(*pixels.shape[:2]) if side is None else side
        if side not in SIDES:
            raise OpenworldError(f"side is {side!r}; parameters are published for the sides 32, 64 and 224.")
        found = self.formula(pixels / 255, draws, *self.parameters[side][severity - 1])
        return as_levels(found)


def nearest_side(height: int, width: int) -> int:
    """Return which of SIDES is nearest, as a ratio, to the shorter side of an image."""
    return min(SIDES, key=lambda side: abs(math.log(min(height, width) / side)))


def as_levels(pixels: np.ndarray) -> np.ndarray:
    """Return pixels in [0, 1] as uint8, rounded; what lies outside is clipped."""
    return (np.clip(pixels, 0, 1) * 255 + 0.5).astype(np.uint8)


def pixels_of(picture, what: str) -> np.ndarray:
    """Return an image as uint8[H, W, 3]; `what` needs it, for the message."""
    if isinstance(picture, Image.Image):
        picture = np.asarray(picture.convert("RGB"))
    if not isinstance(picture, np.ndarray) or picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3:
        came = f"{picture.dtype}{list(picture.shape)}" if isinstance(picture, np.ndarray) else type(picture).__name__
        raise OpenworldError(f"the image is {came}, expected uint8[H, W, 3] or a PIL image.")
    if min(picture.shape[:2]) < SMALLEST:
        height, width = picture.shape[:2]
        raise OpenworldError(f"the image has {width} x {height} pixels; {what} need {SMALLEST} either way.")
    return picture
