"""Linear filters that several corruptions share: a kernel, a Gaussian, a motion, a zoom."""

import math

import numpy as np
from scipy import fft
from scipy.ndimage import gaussian_filter


def filtered(pixels: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """Correlate float[H, W, C] with a symmetric kernel float[K, K], K odd; borders are mirrored, the edge said once.

    By Fourier transform: a wide kernel costs no more than a narrow one, at 21 x 21 a tenth of the plain sum.
    """
    reach = len(kernel) // 2
    padded = np.pad(pixels, ((reach, reach), (reach, reach), (0, 0)), mode="reflect")
    size = [fft.next_fast_len(length, real=True) for length in padded.shape[:2]]
    spectrum = fft.rfft2(padded, size, axes=(0, 1)) * fft.rfft2(kernel, size)[..., None]
    height, width = pixels.shape[:2]
    # A product of transforms is a circular sum, which is right from the kernel's full width on.
    return fft.irfft2(spectrum, size, axes=(0, 1))[2 * reach : 2 * reach + height, 2 * reach : 2 * reach + width]


def smoothed(pixels: np.ndarray, deviation: float, *, mode: str = "nearest", truncate: float = 4.0) -> np.ndarray:
    """Gaussian of a standard deviation in pixels over the first two axes of float[H, W] or float[H, W, C]."""
    return gaussian_filter(pixels, deviation, mode=mode, truncate=truncate, axes=(0, 1))


def moved(pixels: np.ndarray, radius: int, deviation: float, degrees: float) -> np.ndarray:
    """Motion blur of float[H, W, ...]: half a Gaussian of 2 radius + 1 pixels in one direction; borders repeat.

    Source: MotionBlurImage of ImageMagick 6, effect.c, which the published corruptions call.
    """
    taps = np.arange(2 * radius + 1)
    weights = np.exp(-(taps**2) / (2 * deviation**2))
    turn = math.radians(degrees)
    down, right = (np.ceil(taps * part - 0.5).astype(int) for part in (math.sin(turn), math.cos(turn)))
    reach = 2 * radius
    padded = np.pad(pixels, ((reach, reach), (reach, reach)) + ((0, 0),) * (pixels.ndim - 2), mode="edge")
    height, width = pixels.shape[:2]
    total = np.zeros_like(pixels)
    for weight, row, column in zip(weights / weights.sum(), down + reach, right + reach, strict=True):
        total += weight * padded[row : row + height, column : column + width]
    return total


def zoomed(pixels: np.ndarray, factor: float) -> np.ndarray:
    """The middle of float[H, W, ...] enlarged to its full size, linearly between pixels."""
    for axis in (0, 1):
        size = pixels.shape[axis]
        places = _places(size, factor)
        lower = np.minimum(places.astype(int), size - 2)
        share = (places - lower).reshape([-1 if one == axis else 1 for one in range(pixels.ndim)])
        pixels = pixels.take(lower, axis) * (1 - share) + pixels.take(lower + 1, axis) * share
    return pixels


def _places(size: int, factor: float) -> np.ndarray:
    """Where `size` pixels come from: the middle ceil(size / factor) pixels, spread end to end, the excess cut off."""
    kept = math.ceil(size / factor)
    spread = round(kept * factor)
    first = (size - kept) // 2
    return first + ((spread - size) // 2 + np.arange(size)) * (kept - 1) / (spread - 1)
