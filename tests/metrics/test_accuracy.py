"""Accuracy, its interval, and HM: by hand, by loop, SciPy, simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from openworld.metrics import accuracy, harmonic_mean

pytestmark = pytest.mark.base

flags = st.lists(st.booleans(), min_size=1, max_size=40)
grouped = st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=1, max_size=40)


@given(flags, st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_interval_equals_scipys_wilson(correct, level):
    result = accuracy(correct, level=level)
    expected = stats.binomtest(sum(correct), len(correct)).proportion_ci(level, method="wilson")
    assert result.value == pytest.approx(np.mean(correct))
    assert result.interval == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert result.effective_n == result.n == len(correct)
    assert 0 <= result.interval[0] <= result.value <= result.interval[1] <= 1


@given(flags)
def test_standard_error_is_that_of_a_mean(correct):
    result = accuracy(correct)
    if 0 < sum(correct) < len(correct):
        assert result.standard_error == pytest.approx(np.std(correct, ddof=1) / len(correct) ** 0.5)
    else:
        assert result.standard_error is None and "differ" in result.reason


def cluster_error(correct, groups) -> float:
    value, names = np.mean(correct), sorted(set(groups))
    sums = [sum(c - value for c, g in zip(correct, groups, strict=True) if g == name) for name in names]
    count = len(groups) ** 2 / sum(groups.count(name) ** 2 for name in names)  # Kish: uneven groups count less
    return (count / (count - 1) * sum(s * s for s in sums)) ** 0.5 / len(correct)


@given(grouped)
def test_clustered_error_equals_a_loop_over_groups(pairs):
    correct, groups = zip(*pairs, strict=True)
    result = accuracy(correct, groups=groups)
    if result.standard_error is not None:
        assert result.standard_error == pytest.approx(cluster_error(correct, groups))
    if result.interval is not None:
        assert 0 <= result.interval[0] <= result.value + 1e-12 and result.value - 1e-12 <= result.interval[1] <= 1
        assert 0 < result.effective_n <= result.n + 1e-9


@given(grouped, st.integers(1, 9))
def test_weights_have_no_scale_and_whole_weights_repeat_samples(pairs, factor):
    correct, weights = np.array(pairs).T
    if not weights.any():
        assert accuracy(correct, weights).value is None
        return
    result = accuracy(correct, weights)
    repeated = accuracy(np.repeat(correct, weights), groups=np.repeat(np.arange(correct.size), weights))
    assert result.value == pytest.approx(repeated.value)
    scaled = accuracy(correct, weights * float(factor))
    assert scaled.interval == pytest.approx(result.interval)
    if result.standard_error is not None:
        assert result.standard_error == pytest.approx(repeated.standard_error)
    assert accuracy(correct, np.full(correct.size, float(factor))).interval == accuracy(correct).interval


def test_clustered_interval_covers_the_truth():
    generator, covered, rounds = np.random.default_rng(0), 0, 400
    groups = np.repeat(np.arange(20), 10)
    for _ in range(rounds):
        difficulty = generator.beta(1.4, 0.6, size=20)  # mean .7, a strong common fate within a group
        low, high = accuracy(generator.random(200) < difficulty[groups], groups=groups).interval
        covered += low <= 0.7 <= high
    assert 0.92 <= covered / rounds <= 0.99


def test_edges_are_honest():
    empty = accuracy([], groups=[])
    assert empty.value is empty.interval is None and empty.reason.startswith("no samples")
    assert accuracy([1]).standard_error is None and accuracy([1]).interval[0] == pytest.approx(0.2065, abs=1e-4)
    perfect = accuracy(np.ones(30), groups=np.repeat([0, 1, 2], 10))
    assert perfect.standard_error is None and perfect.effective_n == 3 and perfect.interval[1] == 1.0
    one_group = accuracy([1, 0, 1], groups=["a", "a", "a"])
    assert one_group.value == pytest.approx(2 / 3)
    assert one_group.interval is one_group.standard_error is one_group.effective_n is None and one_group.reason
    agree = accuracy([1, 0, 1, 0], groups=[0, 0, 1, 1])  # groups agree by chance: no proof of certainty
    assert agree.standard_error is None and agree.effective_n == 2


def test_one_group_that_outweighs_all_others_leaves_nothing_known():
    nearly = accuracy([1, 1, 0], weights=[1, 1, 1e-6], groups=[0, 0, 1])
    assert nearly.interval == pytest.approx((0, 1)) and nearly.effective_n < 1e-6
    assert accuracy([1, 1, 0], weights=[1, 1, 1e-200], groups=[0, 0, 1]).interval is None


@given(st.floats(0, 1), st.floats(0, 1))
def test_harmonic_mean_lies_between_the_smaller_and_the_mean(first, second):
    value = harmonic_mean(first, second)
    assert value == harmonic_mean(second, first)
    assert min(first, second) * (1 - 1e-12) <= value <= (first + second) / 2 + 1e-12
    if first + second > 1e-100:
        assert value == pytest.approx(2 * first * second / (first + second), abs=1e-12)
    if min(first, second) == 0:
        assert value == 0
