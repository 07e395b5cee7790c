"""Ways to spoil grey pictures: (float[n, H, W] in [0, 1], a generator, settings) -> as many pictures of that shape."""

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

Pictures = NDArray[np.floating]


def noisy(pictures: Pictures, draws: np.random.Generator, *, deviation: float) -> Pictures:
    return np.clip(pictures + draws.normal(0, deviation, pictures.shape), 0, 1)


def salt_and_pepper(pictures: Pictures, draws: np.random.Generator, *, share: float) -> Pictures:
    """Make a share of the pixels black or white."""
    drawn = draws.random(pictures.shape)
    return np.where(drawn < share / 2, 0, np.where(drawn < share, 1, pictures))


def blurred(pictures: Pictures, _, *, sigma: float) -> Pictures:
    return ndimage.gaussian_filter(pictures, (0, sigma, sigma))


def flattened(pictures: Pictures, _, *, contrast: float) -> Pictures:
    """Pull every pixel to the mean of its picture."""
    mean = pictures.mean((1, 2), keepdims=True)
    return mean + contrast * (pictures - mean)


def inverted(pictures: Pictures, _, *, share: float) -> Pictures:
    """Mix each picture with its negative."""
    return (1 - share) * pictures + share * (1 - pictures)


def moved(pictures: Pictures, _, *, down: int = 0, right: int = 0) -> Pictures:
    """Move each picture by whole pixels; what comes in is black."""
    return ndimage.shift(pictures, (0, down, right), order=0)


def turned(pictures: Pictures, _, *, degrees: float) -> Pictures:
    return np.clip(ndimage.rotate(pictures, degrees, axes=(2, 1), reshape=False, order=1), 0, 1)


def scaled(pictures: Pictures, _, *, factor: float) -> Pictures:
    """Make what is drawn larger (a factor above 1) or smaller, about the middle."""
    corner = (pictures.shape[1] - 1) / 2 * (1 - 1 / factor)
    return ndimage.affine_transform(pictures, (1, 1 / factor, 1 / factor), (0, corner, corner), order=1)


def mirrored(pictures: Pictures, _) -> Pictures:
    return pictures[:, :, ::-1].copy()


def occluded(pictures: Pictures, draws: np.random.Generator, *, side: int, grey: float = 0.0) -> Pictures:
    """Cover a square at a random place of each picture."""
    covered = pictures.copy()
    corners = draws.integers(0, pictures.shape[1] - side + 1, (len(pictures), 2))
    for picture, (row, column) in zip(covered, corners, strict=True):
        picture[row : row + side, column : column + side] = grey
    return covered
