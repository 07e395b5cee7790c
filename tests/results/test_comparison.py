"""Tested differences: Holm once, verdicts by the metric's direction."""

import pytest

from openworld.metrics import PairedTest
from openworld.results import (
    METRICS,
    Comparison,
    Interval,
    comparison_of,
    correct_for_many,
)
from openworld.results.comparison import MARGIN

pytestmark = pytest.mark.base

AUROC, ERROR, BIAS = METRICS["auroc"], METRICS["absolute_error"], METRICS["bias"]


@pytest.mark.parametrize(
    ("metric", "difference", "p", "verdict"),
    [
        (AUROC, 0.1, 0.031, "better, p\xa0.03"),
        (AUROC, -0.1, 0.0001, "worse, p\xa0<\xa0.001"),
        (ERROR, -0.1, 0.0031, "better, p\xa0.003"),
        (BIAS, -0.1, 0.01, "lower, p\xa0.01"),
        (AUROC, 0.1, 0.31, "not significant, p\xa0.31"),
        (AUROC, None, None, "not tested"),
        (AUROC, 0.0, 0.01, "not significant, p\xa0.01"),
    ],
)
def test_a_verdict_knows_which_way_is_better(metric, difference, p, verdict):
    found = Comparison("a", "b", metric, difference, p, "" if p else "one seed")
    assert found.verdict == verdict
    assert found.better == verdict.startswith("better") and found.worse == verdict.startswith("worse")


@pytest.mark.parametrize(
    ("errors", "words"),
    [(2.0, "not significant"), (4.0, "equivalent"), (None, "not significant")],
)
def test_what_is_not_told_apart_is_equivalent_where_the_margin_is_errors_away(errors, words):
    """The margin is one point; of what is no share none is known."""
    test = PairedTest(0.0001, MARGIN / (errors or 4), 60.0, 0.5)
    metric = AUROC if errors else METRICS["fit_seconds"]
    (first, _) = correct_for_many([comparison_of("a", other, metric, test) for other in "bc"])
    assert first.verdict.startswith(words) and words in first.sentence
    assert (first.equivalence_p is None) == (errors is None)


def test_a_small_difference_that_is_shown_is_a_difference():
    test = PairedTest(0.005, 0.001, 60.0, 0.001)
    assert comparison_of("a", "b", AUROC, test).verdict.startswith("better")


def test_equivalence_is_corrected_over_the_table():
    test = PairedTest(0.0, MARGIN / 1.8, 1000.0, 0.9)
    assert comparison_of("a", "b", AUROC, test).equivalent
    assert not any(one.equivalent for one in correct_for_many([comparison_of("a", n, AUROC, test) for n in "bcd"]))


def test_a_family_is_corrected_together_and_untested_pairs_do_not_count():
    family = [Comparison("a", str(place), AUROC, 0.1, p) for place, p in enumerate((0.01, None, 0.04, 0.03))]
    assert [one.p for one in correct_for_many(family)] == [0.03, None, 0.06, 0.06]


def test_the_other_side_turns_difference_and_interval():
    found = Comparison("a", "b", AUROC, 0.1, 0.01, interval=Interval(0.05, 0.15, "images"))
    turned = found.reversed()
    assert (turned.difference, turned.interval.low, turned.interval.high) == (-0.1, -0.15, -0.05)
    assert turned.worse and turned.reversed() == found
