"""Styles of lines."""

import numpy as np
from scipy import ndimage

from openworld.datasets.styles._parts import edges, luma, smooth, tooth, vivid
from openworld.datasets.styles._style import Draws, Style, unit

_INK, _PAPER = np.array([0.13, 0.13, 0.16]), np.array([0.98, 0.97, 0.94])
_BLUE, _GRID = np.array([0.06, 0.20, 0.48]), np.array([0.20, 0.36, 0.64])


def _line_art(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    """Thin black lines on white."""
    line = _sharp(edges(pixels, 0.7 * unit(pixels)), 0.22)
    return np.repeat(1 - line[..., None], 3, axis=2)


def _sketch(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    """Pencil: grey divided by its blur leaves lines, strokes at 45 degrees darken the shadows."""
    step, grey = unit(pixels), luma(pixels)
    lines = np.minimum(1, (grey + 0.04) / (ndimage.gaussian_filter(grey, 2 * step) + 0.04))
    strokes = _strokes(grey.shape, step, draws)
    shade = 1 - 0.55 * np.clip(1 - grey - 0.15, 0, 1) * (strokes > 0)
    drawn = np.minimum(lines**2, shade) + 0.02 * tooth(grey.shape, 0.5 * step, draws)
    return _INK + np.clip(drawn, 0, 1)[..., None] * (_PAPER - _INK)


def _blueprint(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    """White lines on blue paper with a grid."""
    step = unit(pixels)
    rows, columns = np.indices(pixels.shape[:2])
    ruled = ((rows % (8 * step)) < step) | ((columns % (8 * step)) < step)
    paper = np.where(ruled[..., None], _GRID, _BLUE)
    line = _sharp(edges(pixels, 0.7 * step), 0.18)[..., None]
    return paper * (1 - line) + 0.95 * line


def _neon(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    """Glowing lines in the picture's own colours on black."""
    step = unit(pixels)
    line = _sharp(edges(pixels, 0.8 * step), 0.25)[..., None]
    light = line * vivid(0.35 + 0.65 * ndimage.maximum_filter(pixels, (3, 3, 1)), 3)
    glow = ndimage.gaussian_filter(light, (2 * step, 2 * step, 0))
    return np.array([0.02, 0.01, 0.06]) + light + 0.8 * glow


def _comic_book(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    """Few strong colours, dots in the shade, black lines."""
    step = unit(pixels)
    flat = np.round(3 * vivid(smooth(pixels, 3 * step), 1.6)) / 3
    rows, columns = np.indices(pixels.shape[:2])
    wave = np.pi / (3 * step)
    dots = (np.cos(wave * (rows + columns)) + np.cos(wave * (rows - columns))) / 4 + 0.5
    shade = (dots > 0.35 + 0.65 * luma(smooth(pixels, 3 * step)))[..., None]
    line = _sharp(edges(pixels, 0.7 * step), 0.3)[..., None]
    return flat * np.where(shade, 0.55, 1) * (1 - line)


def _sharp(slope: np.ndarray, middle: float) -> np.ndarray:
    """Slopes pushed towards 0 and 1 around `middle`."""
    return 1 / (1 + np.exp(-18 * (slope - middle)))


def _strokes(shape: tuple[int, int], step: float, draws: Draws) -> np.ndarray:
    """Noise float64[H, W] drawn out along one diagonal."""
    noise = draws.normal(size=shape)
    length = max(3, round(5 * step))
    return ndimage.convolve(ndimage.gaussian_filter(noise, 0.4 * step), np.eye(length)[::-1] / length)


LINE_ART = Style("line", "line art of a {}.", _line_art)
SKETCH = Style("line", "a pencil sketch of a {}.", _sketch, random=True)
BLUEPRINT = Style("line", "a blueprint of a {}.", _blueprint)
NEON = Style("line", "a neon sign of a {}.", _neon)
COMIC_BOOK = Style("line", "a comic book picture of a {}.", _comic_book)
