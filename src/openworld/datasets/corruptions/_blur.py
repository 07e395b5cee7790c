"""Blur: defocus, glass, motion, zoom and Gaussian."""

import numpy as np

from openworld.datasets.corruptions._corruption import Corruption, Draws
from openworld.datasets.corruptions._filters import filtered, moved, smoothed, zoomed


def defocus_blur(pixels: np.ndarray, draws: Draws, radius: float, softness: float) -> np.ndarray:
    """Out of focus: every point becomes a disk."""
    return filtered(pixels, disk(radius, softness))


def disk(radius: float, softness: float) -> np.ndarray:
    """Return a disk float[K, K] of sum 1, its rim softened by a Gaussian of 3 x 3 pixels (5 x 5 above radius 8)."""
    reach, near = (8, 1) if radius <= 8 else (int(radius), 2)
    places = np.arange(-reach, reach + 1)
    inside = (places[:, None] ** 2 + places**2 <= radius**2).astype(float)
    profile = np.exp(-(np.arange(-near, near + 1) ** 2) / (2 * softness**2))
    profile /= profile.sum()
    return filtered(inside[..., None] / inside.sum(), np.outer(profile, profile))[..., 0]


def glass_blur(pixels: np.ndarray, draws: Draws, deviation: float, reach: int, rounds: int) -> np.ndarray:
    """Frosted glass: pixels are taken from places nearby, between two Gaussians."""
    soft = smoothed(pixels, deviation)
    flat = soft.reshape(-1, 3)
    for _ in range(rounds):
        flat = flat[_nearby(*pixels.shape[:2], reach, draws)]
    return smoothed(flat.reshape(pixels.shape), deviation)


def _nearby(height: int, width: int, reach: int, draws: Draws) -> np.ndarray:
    """Return which pixel comes to every place, int[H * W]."""
    # The published loop goes from the last pixel to the first and means to swap each with one up to `reach` pixels away
    # (reach - 1 to the right and down). As it swaps views of one array, it copies: a pixel takes what its partner holds
    # by then, so a place that points ahead takes what that place got. Every pointer is followed twice as far each step.
    rows = np.arange(reach + 1, height - reach + 1)[:, None]
    columns = np.arange(reach + 1, width - reach + 1)
    steps = np.floor(draws.uniform(-reach, reach, size=(2, len(rows), len(columns)))).astype(int)
    own = (rows * width + columns).ravel()
    partner = ((rows + steps[0]) * width + columns + steps[1]).ravel()
    source = np.arange(height * width)
    source[own] = partner
    inside, ahead = np.zeros((2, height * width), dtype=bool)
    inside[own] = True
    ahead[own] = (partner > own) & inside[partner]
    while ahead.any():
        following = np.flatnonzero(ahead)
        target = source[following]
        source[following], ahead[following] = source[target], ahead[target]
    return source


def motion_blur(pixels: np.ndarray, draws: Draws, radius: int, deviation: float) -> np.ndarray:
    """A camera that moves, within 45 degrees of level."""
    return moved(pixels, radius, deviation, draws.uniform(-45, 45))


def zoom_blur(pixels: np.ndarray, draws: Draws, end: float, step: float) -> np.ndarray:
    """A camera that approaches: the mean of the picture and its enlargements by 1, 1 + step, ..."""
    factors = np.arange(1, end, step)  # as published: rounding decides whether `end` itself is one
    return (pixels + sum(zoomed(pixels, factor) for factor in factors.tolist())) / (len(factors) + 1)


def gaussian_blur(pixels: np.ndarray, draws: Draws, deviation: float) -> np.ndarray:
    """Every point becomes a Gaussian."""
    return smoothed(pixels, deviation)


DEFOCUS_BLUR = Corruption(
    "blur",
    defocus_blur,
    {
        32: ((0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (1, 0.2), (1.5, 0.1)),
        64: ((0.5, 0.6), (1, 0.1), (1.5, 0.1), (2.5, 0.01), (3, 0.1)),
        224: ((3, 0.1), (4, 0.5), (6, 0.5), (8, 0.5), (10, 0.5)),
    },
)
GLASS_BLUR = Corruption(
    "blur",
    glass_blur,
    {
        32: ((0.05, 1, 1), (0.25, 1, 1), (0.4, 1, 1), (0.25, 1, 2), (0.4, 1, 2)),
        64: ((0.1, 1, 1), (0.5, 1, 1), (0.6, 1, 2), (0.7, 2, 1), (0.9, 2, 2)),
        224: ((0.7, 1, 2), (0.9, 2, 1), (1, 2, 3), (1.1, 3, 2), (1.5, 4, 2)),
    },
)
MOTION_BLUR = Corruption(
    "blur",
    motion_blur,
    {
        32: ((6, 1), (6, 1.5), (6, 2), (8, 2), (9, 2.5)),
        64: ((10, 1), (10, 1.5), (10, 2), (10, 2.5), (12, 3)),
        224: ((10, 3), (15, 5), (15, 8), (15, 12), (20, 15)),
    },
)
_NEAR = ((1.06, 0.01), (1.11, 0.01), (1.16, 0.01), (1.21, 0.01), (1.26, 0.01))
ZOOM_BLUR = Corruption(
    "blur",
    zoom_blur,
    {32: _NEAR, 64: _NEAR, 224: ((1.11, 0.01), (1.16, 0.01), (1.21, 0.02), (1.26, 0.02), (1.31, 0.03))},
)
GAUSSIAN_BLUR = Corruption(
    "blur",
    gaussian_blur,
    {
        32: ((0.4,), (0.6,), (0.7,), (0.8,), (1,)),
        64: ((0.5,), (0.75,), (1,), (1.25,), (1.5,)),
        224: ((1,), (2,), (3,), (4,), (6,)),
    },
    held_out=True,
)
