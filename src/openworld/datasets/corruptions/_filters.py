"""What corruptions are made of: pixels, and linear filters (a kernel, a Gaussian, waves, a motion, a zoom)."""

import math

import numpy as np
from PIL import Image
from scipy import fft
from scipy.ndimage import gaussian_filter

from openworld.core.errors import OpenworldError

SMALLEST = 16
"""Pixels that either side of an image needs: the widest kernel looks 10 of them away."""

Draws = np.random.Generator | np.random.RandomState
"""Where randomness comes from; only methods that both kinds have are called."""


def as_levels(pixels: np.ndarray) -> np.ndarray:
    """Return pixels in [0, 1] as uint8, rounded; what lies outside is clipped."""
    return (np.clip(pixels, 0, 1) * 255 + 0.5).astype(np.uint8)


def pixels_of(image, what: str) -> np.ndarray:
    """Return an image as uint8[H, W, 3]; `what` needs it, for the message."""
    if isinstance(image, Image.Image):
        image = np.asarray(image.convert("RGB"))
    if not isinstance(image, np.ndarray) or image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        came = f"{image.dtype}{list(image.shape)}" if isinstance(image, np.ndarray) else type(image).__name__
        raise OpenworldError(f"the image is {came}, expected uint8[H, W, 3] or a PIL image.")
    if min(image.shape[:2]) < SMALLEST:
        height, width = image.shape[:2]
        raise OpenworldError(f"the image has {width} x {height} pixels; {what} need {SMALLEST} either way.")
    return image


def filtered(pixels: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """Correlate float[H, W, C] with a symmetric kernel float[K, K], K odd; borders are mirrored, the edge said once."""
    # By Fourier transform: a wide kernel costs no more than a narrow one, at 21 x 21 a tenth of the plain sum.
    reach = len(kernel) // 2
    padded = np.pad(pixels, ((reach, reach), (reach, reach), (0, 0)), mode="reflect")
    size = [fft.next_fast_len(length, real=True) for length in padded.shape[:2]]
    spectrum = fft.rfft2(padded, size, axes=(0, 1)) * fft.rfft2(kernel, size)[..., None]
    height, width = pixels.shape[:2]
    # A product of transforms is a circular sum, which is right from the kernel's full width on.
    return fft.irfft2(spectrum, size, axes=(0, 1))[2 * reach : 2 * reach + height, 2 * reach : 2 * reach + width]


def smoothed(pixels: np.ndarray, deviation: float) -> np.ndarray:
    """Gaussian of a standard deviation in pixels over the first two axes of float[H, W] or float[H, W, C]."""
    return gaussian_filter(pixels, deviation, mode="nearest", axes=(0, 1))


def waves(height: int, width: int, deviation: float, draws: Draws) -> np.ndarray:
    """Return uniform draws from -1 to 1, float64[height, width], smoothed by a Gaussian cut at three deviations."""
    # By cosine transform, which mirrors at the borders, the edge said twice: elastic images of 224 pixels ask for 170.
    spectrum = fft.dctn(draws.uniform(-1, 1, size=(height, width)))
    return fft.idctn(spectrum * np.outer(*(_gain(length, deviation) for length in (height, width))))


def _gain(length: int, deviation: float) -> np.ndarray:
    """What a Gaussian leaves of every cosine: float64[length]."""
    if deviation == 0:
        return np.ones(length)
    taps = np.arange(1, int(3 * deviation + 0.5) + 1)
    weights = np.exp(-(taps**2) / (2 * deviation**2))
    turns = np.cos(np.pi / length * np.outer(np.arange(length), taps))
    return (1 + 2 * turns @ weights) / (1 + 2 * weights.sum())


def sampled(pixels: np.ndarray, rows: np.ndarray, columns: np.ndarray, *, twice: bool) -> np.ndarray:
    """Return pixels of float[H, W, C] at places float[H, W] between pixels, linearly, mirrored outside."""
    # With `twice` the mirror says the edge twice (as scipy.ndimage's "reflect"), else once ("mirror").
    upper, left = np.floor(rows).astype(int), np.floor(columns).astype(int)
    down, right = (rows - upper)[..., None], (columns - left)[..., None]
    height, width = pixels.shape[:2]
    above, below = (_mirrored(upper + step, height, twice) * width for step in (0, 1))
    before, after = (_mirrored(left + step, width, twice) for step in (0, 1))
    flat = pixels.reshape(height * width, -1)

    def along(row: np.ndarray) -> np.ndarray:
        first, second = (flat.take(row + column, axis=0) for column in (before, after))
        return first + (second - first) * right

    top = along(above)
    return top + (along(below) - top) * down


def _mirrored(places: np.ndarray, length: int, twice: bool) -> np.ndarray:
    """Where places beyond 0 to length - 1 lie in the mirror."""
    if twice:
        folded = places % (2 * length)
        return np.minimum(folded, 2 * length - 1 - folded)
    folded = places % (2 * (length - 1))
    return np.minimum(folded, 2 * (length - 1) - folded)


def moved(pixels: np.ndarray, radius: int, deviation: float, degrees: float) -> np.ndarray:
    """Return float[H, W, ...] blurred by half a Gaussian of 2 radius + 1 pixels in one direction; borders repeat."""
    # As MotionBlurImage of ImageMagick 6 (effect.c), which the published corruptions call.
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
        # The middle ceil(size / factor) pixels, spread end to end, the excess cut off.
        inner = math.ceil(size / factor)
        spread = round(inner * factor)
        places = (size - inner) // 2 + ((spread - size) // 2 + np.arange(size)) * (inner - 1) / (spread - 1)
        lower = np.minimum(places.astype(int), size - 2)
        share = (places - lower).reshape([-1 if one == axis else 1 for one in range(pixels.ndim)])
        pixels = pixels.take(lower, axis) * (1 - share) + pixels.take(lower + 1, axis) * share
    return pixels
