"""Formulas of noise (every pixel and channel is drawn on its own), of blur and of digital corruptions.

Before them stands what all corruptions are made of: pixels, and linear filters (a kernel, a Gaussian, waves, a motion,
a zoom).
"""

import io
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


def gaussian_noise(pixels: np.ndarray, draws: Draws, deviation: float) -> np.ndarray:
    """Low light: a normal number added."""
    return pixels + draws.normal(size=pixels.shape, scale=deviation)


def shot_noise(pixels: np.ndarray, draws: Draws, photons: float) -> np.ndarray:
    """Light comes in lumps: a white pixel counts so many of them on average."""
    return draws.poisson(pixels * photons) / photons


def impulse_noise(pixels: np.ndarray, draws: Draws, share: float) -> np.ndarray:
    """Bit errors: a share of values becomes 0 or 1, half each."""
    chance = draws.uniform(size=pixels.shape)
    return np.where(chance < share / 2, 0.0, np.where(chance >= 1 - share / 2, 1.0, pixels))


def speckle_noise(pixels: np.ndarray, draws: Draws, deviation: float) -> np.ndarray:
    """A normal number times the pixel added."""
    return pixels + pixels * draws.normal(size=pixels.shape, scale=deviation)


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
    places = (rows * width + columns).ravel()
    partner = ((rows + steps[0]) * width + columns + steps[1]).ravel()
    source = np.arange(height * width)
    source[places] = partner
    inside, ahead = np.zeros((2, height * width), dtype=bool)
    inside[places] = True
    ahead[places] = (partner > places) & inside[partner]
    while ahead.any():
        following = np.flatnonzero(ahead)
        target = source[following]
        source[following], ahead[following] = source[target], ahead[target]
    return source


def motion_blur(pixels: np.ndarray, draws: Draws, radius: int, deviation: float) -> np.ndarray:
    """A camera that moves, within 45 degrees of level."""
    return moved(pixels, radius, deviation, draws.uniform(-45, 45))


def zoom_blur(pixels: np.ndarray, draws: Draws, end: float, step: float) -> np.ndarray:
    """A camera that approaches: the mean of the image and its enlargements by 1, 1 + step, ..."""
    factors = np.arange(1, end, step)  # as published: rounding decides whether `end` itself is one
    return (pixels + sum(zoomed(pixels, factor) for factor in factors.tolist())) / (len(factors) + 1)


def gaussian_blur(pixels: np.ndarray, draws: Draws, deviation: float) -> np.ndarray:
    return smoothed(pixels, deviation)


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
