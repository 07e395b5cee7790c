"""Ranks and rank tests: by hand, against a loop, SciPy, scikit-posthocs, Demsar's table and OpenPL's tables."""

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from openworld.metrics.ranks import final_ranks, friedman_test, level_ranks, nemenyi

pytestmark = pytest.mark.base

PUBLISHED = Path(__file__).parents[1] / "reference" / "openpl_excerpt.csv"

shapes = st.tuples(st.integers(1, 6), st.integers(1, 4), st.integers(1, 4))
tables = shapes.flatmap(lambda shape: arrays(np.int64, shape, elements=st.integers(0, 5)))


def scores(methods: int, blocks: int, seed: int = 0) -> np.ndarray:
    generator = np.random.default_rng(seed)
    return (generator.random((methods, blocks)) + np.linspace(0, 0.6, methods)[:, None]).round(1)  # with ties


@given(tables)
def test_ranks_equal_counting_by_hand(table):
    ranks = level_ranks(table)
    for place in np.ndindex(table.shape):
        column = table[:, *place[1:]].tolist()
        mine = column[place[0]]
        positions = [i for i, value in enumerate(sorted(column, reverse=True), start=1) if value == mine]
        assert ranks[place] == sum(positions) / len(positions)


def test_final_ranks_of_sums_that_differ_in_the_last_bit():
    assert final_ranks([0.1 + 0.2, 0.3, 0.0]).tolist() == [2.5, 2.5, 1.0]


def published(metric: str, tables) -> dict[str, list[float]]:
    rows = defaultdict(list)
    with PUBLISHED.open(newline="") as file:
        for row in csv.DictReader(file):
            if row["metric"] == metric and int(row["table"]) in tables:
                rows[row["method"]].append(float(row["value"]))
    return rows


def test_openpl_table_6_follows_from_its_eleven_data_sets():
    per_data_set, average = published("Friedman_rank", range(36, 47)), published("Friedman_rank", [6])
    for method, ranks in per_data_set.items():
        assert len(ranks) == 11
        assert np.mean(ranks) == pytest.approx(average[method][0], abs=0.0006), method
    printed = published("Final_rank", [6])
    means = [average[method][0] for method in printed]
    assert sum(means) == pytest.approx(66, abs=0.006)
    ours, theirs = final_ranks(means), [value[0] for value in printed.values()]
    for rank, mean, final in zip(theirs, means, ours, strict=True):
        ties = means.count(mean)  # where means tie, OpenPL prints consecutive ranks and we their average
        assert abs(rank - final) <= (ties - 1) / 2


def test_friedman_equals_scipy():
    table = scores(5, 11)
    ours, theirs = friedman_test(table), stats.friedmanchisquare(*table)
    assert (ours.value, ours.p_value) == (pytest.approx(theirs.statistic), pytest.approx(theirs.pvalue))
    assert (ours.methods, ours.blocks, ours.reason) == (5, 11, None)


@given(arrays(np.int64, (4, 6), elements=st.integers(0, 9)))
def test_friedman_equals_its_formula(table):
    ours = friedman_test(table)
    ranks = level_ranks(table)
    between = ((ranks.mean(axis=1) - 2.5) ** 2).sum() * 6
    within = ((ranks - 2.5) ** 2).sum() / (6 * 3)  # variance of the ranks, ties included
    if within == 0:
        assert ours.value is None and "equal on every data set" in ours.reason
    else:
        assert ours.value == pytest.approx(between / within)


@pytest.mark.parametrize(("methods", "q"), [(3, 2.343), (5, 2.728), (10, 3.164)])
def test_critical_difference_has_demsars_constants(methods, q):
    value = nemenyi(scores(methods, 12)).value
    assert value == pytest.approx(q * (methods * (methods + 1) / (6 * 12)) ** 0.5, abs=0.001)


def test_nemenyi_equals_scikit_posthocs():
    posthocs = pytest.importorskip("scikit_posthocs", reason="scikit-posthocs is not installed")
    table = scores(5, 11)
    expected = posthocs.posthoc_nemenyi_friedman(table.T).to_numpy()
    assert np.allclose(nemenyi(table).p_values, expected, atol=1e-9)


def test_a_distance_of_the_critical_difference_has_the_p_value_asked_for():
    table = scores(4, 12)
    result = nemenyi(table, significance=0.1)
    p_values, means = np.array(result.p_values), np.array(result.mean_ranks)
    apart = np.abs(means[:, None] - means) >= result.value
    assert apart.any() and not apart.all()
    assert ((p_values <= 0.1) == apart).all()
    assert (p_values == p_values.T).all() and (np.diag(p_values) == 1).all()


@pytest.mark.parametrize(("shape", "reason"), [((2, 11), "2 method"), ((5, 1), "1 data set"), ((5, 4), "4 data set")])
def test_too_few_give_none_with_a_reason(shape, reason):
    table = np.random.default_rng(0).random(shape)
    friedman, difference = friedman_test(table), nemenyi(table)
    assert friedman.value is friedman.p_value is None and reason in friedman.reason
    assert difference.value is difference.p_values is None and reason in difference.reason
    assert len(difference.mean_ranks) == shape[0]
