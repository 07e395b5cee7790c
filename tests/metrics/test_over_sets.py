"""The mean over test sets: by hand, against independent and identical sets, and against a bootstrap over groups."""

import numpy as np
import pytest

from openworld.metrics import mean_over_sets, openworld_auc

pytestmark = pytest.mark.base


def result(seed, base=40, new=50, per_group=1, shift=0.5):
    rng = np.random.default_rng(seed)
    scores = rng.normal(1, 1, base), rng.normal(1 - shift, 1, new)
    right = rng.random(base) < 0.8, rng.random(new) < 0.6
    groups = np.arange(base) // per_group, 1000 + np.arange(new) // per_group
    return openworld_auc(scores[0], right[0], scores[1], right[1], base_groups=groups[0], new_groups=groups[1]), groups


def test_independent_sets_add_their_variances():
    results, groups = zip(*(result(seed, per_group=2) for seed in (1, 2, 3)), strict=True)
    apart = [(base + 10_000 * place, new + 10_000 * place) for place, (base, new) in enumerate(groups)]
    mean = mean_over_sets(results, apart)
    assert mean.value == pytest.approx(np.mean([one.value for one in results]))
    expected = np.sqrt(sum(one.standard_error**2 for one in results)) / 3
    assert mean.standard_error == pytest.approx(expected, rel=0.02)  # one small-sample factor instead of three
    assert mean.interval()[0] < mean.value < mean.interval()[1]


def test_a_set_that_counts_twice_says_nothing_more():
    one, groups = result(1)
    twice = mean_over_sets([one, one], [groups, groups])
    assert twice.value == pytest.approx(one.value)
    assert twice.standard_error == pytest.approx(one.standard_error)


def test_shared_base_images_make_the_mean_less_certain():
    rng = np.random.default_rng(5)
    base, right = rng.normal(1, 1, 60), rng.random(60) < 0.7
    news = [(rng.normal(0.3, 1, 400), rng.random(400) < 0.9) for _ in range(3)]
    results = [openworld_auc(base, right, *new) for new in news]
    own = [np.arange(400) + 1000 * place for place in (1, 2, 3)]
    shared = mean_over_sets(results, [(np.arange(60), new) for new in own])
    apart = mean_over_sets(results, [(np.arange(60) + 100_000 * place, new) for place, new in enumerate(own)])
    assert shared.value == apart.value and shared.standard_error > 1.3 * apart.standard_error


def test_an_undefined_set_leaves_the_mean_undefined():
    one, groups = result(1)
    none = openworld_auc([1, 2], [1, 1], [], [])
    mean = mean_over_sets([one, none], [groups, ([1, 2], [])])
    assert mean.value is None and mean.reason == "set 2 of 2: there is no new sample"
