"""Joint errors of accuracies over nested views: by hand, against refits, and refusals."""

import numpy as np
import pytest
from scipy import stats

from openworld.metrics import level_errors

pytestmark = pytest.mark.base


def nested(seed=0, groups=40, each=5, methods=3, seeds=2):
    """Views of two levels, the first inside the second; images of one drawing agree more than others."""
    rng = np.random.default_rng(seed)
    code = np.repeat(np.arange(groups), each)
    ease = rng.normal(0, 1, groups)[code]
    views, answers = [], []
    for _ in range(seeds):
        early = rng.permutation(groups)[: groups // 2]
        rows = [np.flatnonzero(np.isin(code, early)), np.arange(code.size)]
        correct = ease + rng.normal(0, 1, (methods, code.size)) > -0.3
        views.append([code[one] for one in rows])
        answers.append([correct[:, one] for one in rows])
    return views, answers


def test_a_plain_view_has_the_variance_of_a_mean():
    correct = np.array([[1, 0, 1, 1, 0, 1, 1]], bool)
    found = level_errors([[np.arange(7)]], [[correct]]).spread([[1]])
    assert found.standard_error == pytest.approx(correct.std(ddof=1) / np.sqrt(7))
    assert found.degrees_of_freedom == pytest.approx(6)


def test_the_difference_of_two_methods_is_the_paired_t_test():
    rng = np.random.default_rng(1)
    correct = rng.random((2, 60)) < [[0.8], [0.6]]
    errors = level_errors([[np.arange(60)]], [[correct]])
    found = errors.spread([[1], [-1]])
    expected = stats.ttest_rel(*correct.astype(float))
    assert np.diff(errors.accuracy[:, 0])[0] / -found.standard_error == pytest.approx(expected.statistic)


def test_nested_levels_and_seeds_agree_with_leaving_groups_out():
    views, answers = nested()
    weights = np.array([[0.5, 0.5], [-0.5, -0.5], [0, 0]])

    def number(left_out):
        means = [
            [one[:, code != left_out].mean(axis=1) for code, one in zip(*seed, strict=True)]
            for seed in zip(views, answers, strict=True)
        ]
        return (weights * np.mean(means, axis=0).T).sum()

    jackknife = np.array([number(group) for group in range(40)])
    expected = np.sqrt(39 / 40 * ((jackknife - jackknife.mean()) ** 2).sum())
    assert level_errors(views, answers).spread(weights).standard_error == pytest.approx(expected, rel=0.05)


def test_a_level_of_half_the_groups_has_half_of_them():
    errors = level_errors(*nested())
    early, late = (errors.spread(np.eye(2)[[level]] * [[1], [0], [0]]) for level in (0, 1))
    assert late.degrees_of_freedom == pytest.approx(39)
    assert 19 <= early.degrees_of_freedom < 39  # two seeds with other halves: more than one half
    assert errors.groups == 40


def test_identical_methods_and_single_groups_have_no_error():
    views, answers = nested()
    same = [[np.stack([one[0], one[0]]) for one in seed] for seed in answers]
    found = level_errors(views, same).spread([[0.5, 0.5], [-0.5, -0.5]])
    assert found.standard_error is None and "zero variance is no evidence" in found.reason
    alone = level_errors([[[3, 3]]], [[[[1, 0]]]]).spread([[1]])
    assert alone.standard_error is None and "fewer than 2 independent groups" in alone.reason
