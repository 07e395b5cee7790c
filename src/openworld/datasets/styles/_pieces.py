"""Styles that put a picture together from pieces."""

import numpy as np
from PIL import Image
from scipy import ndimage

from openworld.datasets.styles._parts import few_colours, means, nearest_points, scattered, smooth, tooth, vivid
from openworld.datasets.styles._style import Draws, Style, unit


def _papercut(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    """Sheets of coloured paper, the darker above the brighter, each with a shadow on those below."""
    step = unit(pixels)
    numbers, colours = few_colours(smooth(pixels, 5 * step), 7)
    found = np.broadcast_to(colours[0], pixels.shape).copy()
    for number in range(1, len(colours)):
        sheet = (numbers >= number).astype(float)
        shadow = ndimage.gaussian_filter(ndimage.shift(sheet, 1.5 * step, order=1, mode="nearest"), 1.2 * step)
        found *= 1 - 0.5 * shadow[..., None]
        found = np.where(sheet[..., None] > 0, vivid(colours[number], 1.3), found)
    return found * (1 + 0.02 * tooth(numbers.shape, 0.4 * step, draws)[..., None])


def _pixel_art(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    """Sixteen squares along the shorter side, in eight colours."""
    height, width = pixels.shape[:2]
    size = tuple(max(1, round(length / (4 * unit(pixels)))) for length in (width, height))
    channels = [
        Image.fromarray(pixels[..., one].astype(np.float32)).resize(size, Image.Resampling.BOX) for one in range(3)
    ]
    numbers, colours = few_colours(np.stack([np.asarray(one, float) for one in channels], axis=2), 8)
    rows, columns = (np.arange(length) * cells // length for length, cells in ((height, size[1]), (width, size[0])))
    return vivid(colours, 1.2)[numbers[rows[:, None], columns]]


def _stained_glass(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    """Panes of one colour each, joined by lead."""
    step = unit(pixels)
    points = scattered(pixels.shape[:2], 6 * step, draws)
    distances, numbers = nearest_points(points, pixels.shape[:2], 2)
    panes = vivid(means(pixels, numbers[..., 0], len(points)), 1.8)[numbers[..., 0]]
    lit = panes * (1.05 - 0.15 * distances[..., :1] / (6 * step))
    return np.where(distances[..., 1:] - distances[..., :1] < 1.1 * step, 0.08, lit)


def _cross_stitch(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    """Crosses of twelve colours of thread on pale cloth."""
    cell = max(4, round(5 * unit(pixels)))
    rows, columns = np.indices(pixels.shape[:2])
    across = -(-pixels.shape[1] // cell)
    squares = rows // cell * across + columns // cell
    numbers, colours = few_colours(means(pixels, squares, int(squares.max()) + 1)[squares], 12)
    y, x = (rows % cell + 0.5) / cell, (columns % cell + 0.5) / cell
    thread = np.minimum(abs(y - x), abs(y + x - 1))
    cloth = np.array([0.93, 0.90, 0.84]) * np.where((x < 1 / cell) | (y < 1 / cell), 0.9, 1)[..., None]
    return np.where((thread < 0.3)[..., None], colours[numbers] * (1 - thread[..., None]), cloth)


PAPERCUT = Style("piece", "a papercut of a {}.", _papercut, random=True)
PIXEL_ART = Style("piece", "pixel art of a {}.", _pixel_art)
STAINED_GLASS = Style("piece", "a stained glass window of a {}.", _stained_glass, random=True)
CROSS_STITCH = Style("piece", "a cross stitch of a {}.", _cross_stitch)
