"""What several styles share: brightness, edges, few colours, cells around scattered points, the tooth of paper."""

import numpy as np
from PIL import Image
from scipy import ndimage
from scipy.spatial import cKDTree

from openworld.datasets.styles._style import Draws

LUMA = np.array([0.299, 0.587, 0.114])


def luma(pixels: np.ndarray) -> np.ndarray:
    """Brightness float64[H, W] of float64[H, W, 3]."""
    return pixels @ LUMA


def edges(pixels: np.ndarray, sigma: float) -> np.ndarray:
    """The steepest slope of the three channels, float64[H, W], 1 where a channel leaps from 0 to 1 at scale `sigma`."""
    slopes = [ndimage.gaussian_gradient_magnitude(pixels[..., channel], sigma) for channel in range(3)]
    return np.clip(np.max(slopes, axis=0) * sigma * np.sqrt(2 * np.pi), 0, 1)


def smooth(pixels: np.ndarray, size: float) -> np.ndarray:
    """Median over squares of about `size` pixels, each channel alone: flat areas with edges kept."""
    side = max(1, 2 * round((size - 1) / 2) + 1)
    return ndimage.median_filter(pixels, (side, side, 1))


def few_colours(pixels: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The colour number of each pixel, int[H, W], and float64[n, 3], n at most `count`, the brightest first."""
    picture = Image.fromarray((np.clip(pixels, 0, 1) * 255 + 0.5).astype(np.uint8))
    found = np.asarray(picture.quantize(count, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE))
    used, numbers = np.unique(found, return_inverse=True)
    numbers = numbers.reshape(found.shape)
    colours = means(pixels, numbers, len(used))
    order = np.argsort(-luma(colours), kind="stable")
    return np.argsort(order, kind="stable")[numbers], colours[order]


def means(pixels: np.ndarray, numbers: np.ndarray, count: int) -> np.ndarray:
    """The mean colour float64[count, 3] of the pixels of each number; 0 where there is none."""
    sizes = np.maximum(np.bincount(numbers.ravel(), minlength=count), 1)
    sums = [np.bincount(numbers.ravel(), pixels[..., channel].ravel(), count) for channel in range(3)]
    return np.stack(sums, axis=1) / sizes[:, None]


def scattered(shape: tuple[int, int], step: float, draws: Draws) -> np.ndarray:
    """Points float64[n, 2] (row, column), one at random in each square of side `step`."""
    rows, columns = np.meshgrid(np.arange(0, shape[0], step), np.arange(0, shape[1], step), indexing="ij")
    corners = np.stack([rows.ravel(), columns.ravel()], axis=1)
    return corners + draws.uniform(0, step, corners.shape)


def nearest_points(points: np.ndarray, shape: tuple[int, int], count: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Distances float64[H, W, count] from each pixel to its nearest points, and which they are."""
    places = np.stack(np.indices(shape), axis=-1).reshape(-1, 2)
    distances, numbers = cKDTree(points).query(places, k=range(1, count + 1))
    return distances.reshape(*shape, count), numbers.reshape(*shape, count)


def colours_at(pixels: np.ndarray, points: np.ndarray, sigma: float) -> np.ndarray:
    """Colours float64[n, 3] at points, of the picture blurred by `sigma`."""
    soft = ndimage.gaussian_filter(pixels, (sigma, sigma, 0))
    rows, columns = (np.clip(points[:, axis].astype(int), 0, pixels.shape[axis] - 1) for axis in (0, 1))
    return soft[rows, columns]


def tooth(shape: tuple[int, int], sigma: float, draws: Draws) -> np.ndarray:
    """The grain of paper: smooth noise float64[H, W] of mean 0 and deviation 1."""
    grain = ndimage.gaussian_filter(draws.normal(size=shape), sigma)
    return (grain - grain.mean()) / grain.std()


def vivid(pixels: np.ndarray, factor: float) -> np.ndarray:
    """Colours `factor` times as far from the grey of the same brightness."""
    grey = luma(pixels)[..., None]
    return np.clip(grey + factor * (pixels - grey), 0, 1)
