"""Each formula by hand, by statistics, or by a plain loop."""

import colorsys
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from scipy.ndimage import correlate, gaussian_filter, map_coordinates, zoom

from openworld.datasets.corruptions import _filters, _formulas, _weather


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


def test_the_fourier_filter_is_the_plain_sum():
    pixels, kernel = noise_image(), _formulas.disk(3, 0.5)
    plain = np.stack([correlate(pixels[..., k], kernel, mode="mirror") for k in range(3)], axis=2)
    assert np.allclose(_filters.filtered(pixels, kernel), plain, atol=1e-12)


@pytest.mark.parametrize(("radius", "pixels"), [(0.3, 1), (1, 5), (1.5, 9), (3, 29), (10, 317)])
def test_a_disk_holds_the_places_within_its_radius(radius, pixels):
    sharp = _formulas.disk(radius, 0.01)
    assert sharp.sum() == pytest.approx(1)
    assert (sharp > 1e-9).sum() == pixels
    assert np.allclose(sharp, sharp.T)


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


def test_motion_looks_one_way_along_its_angle():
    point = np.zeros((21, 21))
    point[10, 10] = 1
    found = _filters.moved(point, 3, 1.0, 0)
    weights = np.exp(-(np.arange(7.0) ** 2) / 2)
    assert np.allclose(found[10, 10:3:-1], weights / weights.sum())
    assert found.sum() == pytest.approx(1)
    assert np.allclose(_filters.moved(point, 3, 1.0, 90)[10:3:-1, 10], weights / weights.sum())


@pytest.mark.parametrize("factor", [1.0, 1.06, 1.3, 2.25, 4.5])
@pytest.mark.parametrize("size", [(20, 20), (33, 20)])
def test_a_zoom_is_scipys_cut_to_size(factor, size):
    pixels = noise_image(*size)
    kept = [int(np.ceil(length / factor)) for length in size]
    first = [(length - own) // 2 for length, own in zip(size, kept, strict=True)]
    middle = pixels[first[0] : first[0] + kept[0], first[1] : first[1] + kept[1]]
    large = zoom(middle, (factor, factor, 1), order=1)
    cut = [(own - length) // 2 for own, length in zip(large.shape, size, strict=False)]
    expected = large[cut[0] : cut[0] + size[0], cut[1] : cut[1] + size[1]]
    assert np.allclose(_filters.zoomed(pixels, factor), expected)


@pytest.mark.parametrize("deviation", [0, 0.6, 7, 40])
def test_waves_are_scipys_gaussian(deviation):
    plain = draws(3).uniform(-1, 1, size=(20, 33))
    expected = gaussian_filter(plain, deviation, mode="reflect", truncate=3)
    assert np.allclose(_filters.waves(20, 33, deviation, draws(3)), expected, atol=1e-12)


@pytest.mark.parametrize(("mode", "twice"), [("mirror", False), ("reflect", True)])
def test_places_between_pixels_are_scipys(mode, twice):
    pixels = noise_image()
    rows, columns = draws(1).uniform(-60, 90, size=(2, 24, 20))
    expected = [map_coordinates(pixels[..., k], (rows, columns), order=1, mode=mode) for k in range(3)]
    assert np.allclose(_filters.sampled(pixels, rows, columns, twice=twice), np.stack(expected, axis=2), atol=1e-12)


def test_a_fractal_fills_its_range_and_has_no_seam():
    heights = _weather.plasma(64, 2.0, draws())
    assert (heights.min(), heights.max()) == (0, 1)
    seam = np.abs(heights[0] - heights[-1]).mean()
    assert seam < 3 * np.abs(np.diff(heights, axis=0)).mean()
    smooth, rough = (np.abs(np.diff(_weather.plasma(64, decay, draws()), axis=0)).mean() for decay in (3, 1.4))
    assert smooth < rough


def test_fog_keeps_the_brightest_value():
    pixels = noise_image() * 0.8
    foggy = _weather.fog(pixels, draws(), 1.5, 2)
    assert foggy.max() <= pixels.max()
    assert foggy.std() < pixels.std()


def test_frost_sheets_have_the_photographs_tints():
    for number, (colour, spread, _) in enumerate(_weather._TINTS):
        sheet = _weather.frost_sheet(number, 1.0, 100, 100).reshape(-1, 3) * 255
        assert np.abs(sheet.mean(axis=0) - colour).max() < 6
        assert np.abs(sheet.std(axis=0) - spread).max() < 4
    assert _weather.frost_sheet(0, 0.3, 200, 20).shape == (200, 154, 3)


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


def test_the_edge_of_a_step_is_one_pixel_wide():
    levels = np.zeros((9, 9))
    levels[:, 5:] = 200
    found = _weather.edges(levels, 50, 150)
    assert np.flatnonzero(found.any(axis=0)).tolist() == [4]
    assert found[:, 4].all()


def test_a_faint_edge_counts_where_it_hangs_on_a_strong_one():
    faint = np.zeros((9, 12))
    faint[:, 6:] = 20
    assert not _weather.edges(faint, 50, 150).any()
    joined = faint.copy()
    joined[:4, 6:] = 200
    assert _weather.edges(joined, 50, 150)[-1].any()


def test_distances_count_steps_of_a_king_and_a_knight():
    outline = np.zeros((7, 9), dtype=bool)
    outline[3, 0] = True
    found = _weather.distances(outline)
    assert found[3, :4].tolist() == [0, 1, 2, 3]
    assert (found[2, 1], found[1, 1], found[1, 2]) == pytest.approx((1.4, 2.1969, 2.8))
    assert found[1, 5] == pytest.approx(1 + 2 * 2.1969)


def test_contrast_keeps_each_channels_mean():
    pixels = noise_image()
    found = _formulas.contrast(pixels, draws(), 0.3)
    assert np.allclose(found.mean(axis=(0, 1)), pixels.mean(axis=(0, 1)))
    assert np.allclose(found.std(axis=(0, 1)), 0.3 * pixels.std(axis=(0, 1)))


@pytest.mark.parametrize(("factor", "added"), [(0.3, 0), (2, 0), (5, 0.1), (20, 0.2)])
def test_saturate_and_brightness_change_one_of_hue_saturation_and_value(factor, added):
    for colour in ([0.2, 0.4, 0.1], [0.0, 0.0, 0.0], [0.7, 0.7, 0.7], [1.0, 0.5, 0.0]):
        hue, saturation, value = colorsys.rgb_to_hsv(*colour)
        expected = colorsys.hsv_to_rgb(hue, min(saturation * factor + added, 1), value)
        assert _formulas.saturate(np.array([[colour]]), draws(), factor, added)[0, 0] == pytest.approx(expected)
        brighter = colorsys.hsv_to_rgb(hue, saturation, min(value + added, 1))
        assert _weather.brightness(np.array([[colour]]), draws(), added)[0, 0] == pytest.approx(brighter)


def test_pixelate_averages_boxes():
    pixels = np.zeros((16, 16, 3))
    pixels[0, 0] = 1
    found = _formulas.pixelate(pixels, draws(), 0.5)
    assert np.unique(found.round(3)).tolist() == [0, pytest.approx(64 / 255, abs=1e-3)]
    assert (found[:2, :2] > 0).all()


def test_jpeg_is_pillows():
    levels = (noise_image() * 255).round().astype(np.uint8)
    packed = io.BytesIO()
    Image.fromarray(levels).save(packed, "JPEG", quality=25)
    expected = np.asarray(Image.open(packed)) / 255
    assert np.array_equal(_formulas.jpeg_compression(levels / 255, draws(), 25), expected)


def test_elastic_without_jitter_or_waves_changes_nothing():
    pixels = noise_image()
    assert np.allclose(_formulas.elastic_transform(pixels, draws(), 0, 0, 0), pixels)


def test_an_affine_map_takes_moved_corners_back():
    affine = _formulas._random_affine(30, 40, 3.0, draws(5))
    shift = draws(5).uniform(-3, 3, size=(3, 2))
    corners = np.array([20, 15]) + 10 * np.array([[1, 1], [1, -1], [-1, -1]])
    assert np.allclose(np.column_stack([corners + shift, np.ones(3)]) @ affine, corners)
