"""The sorted counts behind the ranking metrics, against plain loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openworld.metrics._sweep import Sweep, count_wins, place, win_shares

pytestmark = pytest.mark.base

levels = st.lists(st.integers(-3, 3).map(float), max_size=15).map(lambda values: np.array(values, float))


def double_wins(high, low):
    return sum(2 * (x > y) + (x == y) for x in high for y in low)


@given(levels, levels)
def test_count_wins_is_the_double_loop(high, low):
    assert count_wins(high, low) == double_wins(high, low) == Sweep.of(high, low).double_wins()


@given(levels, levels)
def test_place_is_searchsorted(ranked, queries):
    ranked, queries = np.sort(ranked), np.sort(queries)
    below, upto = place(ranked, queries)
    assert below.tolist() == np.searchsorted(ranked, queries, "left").tolist()
    assert upto.tolist() == np.searchsorted(ranked, queries, "right").tolist()


@given(levels, levels, st.randoms(use_true_random=False))
def test_win_shares_is_the_loop(scores, others, random):
    weights = np.array([random.randint(1, 4) for _ in others], float)
    expected = [sum(w * ((x > y) + 0.5 * (x == y)) for y, w in zip(others, weights, strict=True)) for x in scores]
    assert win_shares(scores, others, weights, 1.0).tolist() == expected
    if others.size:
        assert np.allclose(win_shares(scores, others, weights), np.array(expected) / weights.sum())


@given(levels, levels)
def test_sweep_counts_what_is_kept(in_scores, out_scores):
    sweep = Sweep.of(in_scores, out_scores)
    assert sweep.thresholds.tolist() == sorted({*in_scores, *out_scores}, reverse=True)
    assert sweep.in_kept.tolist() == [(in_scores >= threshold).sum() for threshold in sweep.thresholds]
    assert sweep.out_kept.tolist() == [(out_scores >= threshold).sum() for threshold in sweep.thresholds]
    assert (sweep.n_in, sweep.n_out) == (in_scores.size, out_scores.size)


def test_neighbouring_floats_are_told_apart_and_zeros_are_equal():
    one, above = np.array([1.0]), np.nextafter([1.0], 2)
    assert count_wins(above, one) == 2 and count_wins(one, above) == 0
    assert count_wins(np.array([0.0]), np.array([-0.0])) == 1
