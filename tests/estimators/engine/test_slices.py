"""Mandoline's slices: by hand, by search, what is out of reach, refusals."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import logsumexp
from simulated import outputs, refused

from openworld.estimators import IM, Outputs
from openworld.estimators.importance import tilted

seeds = st.integers(0, 10**6)


def estimate(source, target, **chosen):
    return IM(slices="given", **chosen).fit(source).estimate(target, interval=False)


def grouped(seed, n=300, count=3):
    """Outputs of images of which the first group is harder; half of all images are in each group."""
    one, rng = outputs(seed, n), np.random.default_rng(seed)
    slices = rng.random((n, count)) < 0.5
    labels = np.where(slices[:, 0] & (rng.random(n) < 0.5), (one.labels + 1) % 4, one.labels)
    return replace(one, labels=labels, slices=slices)


def test_by_hand():
    """A quarter of the source is night, and always wrong; half of the target is."""
    source = Outputs([[1.0, 0.0]] * 4, [1, 0, 0, 0], slices=[[1], [0], [0], [0]])
    found = estimate(source, Outputs([[1.0, 0.0]] * 2, slices=[[True], [False]]))
    assert found.error == pytest.approx(0.5) and found.sample_scores is None
    assert found.details["effective_source"] == pytest.approx(1 / (0.25 + 3 / 36))


@given(seeds, st.booleans())
def test_equals_a_search_over_images(seed, pairs):
    source, target = grouped(seed), grouped(seed + 1, 80)
    products = pairs * [(0, 1), (0, 2), (1, 2)]
    g, wanted = (
        np.column_stack([one.slices, *(one.slices[:, i] * one.slices[:, j] for i, j in products)])
        for one in (source, target)
    )
    wanted = wanted.mean(axis=0)
    theta = minimize(lambda t: logsumexp(g @ t) - wanted @ t, np.zeros(g.shape[1]), tol=1e-12, method="BFGS").x
    weights = np.exp(g @ theta)
    found = estimate(source, target, pairs=pairs)
    assert found.error == pytest.approx(np.average(source.wrong, weights=weights), abs=1e-5)


@given(seeds)
def test_on_the_source_itself_the_error_is_the_sources(seed):
    source = grouped(seed)
    assert estimate(source, source).error == pytest.approx(source.mistakes / source.n, abs=1e-9)


def test_a_slice_that_the_target_lacks_and_one_that_the_source_lacks():
    both = Outputs([[1.0, 0.0]] * 4, [1, 0, 0, 0], slices=[[1], [0], [0], [0]])
    day = Outputs([[1.0, 0.0]] * 2, [0, 1], slices=[[0], [0]])
    assert estimate(both, day).error == pytest.approx(0, abs=1e-6)
    unknown = IM(slices="given").fit(day).estimate(both)
    assert unknown.accuracy is None and unknown.interval is None and "no weights" in unknown.warnings[0]


def test_slices_that_repeat_each_other():
    source, target = grouped(0), grouped(1)
    twice = (replace(one, slices=np.column_stack([one.slices, -one.slices])) for one in (source, target))
    assert estimate(*twice).error == pytest.approx(estimate(source, target).error, abs=1e-9)


def test_the_interval_spreads_as_other_sets_do():
    found = [IM(slices="given").fit(grouped(i)).estimate(grouped(i + 500), resamples=40) for i in range(30)]
    width = np.mean([high - low for low, high in (one.interval for one in found)]) / (2 * 1.96)
    assert width == pytest.approx(np.std([one.accuracy for one in found]), rel=0.35)


def test_few_images_that_carry_the_weight_are_said():
    source, target = (replace(grouped(0), slices=np.arange(300)[:, None] < count) for count in (3, 250))
    assert "the weights leave" in estimate(source, target).warnings[-1]


def test_what_is_missing_or_out_of_reach_is_said():
    assert tilted(np.array([[-1.0], [1.0]]), np.array([3, 0]), np.array([0.5])) is None
    fitted = IM(slices="given").fit(grouped(0))
    refused("slices='given' needs slices", IM(slices="given").fit, outputs(0))
    refused("slices='given' needs slices", fitted.estimate, outputs(0))
    refused("the target's slices and their pairs are 2, the source's 3", fitted.estimate, grouped(1, count=2))
