"""The fast bootstrap counts have the multinomial distribution."""

import numpy as np
import pytest
from scipy import stats

from openworld.metrics.detection_intervals import SPLIT, Multinomial

pytestmark = pytest.mark.base


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


def test_the_table_leaves_only_the_steps_open():
    law = Multinomial(10**6)
    open_codes = np.flatnonzero(law.table == SPLIT)
    assert 0 < open_codes.size < 20
    closed = np.bincount(law.table[law.table != SPLIT], minlength=20) / 2**16
    exact = np.diff(law.cumulative, prepend=0)
    assert np.abs(closed[:20] - exact).max() <= 2 / 2**16
