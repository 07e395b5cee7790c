"""Styles of the brush."""

import numpy as np
from scipy import ndimage

from openworld.datasets.styles._parts import colours_at, edges, nearest_points, scattered, smooth, tooth, vivid
from openworld.datasets.styles._style import Draws, Style, unit

_CANVAS = np.array([0.95, 0.92, 0.84])


def _pointillism(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    """Two layers of dots, their colours a little off, on bare canvas."""
    step = unit(pixels)
    found = np.broadcast_to(_CANVAS, pixels.shape)
    for _ in range(2):
        points = scattered(pixels.shape[:2], 2.4 * step, draws)
        paints = vivid(colours_at(pixels, points, 0.5 * step), 1.4) + draws.normal(0, 0.07, points.shape[:1] + (3,))
        distances, numbers = nearest_points(points, pixels.shape[:2])
        found = np.where(distances < 1.25 * step, paints[numbers[..., 0]], found)
    return found


def _watercolour(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    """Pale washes that run over their borders, darker at the rim, on rough paper."""
    step = unit(pixels)
    shape = pixels.shape[:2]
    moves = np.stack([1.2 * step * tooth(shape, 3 * step, draws) for _ in range(2)])
    places = np.indices(shape) + moves
    run = np.stack([ndimage.map_coordinates(pixels[..., one], places, order=1, mode="nearest") for one in range(3)], 2)
    wash = ndimage.gaussian_filter(smooth(run, 5 * step), (0.7 * step, 0.7 * step, 0))
    pooled = 1 - 0.3 * edges(wash, step)[..., None] + 0.06 * tooth(shape, step, draws)[..., None]
    return (0.25 + 0.75 * vivid(wash, 1.1)) * pooled


def _oil_paint(pixels: np.ndarray, draws: Draws) -> np.ndarray:
    """Each pixel takes the mean of that of four neighbouring squares which varies least (Kuwahara et al., 1976)."""
    away = max(1, round(2 * unit(pixels)))
    side = 2 * away + 1  # odd, and moved by half, so that every square holds the pixel
    mean = ndimage.uniform_filter(pixels, (side, side, 1))
    spread = (ndimage.uniform_filter(pixels**2, (side, side, 1)) - mean**2).sum(axis=2)
    moves = [(down, right) for down in (-away, away) for right in (-away, away)]
    calmest = np.argmin([_moved(spread, move) for move in moves], axis=0)
    found = np.choose(calmest[..., None], [_moved(mean, move) for move in moves])
    return vivid(found, 1.3)


def _moved(values: np.ndarray, move: tuple[int, int]) -> np.ndarray:
    """values[r + down, c + right], the border repeated outside."""
    rows, columns = (np.clip(np.arange(size) + by, 0, size - 1) for size, by in zip(values.shape, move, strict=False))
    return values[rows[:, None], columns]


POINTILLISM = Style("paint", "a pointillist painting of a {}.", _pointillism, random=True)
WATERCOLOUR = Style("paint", "a watercolour of a {}.", _watercolour, random=True)
OIL_PAINT = Style("paint", "an oil painting of a {}.", _oil_paint)
