"""Averages over seeds and over test sets: means and the interval over images."""

import numpy as np
import pytest

from openworld.metrics import QUANTITIES, average, mean_over_sets, openworld_auc, seed_spread

pytestmark = pytest.mark.base


def seeds(count=3, n_base=50, n_new=40):
    rng = np.random.default_rng(0)
    hard = rng.random(n_base), rng.random(n_new)
    return [
        openworld_auc(rng.normal(1, 1, n_base), hard[0] < rng.normal(0.8, 0.05), rng.normal(0, 1, n_new), hard[1] < 0.6)
        for _ in range(count)
    ]


@pytest.mark.parametrize("of", QUANTITIES)
def test_of_one_seed_it_is_that_seed(of):
    result = seeds(1)[0]
    estimate, expected = average([result]).estimate(of), result.estimate(of)
    assert estimate == expected and estimate.standard_error == expected.standard_error


def test_mean_and_error_over_images_come_from_mean_components():
    results = seeds()
    mean = average(results)
    base = np.mean([one.base_components for one in results], axis=0)
    new = np.mean([one.new_components for one in results], axis=0)
    assert mean.value == pytest.approx(np.mean([one.value for one in results]))
    expected = np.sqrt(base.var(ddof=1) / base.size + new.var(ddof=1) / new.size)
    assert mean.standard_error == pytest.approx(expected, rel=1e-12)
    assert mean.interval()[0] < mean.value < mean.interval()[1]
    assert mean.seed_values() == tuple(one.value for one in results)
    assert len(mean.results) == 3 and mean.error_reason is None and mean.reason is None


def test_undefined():
    empty = openworld_auc([1.0], [1], [], [])
    mean = average([empty, empty])
    assert mean.value is None and mean.reason == "result 1 of 2: there is no new sample"
    assert mean.interval() is None


@pytest.mark.parametrize("values", [[0.3, 0.1 + 0.2, 0.3], [1.0, 1.0], [0.7 - 0.4, 0.3, 0.3]])
def test_seeds_that_agree_but_for_rounding_have_no_interval(values):
    assert seed_spread(values).interval() is None and "no evidence" in seed_spread(values).interval_reason


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
