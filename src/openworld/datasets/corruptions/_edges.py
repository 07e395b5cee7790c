"""Edges by Canny's detector, and how far away the nearest is, as spattered water needs them."""

import numpy as np
from scipy.ndimage import correlate1d, distance_transform_edt, label

_TURN = np.tan(np.pi / 8)  # half way between two of the eight directions
_SLANT, _KNIGHT = 1.4, 2.1969


def edges(levels: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return the edges bool[H, W] of grey levels float64[H, W].

    An edge has a slope (the sum of both Sobel differences' sizes) of at least `low`, and hangs together with a place of
    more than `high`.

    Source: Canny (1986), with the tie rules of OpenCV 4, canny.cpp, which the published corruptions call.
    """
    across, down = (_sobel(levels, axis) for axis in (1, 0))
    slope = np.abs(across) + np.abs(down)
    ridge = (slope > low) & _is_ridge(slope, across, down)
    pieces, _ = label(ridge, np.ones((3, 3)))
    return ridge & np.isin(pieces, np.unique(pieces[ridge & (slope > high)]))


def distances(outline: np.ndarray) -> np.ndarray:
    """Return how far each place float64[H, W] is from an outline bool[H, W], in steps of a chess king and knight.

    A step aside is 1, slantwise 1.4, two and one 2.1969. The way leads to the place that is nearest as the crow flies,
    of which another may be nearer in steps by some hundredths of a pixel.

    Source: Borgefors (1986), 5 x 5, with the lengths of OpenCV's distanceTransform, which the published code calls.
    """
    nearest = distance_transform_edt(~outline, return_distances=False, return_indices=True)
    aside = np.abs(nearest - np.indices(outline.shape))
    longer, shorter = aside.max(axis=0), aside.min(axis=0)
    flat = (longer - 2 * shorter) + shorter * _KNIGHT
    steep = (longer - shorter) * _KNIGHT + (2 * shorter - longer) * _SLANT
    return np.where(2 * shorter <= longer, flat, steep)


def _sobel(levels: np.ndarray, axis: int) -> np.ndarray:
    return correlate1d(correlate1d(levels, [-1, 0, 1], axis, mode="nearest"), [1, 2, 1], 1 - axis, mode="nearest")


def _is_ridge(slope: np.ndarray, across: np.ndarray, down: np.ndarray) -> np.ndarray:
    """Whether neither neighbour in the direction of the slope is steeper; of two alike, the first is the ridge."""
    around = np.pad(slope, 1)
    height, width = slope.shape

    def beside(row: int, column: int) -> np.ndarray:
        return around[1 + row : 1 + row + height, 1 + column : 1 + column + width]

    level = (slope > beside(0, -1)) & (slope >= beside(0, 1))
    upright = (slope > beside(-1, 0)) & (slope >= beside(1, 0))
    falling = (slope > beside(-1, -1)) & (slope > beside(1, 1))
    rising = (slope > beside(-1, 1)) & (slope > beside(1, -1))
    slanted = np.where((across < 0) == (down < 0), falling, rising)
    steepness = np.abs(down)
    flat, steep = steepness < _TURN * np.abs(across), steepness > np.abs(across) / _TURN
    return np.where(flat, level, np.where(steep, upright, slanted))
