"""Resampled threshold metrics: exact against the plain ones, clusters drawn whole, one draw; the law of counts."""

import numpy as np
import pytest
from scipy import stats

from openworld.metrics import detection_metrics
from openworld.metrics.detection_intervals import METRICS, SPLIT, Multinomial, draw_counts, resampled

pytestmark = pytest.mark.base


def drawn(scores, counts):
    return np.repeat(scores, counts)


@pytest.mark.parametrize("decimals", [0, 3])
def test_a_replicate_is_the_metric_of_the_images_that_were_drawn(decimals):
    generator = np.random.default_rng(0)
    inside, out = np.round(generator.normal(1, 1, 40), decimals), np.round(generator.normal(0, 1, 25), decimals)
    counts = draw_counts([np.arange(40), np.arange(100, 125)], 20, seed=1)
    values = resampled(inside, out, *counts)
    for replicate in range(20):
        plain = detection_metrics(*(drawn(s, c[replicate]) for s, c in zip((inside, out), counts, strict=True)))
        for name in METRICS:
            assert values[name][replicate] == pytest.approx(getattr(plain, name), abs=1e-12), name


def test_images_of_one_cluster_are_drawn_together_in_every_set():
    inside, out, alone = draw_counts([["a", "a", "b"], ["b", "c"], ["d", "e"]], 50, seed=0)
    assert (inside[:, 0] == inside[:, 1]).all() and (inside[:, 2] == out[:, 0]).all()
    assert (alone.sum(axis=1) == 2).all() and len(np.unique(inside[:, 2])) > 1


def test_a_replicate_without_an_image_of_a_side_has_no_value():
    values = resampled(np.array([1.0]), np.array([0.0]), np.array([[1], [0]]), np.array([[1], [1]]))
    assert all(np.isnan(value[1]) and not np.isnan(value[0]) for value in values.values())


@pytest.mark.parametrize("n", [1, 2, 7, 26, 1000, 100_003])
def test_counts_add_up(n):
    law, generator = Multinomial(n), np.random.default_rng(0)
    for _ in range(5):
        counts = law(generator)
        assert counts.size == n and counts.sum() == n and counts.min() >= 0


@pytest.mark.parametrize("n", [30, 2000])
def test_each_count_is_binomial(n):
    law, generator = Multinomial(n), np.random.default_rng(1)
    counts = np.array([law(generator) for _ in range(200_000 // n)])
    for unit in (0, n // 2, n - 1) if n < 100 else (slice(None),):
        seen = np.bincount(np.minimum(counts[:, unit].ravel(), 4), minlength=5)
        expected = stats.binom.pmf(np.arange(4), n, 1 / n)
        expected = np.append(expected, 1 - expected.sum()) * seen.sum()
        assert stats.chisquare(seen, expected).pvalue > 1e-3


def test_two_counts_covary_as_they_should():
    law, generator = Multinomial(40), np.random.default_rng(2)
    counts = np.array([law(generator) for _ in range(20_000)])
    covariance = np.cov(counts.T)
    assert np.diag(covariance).mean() == pytest.approx(1 - 1 / 40, rel=0.01)
    assert covariance[~np.eye(40, dtype=bool)].mean() == pytest.approx(-1 / 40, rel=0.02)


def test_the_table_leaves_only_the_steps_open():
    law = Multinomial(10**6)
    open_codes = np.flatnonzero(law.table == SPLIT)
    assert 0 < open_codes.size < 20
    closed = np.bincount(law.table[law.table != SPLIT], minlength=20) / 2**16
    exact = np.diff(law.cumulative, prepend=0)
    assert np.abs(closed[:20] - exact).max() <= 2 / 2**16
