"""Drawings on backgrounds: blending by hand, geometry from the same stream of numbers, and the limits."""

import string
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from openworld.datasets.emoji import composite

NAMES = st.text(string.printable, max_size=20)


def disc(radius: int = 20) -> Image.Image:
    y, x = np.mgrid[:64, :64] - 31.5
    alpha = np.where(x**2 + y**2 <= radius**2, 255, 0).astype(np.uint8)
    return Image.fromarray(np.dstack([np.zeros((64, 64, 3), np.uint8), alpha]))


@given(st.integers(0, 2**32 - 1))
def test_on_white_is_alpha_blending_by_hand(seed):
    pixels = np.random.default_rng(seed).integers(0, 256, (5, 5, 4), dtype=np.uint8)
    colour, alpha = pixels[..., :3].astype(float), pixels[..., 3:] / 255
    expected = colour * alpha + 255 * (1 - alpha)
    assert np.abs(np.asarray(composite.on_white(Image.fromarray(pixels))) - expected).max() <= 1


@given(NAMES)
def test_a_variation_is_repeatable_stays_in_the_image_and_in_its_range_of_sizes(name):
    drawing = disc()
    first = composite.vary(drawing, name)
    assert first.size == (64, 64) and first.mode == "RGB"
    assert first.tobytes() == composite.vary(drawing, name).tobytes()
    assert drawing.tobytes() == disc().tobytes()
    dark = np.asarray(first).max(-1) < composite.DARKEST / 2
    area = dark.sum() / np.pi / 20**2
    assert composite.SMALLEST**2 * 0.9 < area < composite.LARGEST**2 * 1.1
    y, x = np.argwhere(dark).mean(0) - 31.5
    assert max(abs(x), abs(y)) < 64 * (composite.SLACK + (1 - composite.SMALLEST) / 2) + 1


def test_turning_and_moving_agree_with_geometry():
    """A dot right of the middle lands where scale, turn and shift say, drawn from the same stream."""
    pixels = np.zeros((64, 64, 4), np.uint8)
    pixels[30:34, 46:50] = (0, 0, 0, 255)
    for name in map(str, range(20)):
        random = Random(name)
        scale = np.exp(random.uniform(np.log(composite.SMALLEST), np.log(composite.LARGEST)))
        angle = random.uniform(-composite.WIDEST_TURN, composite.WIDEST_TURN)
        room = 64 * (composite.SLACK + max(0, 1 - scale) / 2)
        shift = np.array([random.uniform(-room, room), random.uniform(-room, room)])
        expected = 32 + shift + 16 * scale * np.array([np.cos(angle), np.sin(angle)])
        if (np.abs(expected - 32) > 27).any():
            continue
        weight = 255 - np.asarray(composite.vary(Image.fromarray(pixels), name)).max(-1).astype(float)
        weight = np.where(weight > 255 - composite.DARKEST + 25, weight, 0)
        y, x = np.mgrid[:64, :64] + 0.5
        centre = np.array([(weight * x).sum(), (weight * y).sum()]) / weight.sum()
        assert centre == pytest.approx(expected, abs=0.8)
