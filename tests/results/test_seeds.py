"""The mean over seeds: Student's interval by one rule, cut at what the metric can be."""

import pytest

from openworld.results import METRICS, Metric, mean, over_seeds, student

pytestmark = pytest.mark.base

ACCURACY = METRICS["accuracy"]


def test_the_interval_is_student_s():
    value = over_seeds([0.5, 0.6, 0.7], ACCURACY)
    (interval,) = value.intervals
    assert value.value == pytest.approx(0.6) and value.deviation == pytest.approx(0.1)
    half = 4.302652729911275 * 0.1 / 3**0.5  # t of 2 degrees of freedom
    assert (interval.low, interval.high) == pytest.approx((0.6 - half, 0.6 + half))
    assert (interval.over, interval.n) == ("seeds", 3)


@pytest.mark.parametrize("values", [[0.3, 0.1 + 0.2, 0.3], [0.5], [0.5, None], []])
def test_seeds_that_agree_and_fewer_than_two_have_no_interval(values):
    assert student(values, ACCURACY) == ()


def test_an_interval_ends_where_the_metric_does():
    (cut,) = student([0.0, 1.0], ACCURACY)
    (free,) = student([0.0, 1.0], Metric("x", "x", bounds=(None, None)), "data sets")
    assert (cut.low, cut.high) == (0.0, 1.0) and free.low < -1 and free.over == "data sets"


def test_a_missing_seed_leaves_no_mean_and_says_why():
    value = over_seeds([0.5, None], ACCURACY, reason="no new image")
    assert (value.value, value.reason, value.intervals) == (None, "no new image", ())
    assert over_seeds([0.5, None], ACCURACY).reason and mean([]) is None
