"""Bootstrap: thresholds against a literal resampling, spreads against theory, limits, undefined resamples."""

from typing import get_args

import numpy as np
import pytest
from simulated import refused

from openworld.estimators.engine import fitted as bootstrap
from openworld.estimators.engine.threshold import Rule, below_threshold, share_below, threshold


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
