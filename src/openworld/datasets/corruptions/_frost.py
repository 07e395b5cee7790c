"""Five sheets of frost, drawn and not photographed: feathered crystals, over a fractal that makes them thick and thin.

They stand for the photographs that the published code crops, which are not ours to ship: their mean colours and
spreads are those of the five photographs, and coarse and fine share them about alike; their shapes are not. Numbers on
frost compare within this package. The fractal, by the diamond-square algorithm, is that of fog too.
"""

from functools import lru_cache

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter
from scipy.spatial import cKDTree

from openworld.datasets.corruptions._corruption import Draws

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
    # The fractal of hendrycks/robustness @ e0377d4, with its order of draws. Its swing enters twice, so that heights
    # fall by the square of `decay`.
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
