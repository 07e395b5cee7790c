"""TTC: definition and slope of the divergence, the lowest point over all temperatures, bounds, large sets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax

from openworld.estimators import dirichlet_reference, uniform_reference
from openworld.estimators.engine import reference_calibration
from openworld.estimators.engine.reference_calibration import BOUNDS, divergence, reference_temperature

seeds = st.integers(0, 10**6)


def drawn(seed, n=12, classes=4):
    """A judged model's probabilities, and similarities that go along with them."""
    rng = np.random.default_rng(seed)
    base = softmax(3 * rng.normal(size=(n, classes)), axis=1)
    return base, 0.2 + 0.1 * np.log(base) + 0.1 * rng.normal(size=(n, classes))  # best at some .1, far from BOUNDS


def slope(base, similarities, tau):
    """Derivative of the divergence by tau, as worked out on paper."""
    q = softmax(similarities / tau, axis=1)
    r = np.log(q / ((q + base) / 2))
    centred = similarities - (q * similarities).sum(axis=1, keepdims=True)
    return -0.5 * np.mean((q * centred * r).sum(axis=1)) / tau**2


@given(seeds, st.floats(0.05, 20))
def test_the_divergence_is_its_definition_and_so_is_its_slope(seed, tau):
    base, similarities = drawn(seed)
    q = softmax(similarities / tau, axis=1)
    m = (q + base) / 2
    expected = np.mean((q * np.log(q / m) + base * np.log(base / m)).sum(axis=1)) / 2
    assert divergence(base, similarities, tau) == pytest.approx(expected, abs=1e-12)
    step = 1e-5 * tau
    sides = divergence(base, similarities, tau + step) - divergence(base, similarities, tau - step)
    assert slope(base, similarities, tau) == pytest.approx(sides / (2 * step), rel=1e-4, abs=1e-6)


@given(seeds)
def test_the_found_temperature_is_the_lowest_point(seed):
    base, similarities = drawn(seed)
    found, order = reference_temperature(base, similarities), np.random.default_rng(seed).permutation(12)
    assert found.warning is None and found == reference_temperature(base[order], similarities[order])  # to the last bit
    assert slope(base, similarities, found.value) * found.value == pytest.approx(0, abs=1e-7)
    assert found.divergence <= min(divergence(base, similarities, tau) for tau in np.geomspace(*BOUNDS, 199)) + 1e-12


@given(seeds, st.floats(0.5, 10), st.floats(-1, 1))
def test_scale_and_offset_of_the_similarities_do_not_matter(seed, scale, offset):
    base, similarities = drawn(seed)
    one, other = (reference_temperature(base, each) for each in (similarities, scale * similarities + offset))
    assert other.value == pytest.approx(scale * one.value, rel=1e-6)
    assert other.divergence == pytest.approx(one.divergence, abs=1e-12)


def test_many_images_end_where_the_whole_grid_ends(monkeypatch):
    monkeypatch.setattr(reference_calibration, "NUMBERS", 0)
    base, similarities = drawn(0, 600)
    similarities[::3] = similarities[::3] * 0.2 + 0.16  # the rows that the grid is looked at on are unlike the others
    found = reference_temperature(base, similarities)
    grid = np.geomspace(*BOUNDS, 201)
    nearest = grid[np.argmin([divergence(base, similarities, tau) for tau in grid])]
    assert abs(np.log(found.value / nearest)) < np.log(grid[1] / grid[0])
    assert abs(slope(base, similarities, found.value)) * found.value < 1e-7


def test_a_reference_that_says_nothing_is_called_uninformative():
    sure = np.eye(4)[np.arange(40) % 4]
    random = reference_temperature(sure, dirichlet_reference(40, 4, seed=1))
    assert random.value == BOUNDS[1] and "uninformative" in random.warning
    uniform = reference_temperature(sure, uniform_reference(40, 4))
    assert uniform.value == 1 and "uninformative" in uniform.warning


def test_a_judged_model_more_certain_than_any_temperature():
    sure = np.eye(4)[np.arange(40) % 4]
    found = reference_temperature(sure, sure * 1e-4)
    assert found.value == BOUNDS[0] and "lower bound" in found.warning
