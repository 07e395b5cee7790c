"""Paired tests: DeLong's two correlated areas by hand, edges, refusals, error rates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from openworld.core.errors import OpenworldError
from openworld.metrics import (
    aupr_in,
    auroc,
    holm,
    openworld_auc,
    paired_test,
    seeds_test,
    seeds_test_against_summary,
)

pytestmark = pytest.mark.base


def two_models(seed, n_base=60, n_new=50, gap=0.0):
    """Two detectors and classifiers whose scores and mistakes are correlated; `gap` makes the first better."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(1, 1, n_base), rng.normal(0, 1, n_new), rng.random(n_base), rng.random(n_new)

    def model(bonus):
        s, t = shared[0] + bonus + rng.normal(0, 0.5, n_base), shared[1] + rng.normal(0, 0.5, n_new)
        return s, shared[2] + rng.normal(0, 0.1, n_base) < 0.8, t, shared[3] + rng.normal(0, 0.1, n_new) < 0.7

    return model(gap), model(0.0)


def test_equals_delongs_covariance_for_auroc():
    (s, _, t, _), (u, _, v, _) = two_models(0)
    test = paired_test(auroc(s, t), auroc(u, v))
    components = [((a[:, None] > b[None]) * 1.0).mean(axis) for a, b in ((s, t), (u, v)) for axis in (1, 0)]
    by_in, by_out = components[0] - components[2], components[1] - components[3]
    assert test.difference == pytest.approx(by_in.mean())
    assert test.standard_error == pytest.approx(np.sqrt(by_in.var(ddof=1) / 60 + by_out.var(ddof=1) / 50), rel=1e-12)
    statistic = test.difference / test.standard_error
    assert test.p_value == pytest.approx(2 * stats.t.sf(abs(statistic), test.degrees_of_freedom))
    low, high = test.interval()
    assert (low + high) / 2 == pytest.approx(test.difference)
    assert (low < 0 < high) == (test.p_value > 0.05)


def test_accuracy_difference_is_the_paired_t_test():
    first, second = two_models(3)
    test = paired_test(openworld_auc(*first), openworld_auc(*second), "base_accuracy")
    expected = stats.ttest_rel(first[1].astype(float), second[1].astype(float))
    assert test.p_value == pytest.approx(expected.pvalue) and test.degrees_of_freedom == pytest.approx(59)


def test_identical_models_have_no_p_value():
    result = openworld_auc(*two_models(5)[0])
    test = paired_test(result, result)
    assert (test.difference, test.p_value, test.standard_error, test.interval()) == (0, None, None, None)
    assert "zero variance is no evidence" in test.reason


def test_undefined_and_without_a_closed_form():
    full, empty = openworld_auc([1, 2], [1, 1], [0, 3], [1, 1]), openworld_auc([1, 2], [1, 1], [], [])
    assert paired_test(full, empty).difference is None and "no new sample" in paired_test(full, empty).reason
    area = aupr_in([1, 2], [0, 3])
    assert paired_test(area, area).difference == 0 and "no closed form" in paired_test(area, area).reason


def test_other_samples_are_refused():
    first, second = two_models(6)
    groups = {"base_groups": np.arange(60), "new_groups": np.arange(50)}
    for other in (openworld_auc(*two_models(6, n_base=61)[1]), openworld_auc(*second, **groups)):
        with pytest.raises(OpenworldError, match="same samples"):
            paired_test(openworld_auc(*first), other)


probabilities = st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=12)


@given(probabilities)
def test_holm_is_the_step_down_procedure(p_values):
    corrected = holm(p_values)
    tested = sorted(p for p in p_values if p is not None)
    for before, after in zip(p_values, corrected, strict=True):
        if before is None:
            assert after is None
        else:
            steps = [min(1.0, (len(tested) - k) * p) for k, p in enumerate(tested) if p <= before]
            assert after == pytest.approx(max(steps)) and after >= before


@pytest.mark.slow
def test_equal_models_are_called_different_one_time_in_twenty():
    p_values = [paired_test(*(openworld_auc(*m) for m in two_models(seed))).p_value for seed in range(2000)]
    assert 0.035 < np.mean(np.array(p_values) < 0.05) < 0.065


def test_over_seeds_it_is_the_paired_t_test_of_scipy():
    first, second = np.random.default_rng(0).random((2, 5))
    ours, theirs = seeds_test(first, second), stats.ttest_rel(first, second)
    assert ours.p_value == pytest.approx(theirs.pvalue) and ours.degrees_of_freedom == 4
    interval = theirs.confidence_interval(0.95)
    assert ours.interval() == (pytest.approx(interval.low), pytest.approx(interval.high))
    assert seeds_test(second, first).p_value == pytest.approx(ours.p_value)


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [([0.5], [0.4], "one seed says nothing"), ([0.5, 0.7], [0.4, 0.6], "no two seeds differ"), ([], [], "no seed")],
)
def test_over_seeds_without_evidence_there_is_no_p_value(first, second, reason):
    found = seeds_test(first, second)
    assert found.p_value is None and reason in found.reason


def test_what_is_a_margin_apart_is_called_equivalent_in_at_most_a_twentieth_of_samples():
    """Differences of forty pairs around a mean that is the margin itself; around zero it is found."""
    generator = np.random.default_rng(0)
    said = dict.fromkeys((0.01, 0.0), 0)
    for mean in said:
        for _ in range(800):
            differences = generator.normal(mean, 0.02, 40)
            said[mean] += seeds_test(differences, np.zeros(40)).equivalence(0.01) < 0.05
    assert said[0.01] <= 0.065 * 800 and said[0.0] > 0.7 * 800


def test_equivalence_needs_an_error():
    assert seeds_test([0.5], [0.5]).equivalence(0.01) is None


# Against a printed mean and deviation


@pytest.mark.parametrize(("deviation", "count"), [(0.02, 3), (0.3, 5), (1e-6, 2)])
def test_a_printed_summary_is_tested_as_scipy_does(deviation, count):
    ours = np.random.default_rng(count).normal(0.5, 0.05, 4)
    found = seeds_test_against_summary(ours, 0.45, deviation, count)
    peer = stats.ttest_ind_from_stats(ours.mean(), ours.std(ddof=1), 4, 0.45, deviation, count, equal_var=False)
    assert found.p_value == pytest.approx(peer.pvalue, rel=1e-9)
    interval = stats.t.interval(0.95, found.degrees_of_freedom, found.difference, found.standard_error)
    assert found.interval() == pytest.approx(interval)


def test_a_printed_mean_without_deviation_is_exact():
    ours = [0.4, 0.5, 0.7]
    peer = stats.ttest_1samp(ours, 0.45)
    found = seeds_test_against_summary(ours, 0.45)
    assert (found.p_value, found.degrees_of_freedom) == (pytest.approx(peer.pvalue), pytest.approx(2.0))


def test_printed_spread_alone_is_enough_and_no_spread_is_not():
    found = seeds_test_against_summary([0.5, 0.5, 0.5], 0.4, 0.1, 4)  # t = .1 / (.1 / 2), three degrees
    assert found.p_value == pytest.approx(2 * stats.t.sf(2, 3))
    assert seeds_test_against_summary([0.5, 0.5, 0.5], 0.4).p_value is None
    assert seeds_test_against_summary([0.5], 0.4, 0.1, 4).reason == "one seed says nothing about other seeds"
