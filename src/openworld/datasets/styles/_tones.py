"""Styles that change colours and leave shapes alone."""

import numpy as np

from openworld.datasets.styles._parts import LUMA, luma, smooth
from openworld.datasets.styles._style import Draws, Style, unit

_TO_YIQ = np.array([LUMA, [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]])
_POSTERS = np.array(
    [
        [[0.11, 0.05, 0.35], [0.93, 0.11, 0.41], [1.00, 0.55, 0.15], [1.00, 0.94, 0.31]],
        [[0.05, 0.16, 0.30], [0.00, 0.55, 0.62], [0.98, 0.44, 0.53], [1.00, 0.93, 0.73]],
        [[0.20, 0.00, 0.20], [0.55, 0.13, 0.75], [0.20, 0.80, 0.60], [0.92, 1.00, 0.35]],
        [[0.07, 0.07, 0.07], [0.86, 0.10, 0.14], [0.16, 0.60, 0.92], [0.98, 0.97, 0.90]],
    ]
)
"""Four inks, dark to bright, for each of four posters."""


def _monochrome(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    return np.repeat(luma(pixels)[..., None], 3, axis=2)


def _recolour(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    """Turn all hues by one angle between a sixth and five sixths of the circle; brightness stays."""
    angle = draws.uniform(np.pi / 3, 5 * np.pi / 3)
    sine, cosine = np.sin(angle), np.cos(angle)
    turn = np.array([[1, 0, 0], [0, cosine, -sine], [0, sine, cosine]])
    return pixels @ (np.linalg.inv(_TO_YIQ) @ turn @ _TO_YIQ).T


def _posterise(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    """Three levels of each channel."""
    return np.round(2 * smooth(pixels, 3 * unit(pixels))) / 2


def _pop_art(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    """Four inks of a random poster for four steps of brightness."""
    grey = luma(smooth(pixels, 2 * unit(pixels)))
    cuts = np.linspace(grey.min(), grey.max(), 5)[1:-1]
    return _POSTERS[draws.permutation(len(_POSTERS))[0]][np.searchsorted(cuts, grey)]


def _film_noir(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    """Hard grey with dark corners and grain."""
    grey = luma(pixels)
    rows, columns = np.indices(grey.shape)
    middle = [(length - 1) / 2 for length in grey.shape]
    away = np.hypot((rows - middle[0]) / grey.shape[0], (columns - middle[1]) / grey.shape[1]) * np.sqrt(2)
    hard = 1 / (1 + np.exp(-9 * (grey - 0.55)))
    dark = hard * (1 - 0.85 * away**1.5) + draws.normal(0, 0.03, grey.shape)
    return np.repeat(dark[..., None], 3, axis=2)


MONOCHROME = Style("tone", "a monochrome picture of a {}.", _monochrome)
RECOLOUR = Style("tone", "a picture of a {} in the wrong colours.", _recolour, random=True)
POSTERISE = Style("tone", "a flat poster of a {}.", _posterise)
POP_ART = Style("tone", "pop art of a {}.", _pop_art, random=True)
FILM_NOIR = Style("tone", "a dark film noir picture of a {}.", _film_noir, random=True)
