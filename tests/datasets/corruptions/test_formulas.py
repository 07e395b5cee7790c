"""Each formula by hand, by statistics, or by a plain loop."""

import colorsys
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from scipy.ndimage import gaussian_filter, map_coordinates

from openworld.datasets.corruptions import _formulas, _weather


def draws(seed=0):
    return np.random.RandomState(seed)


def noise_image(height=24, width=20, seed=0):
    return draws(seed).uniform(size=(height, width, 3))


def test_noises_have_their_moments():
    grey = np.full((200, 200, 3), 0.5)
    assert (_formulas.gaussian_noise(grey, draws(), 0.1) - grey).std() == pytest.approx(0.1, rel=0.01)
    assert (_formulas.speckle_noise(grey, draws(), 0.1) - grey).std() == pytest.approx(0.05, rel=0.01)
    shot = _formulas.shot_noise(grey, draws(), 50)
    assert shot.mean() == pytest.approx(0.5, rel=0.01)
    assert shot.var() == pytest.approx(0.5 / 50, rel=0.02)
    impulses = _formulas.impulse_noise(grey, draws(), 0.2)
    shares = [(impulses == value).mean() for value in (0, 0.5, 1)]
    assert shares == pytest.approx([0.1, 0.8, 0.1], abs=0.005)


class Steps:
    """Draws for glass: the same steps for the rows at once and for the loop one by one."""

    def __init__(self, seed):
        self.seed, self.kept = draws(seed), []

    def uniform(self, low, high, size):
        self.kept.append(self.seed.uniform(low, high, size))
        return self.kept[-1]


def shuffled_in_a_loop(height, width, reach, steps):
    """The published loop on places instead of pixels: a copy, because its swap goes through views."""
    holds = np.arange(height * width).reshape(height, width)
    rows, columns = range(height - reach, reach, -1), range(width - reach, reach, -1)
    for row in rows:
        for column in columns:
            place = row - reach - 1, column - reach - 1
            down, right = (int(np.floor(step[place])) for step in steps)
            holds[row, column] = holds[row + down, column + right]
    return holds.ravel()


@settings(max_examples=15)
@given(st.integers(16, 22), st.integers(16, 30), st.integers(1, 4), st.integers(0, 1000))
def test_glass_takes_pixels_as_the_loop_does(height, width, reach, seed):
    steps = Steps(seed)
    found = _formulas._nearby(height, width, reach, steps)
    assert np.array_equal(found, shuffled_in_a_loop(height, width, reach, steps.kept[0]))


@pytest.mark.parametrize("deviation", [0, 0.6, 7, 40])
def test_waves_are_scipys_gaussian(deviation):
    plain = draws(3).uniform(-1, 1, size=(20, 33))
    expected = gaussian_filter(plain, deviation, mode="reflect", truncate=3)
    assert np.allclose(_formulas.waves(20, 33, deviation, draws(3)), expected, atol=1e-12)


@pytest.mark.parametrize(("mode", "twice"), [("mirror", False), ("reflect", True)])
def test_places_between_pixels_are_scipys(mode, twice):
    pixels = noise_image()
    rows, columns = draws(1).uniform(-60, 90, size=(2, 24, 20))
    expected = [map_coordinates(pixels[..., k], (rows, columns), order=1, mode=mode) for k in range(3)]
    assert np.allclose(_formulas.sampled(pixels, rows, columns, twice=twice), np.stack(expected, axis=2), atol=1e-12)


def test_frost_sheets_have_the_photographs_tints():
    for number, (colour, spread, _) in enumerate(_weather._TINTS):
        sheet = _weather.frost_sheet(number, 1.0, 100, 100).reshape(-1, 3) * 255
        assert np.abs(sheet.mean(axis=0) - colour).max() < 6
        assert np.abs(sheet.std(axis=0) - spread).max() < 4
    assert _weather.frost_sheet(0, 0.3, 200, 20).shape == (200, 154, 3)
    found = _weather.frost_sheet(2, 0.4, 100, 100)[20:200:60, 20:200:60, 0] * 255
    np.testing.assert_allclose(found, [[216, 183, 203], [165, 171, 197], [201, 193, 226]], atol=0.1)


def test_frost_is_added_to_what_is_kept_of_the_image():
    black, white = (_weather.frost(np.full((30, 30, 3), value), draws(), 0.7, 0.5, 0.2) for value in (0.0, 1.0))
    assert np.allclose(white - black, 0.7)


def test_mud_is_brown_and_water_brightens():
    grey = np.full((64, 64, 3), 0.5)
    muddy = _weather.spatter(grey, draws(), 0.65, 0.1, 0.7, 0.68, 0.6, True)
    assert muddy.min(axis=(0, 1)) == pytest.approx(_weather._MUD, abs=0.05)
    wet = _weather.spatter(grey, draws(), 0.65, 0.3, 1, 0.69, 0.6, False)
    assert (wet > grey - 1e-12).all()
    assert (wet - grey).max() == pytest.approx(0.6 * 238 / 255)


def test_distances_count_steps_of_a_king_and_a_knight():
    outline = np.zeros((7, 9), dtype=bool)
    outline[3, 0] = True
    found = _weather.distances(outline)
    assert found[3, :4].tolist() == [0, 1, 2, 3]
    assert (found[2, 1], found[1, 1], found[1, 2]) == pytest.approx((1.4, 2.1969, 2.8))
    assert found[1, 5] == pytest.approx(1 + 2 * 2.1969)


@pytest.mark.parametrize(("factor", "added"), [(0.3, 0), (2, 0), (5, 0.1), (20, 0.2)])
def test_saturate_and_brightness_change_one_of_hue_saturation_and_value(factor, added):
    for colour in ([0.2, 0.4, 0.1], [0.0, 0.0, 0.0], [0.7, 0.7, 0.7], [1.0, 0.5, 0.0]):
        hue, saturation, value = colorsys.rgb_to_hsv(*colour)
        expected = colorsys.hsv_to_rgb(hue, min(saturation * factor + added, 1), value)
        assert _formulas.saturate(np.array([[colour]]), draws(), factor, added)[0, 0] == pytest.approx(expected)
        brighter = colorsys.hsv_to_rgb(hue, saturation, min(value + added, 1))
        assert _weather.brightness(np.array([[colour]]), draws(), added)[0, 0] == pytest.approx(brighter)


def test_jpeg_is_pillows():
    levels = (noise_image() * 255).round().astype(np.uint8)
    packed = io.BytesIO()
    Image.fromarray(levels).save(packed, "JPEG", quality=25)
    expected = np.asarray(Image.open(packed)) / 255
    assert np.array_equal(_formulas.jpeg_compression(levels / 255, draws(), 25), expected)
