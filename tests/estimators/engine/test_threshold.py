"""Threshold rules: by hand, the source itself, ATC's search, ties, the ends; resamples of what remains of images."""

from math import inf, nextafter
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated import refused

from openworld.estimators.engine import fitted as bootstrap
from openworld.estimators.engine.threshold import (
    Rule,
    below_threshold,
    between,
    share_below,
    threshold,
    threshold_warnings,
)

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


@pytest.mark.parametrize("rule", get_args(Rule))
def test_thresholds_equal_a_literal_resampling(rule):
    rng = np.random.default_rng(0)
    source, target = rng.normal(1, 1, 80), rng.normal(0.5, 1, 120)
    wrong = rng.random(80) < 1 / (1 + np.exp(2 * source))

    def literal():
        rows = rng.integers(0, 80, 80)
        cut = threshold(source[rows], int(wrong[rows].sum()), rule)
        return share_below(target[rng.integers(0, 120, 120)], cut)

    slow = np.array([literal() for _ in range(1000)])
    fast = below_threshold(source, wrong, target, rule, 1000, rng)
    assert fast.mean() == pytest.approx(slow.mean(), abs=0.01)
    assert fast.std() == pytest.approx(slow.std(), rel=0.1)
    scores = np.arange(30.0)
    never = below_threshold(scores, np.zeros(30, bool), scores, rule, 20, rng)
    assert not never.any()
    always = below_threshold(scores, np.ones(30, bool), scores, rule, 20, rng)
    assert always.min() > 0.7


def test_means_and_shares_spread_as_they_should(monkeypatch):
    rng = np.random.default_rng(0)
    values = rng.random(500)
    drawn = bootstrap.means(values, 2000, rng)
    assert drawn.mean() == pytest.approx(values.mean(), abs=2e-3)
    assert drawn.std() == pytest.approx(values.std() / 500**0.5, rel=0.08)
    assert bootstrap.shares(0.3, 500, rng, 2000).std() == pytest.approx((0.21 / 500) ** 0.5, rel=0.08)
    monkeypatch.setattr(bootstrap, "LIMIT_FROM", 500)  # as of many values: from the normal limit
    assert bootstrap.means(values, 2000, rng).std() == pytest.approx(drawn.std(), rel=0.08)


def test_undefined_resamples_are_left_out_until_too_many_are():
    errors = np.r_[np.full(60, 0.25), np.full(40, np.nan)]
    assert bootstrap.accuracy_interval(errors) == (0.75, 0.75)
    assert bootstrap.accuracy_interval(np.where(np.arange(100) < 30, 0.25, np.nan)) is None
    refused("expected 20 or more", bootstrap.accuracy_interval, np.zeros(19))
