"""Noise: Gaussian, shot, impulse and speckle; every pixel and channel is drawn on its own."""

import numpy as np

from openworld.datasets.corruptions._corruption import Corruption, Draws


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


GAUSSIAN_NOISE = Corruption(
    "noise",
    gaussian_noise,
    {
        32: ((0.04,), (0.06,), (0.08,), (0.09,), (0.10,)),
        64: ((0.04,), (0.08,), (0.12,), (0.15,), (0.18,)),
        224: ((0.08,), (0.12,), (0.18,), (0.26,), (0.38,)),
    },
)
SHOT_NOISE = Corruption(
    "noise",
    shot_noise,
    {
        32: ((500,), (250,), (100,), (75,), (50,)),
        64: ((250,), (100,), (50,), (30,), (15,)),
        224: ((60,), (25,), (12,), (5,), (3,)),
    },
)
IMPULSE_NOISE = Corruption(
    "noise",
    impulse_noise,
    {
        32: ((0.01,), (0.02,), (0.03,), (0.05,), (0.07,)),
        64: ((0.01,), (0.02,), (0.05,), (0.08,), (0.14,)),
        224: ((0.03,), (0.06,), (0.09,), (0.17,), (0.27,)),
    },
)
SPECKLE_NOISE = Corruption(
    "noise",
    speckle_noise,
    {
        32: ((0.06,), (0.10,), (0.12,), (0.16,), (0.20,)),
        64: ((0.15,), (0.20,), (0.25,), (0.30,), (0.35,)),
        224: ((0.15,), (0.20,), (0.35,), (0.45,), (0.60,)),
    },
    held_out=True,
)
