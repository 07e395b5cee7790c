"""What a style is: a formula that redraws a picture, and the sentence that says how it then looks."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from openworld.datasets.corruptions._corruption import Draws, as_levels, pixels_of


@dataclass(frozen=True, eq=False)
class Style:
    """A look."""

    group: str  # "tone", "line", "piece" or "paint"
    sentence: str  # what an image in it shows, `{}` in the place of the class name
    formula: Callable[[np.ndarray, Draws], np.ndarray]  # pixels float64[H, W, 3] in [0, 1] to that shape, of any range
    random: bool = False  # whether the formula draws

    def __call__(self, picture, draws: Draws) -> np.ndarray:
        """Return an image (PIL, or uint8[H, W, 3], 16 pixels each way or more) in this style, uint8[H, W, 3].

        `draws`, a NumPy Generator or RandomState, is consumed. Raises OpenworldError for another shape, type or size.
        """
        return as_levels(self.formula(pixels_of(picture, "styles") / 255, draws))


def unit(pixels: np.ndarray) -> float:
    """Return one 64th of the shorter side, in pixels: the measure of all lengths here."""
    return min(pixels.shape[:2]) / 64
