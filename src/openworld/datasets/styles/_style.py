"""What a style is: a formula that redraws a picture, and the sentence that says how it then looks."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from openworld.datasets.corruptions._corruption import Draws, as_levels, pixels_of


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
        return as_levels(self.formula(pixels_of(picture, "styles") / 255, draws))


def unit(pixels: np.ndarray) -> float:
    """Return one 64th of the shorter side, in pixels: the measure of all lengths here."""
    return min(pixels.shape[:2]) / 64
