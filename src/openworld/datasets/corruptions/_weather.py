"""Weather: snow, frost, fog and brightness; and spatter, of water or mud.

Frost lies on the image as published, but its five sheets are drawn here and not photographed: feathered crystals,
over a fractal that makes them thick and thin. They stand for the photographs that the published code crops, which are
not ours to ship: their mean colours and spreads are those of the five photographs, and coarse and fine share them about
alike; their shapes are not. Numbers on frost compare within this package. The fractal is that of fog too.
"""

from functools import lru_cache

import numpy as np
from PIL import Image
from scipy.ndimage import correlate, correlate1d, distance_transform_edt, gaussian_filter, label, uniform_filter
from scipy.spatial import cKDTree  # ty: ignore[missing-module-member]: compiled

from openworld.datasets.corruptions._formulas import Draws, moved, smoothed, zoomed

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
    """Flakes, blurred by their fall, twice (once upside down), over a paler image."""
    flakes = zoomed(draws.normal(size=pixels.shape[:2], loc=mean, scale=deviation), zoom)
    flakes = np.clip(np.where(flakes < threshold, 0, flakes), 0, 1)
    flakes = moved(flakes, radius, streak, draws.uniform(-135, -45))[..., None]
    pale = np.maximum(pixels, (pixels @ _GREY)[..., None] * 1.5 + 0.5)
    return kept * pixels + (1 - kept) * pale + flakes + flakes[::-1, ::-1]


def frost(pixels: np.ndarray, draws: Draws, kept: float, added: float, scale: float) -> np.ndarray:
    """A piece of one of five sheets of frost, drawn at random, over the image."""
    height, width = pixels.shape[:2]
    sheet = frost_sheet(int(draws.uniform(0, _SHEETS)), scale, height, width)
    top, left = (int(draws.uniform(0, room + 1)) for room in (sheet.shape[0] - height, sheet.shape[1] - width))
    return kept * pixels + added * sheet[top : top + height, left : left + width]


_SIDE = 512
_ALONG = np.linspace(-1.5, 1.5, 7)
_TINTS = (
    ((78, 149, 166), 24, 30),
    ((201, 205, 214), 22, 24),
    ((201, 205, 214), 22, 16),
    ((138, 153, 165), 29, 14),
    ((112, 123, 135), 43, 20),
)
"""Of each sheet: mean colour and spread in levels, as measured of the photographs; how far its needles are apart."""


def frost_sheet(number: int, scale: float, height: int, width: int) -> np.ndarray:
    """Return sheet `number` (0 to 4), scaled, float64[H, W, 3] in [0, 1], mirrored on to height x width at least."""
    sheet = _scaled(number, scale)
    more = [(0, max(0, length - len(sheet))) for length in (height, width)]
    return np.pad(sheet, (*more, (0, 0)), mode="symmetric") if any(map(any, more)) else sheet


@lru_cache(maxsize=3 * len(_TINTS))
def _scaled(number: int, scale: float) -> np.ndarray:
    side, step = round(_SIDE * scale), 1 / scale
    # Linear between the nearest pixels and no mean over more of them, as the published code scales: grain stays sharp.
    places = (step, 0, 0, 0, step, 0)
    small = Image.fromarray(_drawn(number)).transform(
        (side, side), Image.Transform.AFFINE, places, Image.Resampling.BILINEAR
    )
    sheet = np.asarray(small) / 255
    sheet.flags.writeable = False
    return sheet


@lru_cache(maxsize=len(_TINTS))
def _drawn(number: int) -> np.ndarray:
    """uint8[512, 512, 3], the same on every call."""
    colour, spread, size = _TINTS[number]
    draws = np.random.RandomState(number)
    relief = _crystals(size, draws) + 0.6 * _crystals(size * 0.45, draws) + 4 * plasma(_SIDE, 1.7, draws)
    relief = gaussian_filter(relief + draws.normal(size=relief.shape, scale=0.25), 0.7, mode="wrap")
    grain = gaussian_filter(draws.normal(size=relief.shape), 0.45, mode="wrap")
    relief = (relief - relief.mean()) / relief.std() + 0.55 * grain
    relief = (relief - relief.mean()) / relief.std()
    return np.clip(np.array(colour) + spread * relief[..., None], 0, 255).astype(np.uint8)


def _crystals(size: float, draws: np.random.RandomState) -> np.ndarray:
    """Needles side by side, each of its own direction and brightness, ribbed like a feather: float64[512, 512]."""
    count = int((_SIDE / size) ** 2)
    turn = draws.uniform(0, 2 * np.pi, count)
    way = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    start = draws.uniform(0, _SIDE, (count, 2))
    # Points along a needle make its cell long; the needle of the nearest point owns the pixel.
    along = start[:, None] + way[:, None] * size * _ALONG[:, None]
    grid = np.stack(np.meshgrid(np.arange(_SIDE), np.arange(_SIDE)), axis=-1).reshape(-1, 2)
    owner = cKDTree(along.reshape(-1, 2)).query(grid)[1] // len(_ALONG)
    offset = grid - start[owner]
    length = (offset * way[owner]).sum(axis=1)
    beside = np.abs(offset[:, 0] * way[owner, 1] - offset[:, 1] * way[owner, 0])
    ribs = np.cos((length - 1.5 * beside) * 2 * np.pi / (0.3 * size))
    spine = np.exp(-beside / 1.2) + 0.7 * np.exp(-4 * beside / size)
    relief = 0.5 * draws.normal(size=count)[owner] + 0.4 * ribs + 1.6 * spine
    return relief.reshape(_SIDE, _SIDE)


def plasma(side: int, decay: float, draws: Draws) -> np.ndarray:
    """Return heights float64[side, side] from 0 to 1, without a seam at the borders; `side` is a power of two."""
    # The diamond-square fractal of hendrycks/robustness @ e0377d4, with its order of draws. Its swing enters twice, so
    # that heights fall by the square of `decay`.
    heights = np.zeros((side, side))
    swing, step = 100.0, side
    while step >= 2:
        half = step // 2
        corners = heights[::step, ::step]
        across = corners + np.roll(corners, -1, axis=0)
        centres = _jittered(across + np.roll(across, -1, axis=1), swing, draws)
        beside = centres + np.roll(centres, 1, axis=0) + corners + np.roll(corners, -1, axis=1)
        heights[half::step, half::step] = centres
        heights[::step, half::step] = _jittered(beside, swing, draws)
        below = centres + np.roll(centres, 1, axis=1) + corners + np.roll(corners, -1, axis=0)
        heights[half::step, ::step] = _jittered(below, swing, draws)
        step, swing = half, swing / decay
    heights -= heights.min()
    return heights / heights.max()


def _jittered(four: np.ndarray, swing: float, draws: Draws) -> np.ndarray:
    """The mean of four neighbours, moved by a draw."""
    return four / 4 + swing * draws.uniform(-swing, swing, four.shape)


def fog(pixels: np.ndarray, draws: Draws, thickness: float, decay: float) -> np.ndarray:
    """A fractal cloud added; the sum is scaled back to the image's brightest value."""
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
