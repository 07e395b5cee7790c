"""Every style: what it takes and gives, what its pixels depend on, and what marks it."""

import hashlib

import numpy as np
import pytest
from PIL import Image

from openworld import datasets
from openworld.core.errors import OpenworldError
from openworld.datasets.styles import STYLES

PLAIN = np.full((32, 32, 3), 128, np.uint8)


@pytest.fixture(scope="module")
def drawing():
    return np.asarray(datasets.load("emoji-concepts").image(215))


def redraw(name, image, seed=0):
    return STYLES[name](image, np.random.RandomState(seed))


@pytest.mark.parametrize("name", STYLES)
def test_any_shape_comes_back_and_images_of_one_colour_too(name):
    for shape in ((16, 16), (50, 83), (131, 70)):
        noise = np.random.RandomState(1).randint(0, 256, (*shape, 3)).astype(np.uint8)
        found = redraw(name, noise)
        assert found.shape == noise.shape and found.dtype == np.uint8
    for level in (0, 128, 255):
        assert redraw(name, np.full((24, 40, 3), level, np.uint8)).shape == (24, 40, 3)
    assert STYLES[name].sentence.count("{}") == 1


@pytest.mark.parametrize("name", STYLES)
def test_only_styles_that_say_so_draw_and_a_pil_image_is_as_good(name, drawing):
    before = drawing.copy()
    first, other = (redraw(name, drawing, seed) for seed in (0, 1))
    assert np.array_equal(first, redraw(name, Image.fromarray(drawing)))
    assert np.array_equal(first, other) != STYLES[name].random
    assert STYLES[name](drawing, np.random.default_rng(0)).shape == drawing.shape
    assert np.array_equal(drawing, before)


SHADES = {
    "monochrome": [190, 149, 191, 207, 190, 140, 186, 207],
    "recolour": [192, 143, 193, 212, 192, 132, 187, 212],
    "posterise": [199, 166, 204, 213, 199, 159, 192, 212],
    "pop art": [168, 106, 169, 193, 168, 93, 163, 192],
    "film noir": [103, 89, 150, 124, 102, 79, 147, 124],
    "line art": [234, 232, 230, 249, 234, 231, 228, 249],
    "sketch": [235, 225, 236, 242, 236, 222, 234, 242],
    "blueprint": [93, 95, 96, 82, 93, 96, 101, 83],
    "neon": [34, 36, 41, 13, 34, 38, 40, 13],
    "comic book": [144, 119, 151, 161, 143, 115, 143, 160],
    "papercut": [182, 150, 171, 195, 179, 130, 157, 192],
    "pixel art": [185, 151, 185, 196, 186, 144, 177, 196],
    "stained glass": [118, 95, 123, 124, 112, 87, 106, 115],
    "cross stitch": [161, 132, 163, 173, 161, 126, 156, 173],
    "pointillism": [187, 158, 190, 196, 184, 148, 178, 198],
    "watercolour": [200, 178, 200, 210, 196, 167, 193, 212],
    "oil paint": [182, 151, 185, 195, 182, 145, 181, 195],
}
"""Mean levels of 2 x 4 parts of one drawing, cut to be wider than high."""


@pytest.mark.parametrize("name", STYLES)
def test_a_style_looks_as_it_did(name, drawing):
    """Where this fails on purpose, raise `VERSION` of `styled`."""
    found = redraw(name, drawing[:48]).reshape(2, 24, 4, 16, 3).mean(axis=(1, 3, 4))
    np.testing.assert_allclose(found.ravel(), SHADES[name], atol=3)


def test_no_two_styles_look_alike_and_few_colours_are_few(drawing):
    found = {name: redraw(name, drawing) for name in STYLES}
    assert len({hashlib.sha256(pixels.tobytes()).hexdigest() for pixels in found.values()}) == len(STYLES)
    for name in ("monochrome", "film noir", "line art"):
        assert np.ptp(found[name], axis=2).max() == 0
    for name, most in (("pixel art", 8), ("pop art", 4), ("posterise", 27)):
        assert len(np.unique(found[name].reshape(-1, 3), axis=0)) <= most
    squares = found["pixel art"][::4, ::4].repeat(4, 0).repeat(4, 1)
    assert np.array_equal(squares, found["pixel art"])


@pytest.mark.parametrize("image", [PLAIN[..., 0], PLAIN.astype(float), PLAIN[:15], "a path"])
def test_what_is_no_image_is_refused(image):
    with pytest.raises(OpenworldError, match="the image"):
        redraw("sketch", image)
