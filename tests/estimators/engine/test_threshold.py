"""Threshold rules: by hand, the source itself, ATC's search, ties, the ends."""

from math import inf, nextafter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openworld.estimators.engine.threshold import between, share_below, threshold, threshold_warnings

scores_and_mistakes = st.lists(st.floats(-5, 5), min_size=1, max_size=40).flatmap(
    lambda scores: st.tuples(st.just(np.array(scores)), st.integers(0, len(scores)))
)


def by_search(scores, wrong):
    """ATC's sweep: where false positives and false negatives differ least."""
    ordered, wrong = np.sort(scores), wrong[np.argsort(scores)]
    gaps = [abs(int((~wrong[: i + 1]).sum()) - int(wrong[i + 1 :].sum())) for i in range(len(scores))]
    return ordered[int(np.argmin(gaps))]


@given(scores_and_mistakes)
def test_midpoint_gives_the_source_error_on_the_source(drawn):
    scores, mistakes = drawn
    ordered = np.sort(scores)
    tied = 0 < mistakes < len(scores) and ordered[mistakes - 1] == ordered[mistakes]
    below = share_below(scores, threshold(scores, mistakes)) * len(scores)
    assert below == pytest.approx(mistakes) or (tied and below < mistakes)


@given(scores_and_mistakes)
def test_reference_gives_one_mistake_fewer(drawn):
    scores, mistakes = np.unique(drawn[0]), drawn[1]
    if 1 <= mistakes <= len(scores):
        below = share_below(scores, threshold(scores, mistakes, "reference"))
        assert below * len(scores) == pytest.approx(mistakes - 1)


@given(st.integers(0, 10**6))
def test_reference_is_where_the_search_ends(seed):
    rng = np.random.default_rng(seed)
    scores, wrong = rng.normal(size=30), rng.random(30) < 0.3
    if wrong.any():
        assert threshold(scores, int(wrong.sum()), "reference") == by_search(scores, wrong)


def test_the_ends():
    assert threshold(np.array([0.5, 0.1, 0.4, 0.2]), 2) == pytest.approx(0.3)
    scores = np.array([1.0, 2.0])
    assert threshold(scores, 0) == threshold(scores, 0, "reference") == -inf
    assert threshold(scores, 2) == inf and threshold(scores, 2, "reference") == 2.0
    assert share_below(scores, -inf) == 0 and share_below(scores, inf) == 1


def test_neighbouring_numbers_have_a_threshold_between_them():
    low = 0.3
    high = nextafter(low, 1)
    assert low < between(low, high, "midpoint") <= high
    assert share_below(np.array([low, high]), threshold(np.array([low, high]), 1)) == 0.5


def test_warnings():
    scores = np.r_[np.zeros(30), np.ones(30)]
    assert "no source image" in threshold_warnings(scores, 0, -inf)[0]
    assert "only 5 source images are named wrong" in threshold_warnings(scores, 5, 0.0)[0]
    assert "only 5 source images are named right" in threshold_warnings(scores, 55, 1.0)[0]
    assert "every source image is named wrong" in threshold_warnings(scores, 60, inf)[0]
    assert "30 source scores tie" in threshold_warnings(scores, 25, threshold(scores, 25))[0]
    assert threshold_warnings(scores, 30, threshold(scores, 30)) == ()
