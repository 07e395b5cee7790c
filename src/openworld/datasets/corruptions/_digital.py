"""Digital: contrast, elastic, pixelation, JPEG and saturation."""

import io

import numpy as np
from PIL import Image

from openworld.datasets.corruptions._corruption import Corruption, Draws, as_levels
from openworld.datasets.corruptions._filters import sampled, waves


def contrast(pixels: np.ndarray, draws: Draws, kept: float) -> np.ndarray:
    """Every channel drawn towards its mean."""
    mean = pixels.mean(axis=(0, 1))
    return (pixels - mean) * kept + mean


def elastic_transform(pixels: np.ndarray, draws: Draws, swing: float, smoothness: float, jitter: float) -> np.ndarray:
    """A random affine map, then small waves; all lengths in shares of the shorter side."""
    height, width = pixels.shape[:2]
    side = min(height, width)
    columns, rows = np.meshgrid(np.arange(width), np.arange(height))
    affine = _random_affine(height, width, jitter * side, draws)
    across, down = np.moveaxis(np.stack([columns, rows, np.ones_like(rows)], axis=-1) @ affine, -1, 0)
    moved = sampled(pixels, down, across, twice=False)
    right, below = (swing * side * waves(height, width, smoothness * side, draws) for _ in range(2))
    return sampled(moved, rows + below, columns + right, twice=True)


def _random_affine(height: int, width: int, jitter: float, draws: Draws) -> np.ndarray:
    """float64[3, 2]: (column, row, 1) of the result times it is where it comes from.

    Three corners of a square in the middle, a third of the shorter side from its centre, are moved by the jitter.
    """
    centre = np.array([width // 2, height // 2])
    third = min(height, width) // 3
    corners = centre + third * np.array([[1, 1], [1, -1], [-1, -1]])
    moved = corners + draws.uniform(-jitter, jitter, size=(3, 2))
    return np.linalg.solve(np.column_stack([moved, np.ones(3)]), corners)


def pixelate(pixels: np.ndarray, draws: Draws, share: float) -> np.ndarray:
    """Scaled down to a share of its size and up again, by boxes both ways."""
    height, width = pixels.shape[:2]
    small = Image.fromarray(as_levels(pixels)).resize((int(width * share), int(height * share)), Image.Resampling.BOX)
    return np.asarray(small.resize((width, height), Image.Resampling.BOX)) / 255


def jpeg_compression(pixels: np.ndarray, draws: Draws, quality: int) -> np.ndarray:
    """Through JPEG and back."""
    packed = io.BytesIO()
    Image.fromarray(as_levels(pixels)).save(packed, "JPEG", quality=quality)
    return np.asarray(Image.open(packed, formats=("JPEG",))) / 255


def saturate(pixels: np.ndarray, draws: Draws, factor: float, added: float) -> np.ndarray:
    """Change the saturation of hue, saturation and value, and keep the others."""
    # Grey has no hue; the published code takes it as red, so that added saturation reddens it, and so does this.
    value = pixels.max(axis=2, keepdims=True)
    span = value - pixels.min(axis=2, keepdims=True)
    lack = np.where(span > 0, (value - pixels) / np.where(span > 0, span, 1), [0, 1, 1])
    saturation = np.where(value > 0, span / np.where(value > 0, value, 1), 0)
    return value * (1 - lack * np.clip(saturation * factor + added, 0, 1))


_DROPS = ((0.4,), (0.3,), (0.2,), (0.1,), (0.05,))
CONTRAST = Corruption("digital", contrast, {32: ((0.75,), (0.5,), (0.4,), (0.3,), (0.15,)), 64: _DROPS, 224: _DROPS})
_WIDE = 244 / 224  # the published code multiplies by 244, a slip for 224 that all published pictures carry
ELASTIC_TRANSFORM = Corruption(
    "digital",
    elastic_transform,
    {
        32: ((0, 0, 0.08), (0.05, 0.2, 0.07), (0.08, 0.06, 0.06), (0.1, 0.04, 0.05), (0.1, 0.03, 0.03)),
        64: ((0, 0, 0.08), (0.05, 0.3, 0.06), (0.1, 0.08, 0.06), (0.1, 0.03, 0.03), (0.16, 0.03, 0.02)),
        224: tuple(
            tuple(_WIDE * share for share in shares)
            for shares in ((2, 0.7, 0.1), (2, 0.08, 0.2), (0.05, 0.01, 0.02), (0.07, 0.01, 0.02), (0.12, 0.01, 0.02))
        ),
    },
)
PIXELATE = Corruption(
    "digital",
    pixelate,
    {
        32: ((0.95,), (0.9,), (0.85,), (0.75,), (0.65,)),
        64: ((0.9,), (0.8,), (0.7,), (0.6,), (0.5,)),
        224: ((0.6,), (0.5,), (0.4,), (0.3,), (0.25,)),
    },
)
JPEG_COMPRESSION = Corruption(
    "digital",
    jpeg_compression,
    {
        32: ((80,), (65,), (58,), (50,), (40,)),
        64: ((65,), (58,), (50,), (40,), (25,)),
        224: ((25,), (18,), (15,), (10,), (7,)),
    },
)
SATURATE = Corruption(
    "digital",
    saturate,
    {
        32: ((0.3, 0), (0.1, 0), (1.5, 0), (2, 0.1), (2.5, 0.2)),
        64: ((0.3, 0), (0.1, 0), (2, 0), (5, 0.1), (30, 0.2)),
        224: ((0.3, 0), (0.1, 0), (2, 0), (5, 0.1), (20, 0.2)),
    },
    held_out=True,
)
