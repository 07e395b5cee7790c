"""Ways to spoil grey images: (float[n, H, W] in [0, 1], a generator, settings) -> as many images of that shape."""

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

Images = NDArray[np.floating]


def noisy(images: Images, draws: np.random.Generator, *, deviation: float) -> Images:
    return np.clip(images + draws.normal(0, deviation, images.shape), 0, 1)


def salt_and_pepper(images: Images, draws: np.random.Generator, *, share: float) -> Images:
    """Make a share of the pixels black or white."""
    drawn = draws.random(images.shape)
    return np.where(drawn < share / 2, 0, np.where(drawn < share, 1, images))


def blurred(images: Images, _, *, sigma: float) -> Images:
    return ndimage.gaussian_filter(images, (0, sigma, sigma))


def flattened(images: Images, _, *, contrast: float) -> Images:
    """Pull every pixel to the mean of its image."""
    mean = images.mean((1, 2), keepdims=True)
    return mean + contrast * (images - mean)


def inverted(images: Images, _, *, share: float) -> Images:
    """Mix each image with its negative."""
    return (1 - share) * images + share * (1 - images)


def moved(images: Images, _, *, down: int = 0, right: int = 0) -> Images:
    """Move each image by whole pixels; what comes in is black."""
    return ndimage.shift(images, (0, down, right), order=0)


def turned(images: Images, _, *, degrees: float) -> Images:
    return np.clip(ndimage.rotate(images, degrees, axes=(2, 1), reshape=False, order=1), 0, 1)


def scaled(images: Images, _, *, factor: float) -> Images:
    """Make what is drawn larger (a factor above 1) or smaller, about the middle."""
    corner = (images.shape[1] - 1) / 2 * (1 - 1 / factor)
    return ndimage.affine_transform(images, (1, 1 / factor, 1 / factor), (0, corner, corner), order=1)


def mirrored(images: Images, _) -> Images:
    return images[:, :, ::-1].copy()


def occluded(images: Images, draws: np.random.Generator, *, side: int, grey: float = 0.0) -> Images:
    """Cover a square at a random place of each image."""
    covered = images.copy()
    corners = draws.integers(0, images.shape[1] - side + 1, (len(images), 2))
    for image, (row, column) in zip(covered, corners, strict=True):
        image[row : row + side, column : column + side] = grey
    return covered
