"""Weather: snow, frost, fog and brightness; and spatter, of water or mud.

Frost lies on the picture as published, but the frost is drawn here (`_frost`), where the published code crops
photographs.
"""

import numpy as np
from scipy.ndimage import correlate, correlate1d, distance_transform_edt, label, uniform_filter

from openworld.datasets.corruptions._corruption import Draws
from openworld.datasets.corruptions._filters import moved, smoothed, zoomed
from openworld.datasets.corruptions._frost import frost_sheet, plasma

_GREY = np.array([0.299, 0.587, 0.114])
_TURQUOISE = np.array([175, 238, 238]) / 255
_MUD = np.array([63, 42, 20]) / 255
_RELIEF = np.array([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]])
_FAR = 20
_SHEETS = 5


def snow(
    pixels: np.ndarray,
    draws: Draws,
    mean: float,
    deviation: float,
    zoom: float,
    threshold: float,
    radius: int,
    streak: float,
    kept: float,
) -> np.ndarray:
    """Flakes, blurred by their fall, twice (once upside down), over a paler picture."""
    flakes = zoomed(draws.normal(size=pixels.shape[:2], loc=mean, scale=deviation), zoom)
    flakes = np.clip(np.where(flakes < threshold, 0, flakes), 0, 1)
    flakes = moved(flakes, radius, streak, draws.uniform(-135, -45))[..., None]
    pale = np.maximum(pixels, (pixels @ _GREY)[..., None] * 1.5 + 0.5)
    return kept * pixels + (1 - kept) * pale + flakes + flakes[::-1, ::-1]


def frost(pixels: np.ndarray, draws: Draws, kept: float, added: float, scale: float) -> np.ndarray:
    """A piece of one of five sheets of frost, drawn at random, over the picture."""
    height, width = pixels.shape[:2]
    sheet = frost_sheet(int(draws.uniform(0, _SHEETS)), scale, height, width)
    top, left = (int(draws.uniform(0, room + 1)) for room in (sheet.shape[0] - height, sheet.shape[1] - width))
    return kept * pixels + added * sheet[top : top + height, left : left + width]


def fog(pixels: np.ndarray, draws: Draws, thickness: float, decay: float) -> np.ndarray:
    """A fractal cloud added; the sum is scaled back to the picture's brightest value."""
    height, width = pixels.shape[:2]
    cloud = plasma(1 << (max(height, width) - 1).bit_length(), decay, draws)[:height, :width, None]
    brightest = pixels.max()
    return (pixels + thickness * cloud) * brightest / (brightest + thickness)


def brightness(pixels: np.ndarray, draws: Draws, added: float) -> np.ndarray:
    """Daylight: the value of hue, saturation and value raised, the others kept."""
    value = pixels.max(axis=2, keepdims=True)
    raised = np.clip(value + added, 0, 1)
    return np.where(value > 0, pixels / np.where(value > 0, value, 1), 1) * raised


def spatter(
    pixels: np.ndarray,
    draws: Draws,
    mean: float,
    deviation: float,
    smoothness: float,
    threshold: float,
    strength: float,
    mud: bool,
) -> np.ndarray:
    """Drops on the lens: of water (severities 1 to 3), or of mud."""
    liquid = smoothed(draws.normal(size=pixels.shape[:2], loc=mean, scale=deviation), smoothness)
    if mud:
        cover = smoothed((liquid > threshold).astype(float), strength)[..., None]
        cover = np.where(cover < 0.8, 0, cover)
        return pixels * (1 - cover) + _MUD * cover
    drops = np.floor(np.where(liquid < threshold, 0, liquid) * 255)
    relief = drops * _relief(drops)
    return pixels + _TURQUOISE * strength * relief[..., None] / max(relief.max(), 1)


def _relief(drops: np.ndarray) -> np.ndarray:
    """Light and shade on drops float[H, W], as if lit from one corner: float[H, W], from 0 to 255."""
    outline = edges(drops, 50, 150)
    if not outline.any():
        return np.zeros(drops.shape)
    near = uniform_filter(np.minimum(distances(outline), _FAR), 3, mode="mirror")
    # Cut to levels as the published code does; a mean of nine ones may come out a hair below one.
    levels = (near + 1e-6).astype(np.uint8)
    # Spread so that all levels are equally common, from 0 for the lowest to 255.
    below = np.bincount(levels.ravel(), minlength=256).cumsum()
    lowest = below[levels.min()]
    equalised = (np.maximum(below - lowest, 0) * 255 / max(levels.size - lowest, 1)).round()
    spread = equalised.astype(np.uint8)[levels].astype(float)
    lit = np.clip(correlate(spread, _RELIEF, mode="mirror"), 0, 255)
    return uniform_filter(lit, 3, mode="mirror").round()


_TURN = np.tan(np.pi / 8)  # half way between two of the eight directions
_SLANT, _KNIGHT = 1.4, 2.1969


def edges(levels: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return the edges bool[H, W] of grey levels float64[H, W] (Canny, 1986)."""
    # With the tie rules of OpenCV 4, canny.cpp, which the published code calls. An edge has a slope (the sum of both
    # Sobel differences' sizes) of at least `low`, and hangs together with a place of more than `high`.
    across, down = (
        correlate1d(correlate1d(levels, [-1, 0, 1], axis, mode="nearest"), [1, 2, 1], 1 - axis, mode="nearest")
        for axis in (1, 0)
    )
    slope = np.abs(across) + np.abs(down)
    ridge = (slope > low) & _is_ridge(slope, across, down)
    pieces, _ = label(ridge, np.ones((3, 3)))
    return ridge & np.isin(pieces, np.unique(pieces[ridge & (slope > high)]))


def distances(outline: np.ndarray) -> np.ndarray:
    """Return how far places float64[H, W] are from an outline bool[H, W], in steps of a chess king and knight."""
    # Borgefors (1986), 5 x 5, with the lengths of OpenCV's distanceTransform. The way leads to the place nearest as the
    # crow flies, of which another may be nearer in steps by some hundredths of a pixel.
    nearest = distance_transform_edt(~outline, return_distances=False, return_indices=True)
    aside = np.abs(nearest - np.indices(outline.shape))
    longer, shorter = aside.max(axis=0), aside.min(axis=0)
    flat = (longer - 2 * shorter) + shorter * _KNIGHT
    steep = (longer - shorter) * _KNIGHT + (2 * shorter - longer) * _SLANT
    return np.where(2 * shorter <= longer, flat, steep)


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
