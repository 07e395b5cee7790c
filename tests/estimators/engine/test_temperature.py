"""Source temperature: by hand, the slope at the optimum, and where there is none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from simulated import outputs

from openworld.estimators.engine.temperature import BOUNDS, _slopes, blocks, source_temperature


def likelihood(data, temperature):
    """Mean negative log-likelihood."""
    z = data.logits / temperature
    return float((logsumexp(z, axis=1) - z[np.arange(data.n), data.labels]).mean())


@given(st.integers(0, 10**6), st.floats(0.05, 20))
def test_it_is_the_lowest_point_and_scales_with_the_logits(seed, scale):
    data = outputs(seed, 80, strength=1.5)
    found = source_temperature(data.logits, data.labels).value
    by_search = minimize_scalar(lambda log: likelihood(data, np.exp(log)), bounds=np.log(BOUNDS), method="bounded")
    assert likelihood(data, found) <= by_search.fun + 1e-12
    assert abs(_slopes(data.logits, data.labels, 1 / found)[0]) < 1e-9
    if BOUNDS[0] < scale * found < BOUNDS[1]:
        assert source_temperature(scale * data.logits, data.labels).value == pytest.approx(scale * found, rel=1e-9)


def test_pulls_tell_the_temperature_of_a_resample():
    data, rng = outputs(0, 400, strength=1.0), np.random.default_rng(0)
    whole = source_temperature(data.logits, data.labels)
    assert whole.pulls.sum() == pytest.approx(0, abs=1e-9)
    told, refitted = [], []
    for rows in rng.integers(0, 400, (40, 400)):
        told.append(whole.pulls[rows].mean())
        refitted.append(np.log(source_temperature(data.logits[rows], data.labels[rows]).value / whole.value))
    assert np.corrcoef(told, refitted)[0, 1] > 0.98
    assert np.std(told) == pytest.approx(np.std(refitted), rel=0.15)


def test_without_a_mistake_it_is_one_and_says_so():
    found = source_temperature(np.eye(3), np.arange(3))
    assert found.value == 1 and "no source image is named wrong" in found.warning


def test_an_optimum_outside_the_bounds_is_said():
    worse_than_chance = source_temperature(np.array([[2.0, 0.0]] * 4), np.array([1, 1, 1, 0]))
    assert worse_than_chance.value == BOUNDS[1] and "no optimum inside" in worse_than_chance.warning
    nearly_right = source_temperature(np.array([[1e-4, 0.0]] * 99 + [[0.0, 0.0]]), np.array([0] * 99 + [1]))
    assert nearly_right.value == BOUNDS[0] and "no optimum inside" in nearly_right.warning


def test_huge_logits_do_not_overflow():
    data = outputs(1, strength=1.0)
    expected = source_temperature(data.logits, data.labels).value
    found = source_temperature(data.logits * 40 + 1e6, data.labels)
    assert found.value == pytest.approx(40 * expected, rel=1e-6)


def test_blocks_cover_every_row_once():
    assert [row for rows in blocks(10, 10**6) for row in range(10)[rows]] == list(range(10))
