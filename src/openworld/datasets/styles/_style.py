"""What a style is: a formula that redraws a picture, and the sentence that says how it then looks."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PIL import Image

from openworld._errors import OpenworldError
from openworld.datasets.corruptions._corruption import as_levels

SMALLEST = 16
"""Pixels that either side of a picture needs: with fewer, lines and pieces are thinner than a pixel."""

Draws = np.random.Generator | np.random.RandomState
"""Where randomness comes from; only methods that both kinds have are called."""


@dataclass(frozen=True, eq=False)
class Style:
    """A look.

    Args:
        group: "tone", "line", "piece" or "paint".
        sentence: what a picture in it shows, `{}` in the place of the class name.
        formula: (pixels float64[H, W, 3] in [0, 1], draws) -> pixels of the same shape, of any range.
        random: whether the formula draws.
    """

    group: str
    sentence: str
    formula: Callable[[np.ndarray, Draws], np.ndarray]
    random: bool = False

    def __call__(self, picture, draws: Draws) -> np.ndarray:
        """The picture in this style.

        Args:
            picture: uint8[H, W, 3], or a PIL picture of any mode; either side of at least 16 pixels.
            draws: numpy Generator or RandomState; consumed.

        Returns:
            uint8[H, W, 3], rounded to the nearest level.

        Raises:
            OpenworldError: another shape, type or size.
        """
        pixels = _pixels(picture)
        return as_levels(self.formula(pixels / 255, draws))


def unit(pixels: np.ndarray) -> float:
    """Return one 64th of the shorter side, in pixels: the measure of all lengths here."""
    return min(pixels.shape[:2]) / 64


def _pixels(picture) -> np.ndarray:
    if isinstance(picture, Image.Image):
        picture = np.asarray(picture.convert("RGB"))
    if not isinstance(picture, np.ndarray) or picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3:
        came = f"{picture.dtype}{list(picture.shape)}" if isinstance(picture, np.ndarray) else type(picture).__name__
        raise OpenworldError(f"the image is {came}, expected uint8[H, W, 3] or a PIL image.")
    if min(picture.shape[:2]) < SMALLEST:
        height, width = picture.shape[:2]
        raise OpenworldError(f"the image has {width} x {height} pixels; styles need {SMALLEST} either way.")
    return picture
