"""Numbers with their uncertainty: how a metric writes them, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openworld import OpenworldError
from openworld.results import METRICS, UNITS, Interval, Metric, Value, interval_of
from openworld.results.value import value_or

pytestmark = pytest.mark.base


@pytest.mark.parametrize(
    ("unit", "digits", "value", "text", "printed"),
    [
        ("percent", 1, 0.46964, "47.0", "46.96"),
        ("points", 1, 0.109, "+10.9", "+10.90"),
        ("points", 1, -0.007, "−0.7", "−0.70"),
        ("points", 1, -0.0001, "0.0", "−0.01"),
        ("squared points", 2, 0.000312, "3.12", "3.12"),
        ("fraction", 3, 0.4891, "0.489", "0.489"),
        ("difference", 2, -0.004, "0.00", "0.00"),
        ("difference", 2, 0.98, "+0.98", "+0.98"),
        ("number", 3, 2.0, "2", "2"),
        ("number", 3, 0.00012345, "0.000123", "0.000123"),
        ("count", 0, 26624, "26,624", "26,624"),
        ("thousands", 1, 26624, "26.6", "26.6"),
        ("seconds", 1, 19.4, "19 s", "19 s"),
        ("seconds", 1, 119.4, "119 s", "119 s"),
        ("seconds", 1, 120.0, "2.0 min", "2.0 min"),
        ("seconds", 1, 340.0, "5.7 min", "5.7 min"),
        ("milliseconds", 1, 0.01234, "12.3", "12.3"),
        ("milliseconds", 1, 0.0000421, "0.042", "0.042"),
    ],
)
def test_a_number_in_its_unit_on_screen_and_as_papers_print_it(unit, digits, value, text, printed):
    metric = Metric("x", "x", unit, digits)
    assert (metric.write(value), metric.write(value, 1)) == (text, printed)
    assert metric.write(None) == "–"


@given(st.sampled_from(sorted(UNITS)), st.floats(-1e6, 1e6))
def test_no_number_is_written_as_minus_zero(unit, value):
    text = Metric("x", "x", unit).write(abs(value) if "second" in unit else value)
    assert "-" not in text and (not text.startswith("−") or text.strip("−0.,"))


def test_intervals_are_found_by_what_was_drawn():
    value = Value(0.5, (Interval(0.4, 0.6, "images", 80), Interval(0.3, 0.7, "data sets", 3)))
    assert value.over() is value.intervals[0] and value.over("data sets").n == 3 and value.over("seeds") is None


def test_no_ends_make_no_interval_and_no_number_says_why():
    assert {interval_of(ends, "images") for ends in (None, (None, None), (None, 0.5))} == {()}
    assert value_or(None, "too few") == Value(None, reason="too few")
    assert value_or(0.5, "", interval_of((0.4, 0.6), "images")).over("images").high == 0.6


def test_every_metric_says_its_key_and_is_bounded_by_its_card():
    assert all(key == metric.key for key, metric in METRICS.items())
    assert METRICS["auroc"].bounds == (0.0, 1.0) and METRICS["variation"].bounds == (0.0, None)


@pytest.mark.parametrize(
    ("make", "fact"),
    [
        (lambda: Value(None), "reason"),
        (lambda: Value(float("nan")), "finite"),
        (lambda: Value(0.5, deviation=float("inf")), "finite"),
        (lambda: Value(0.5, (Interval(0, 1, "seeds"), Interval(0, 1, "seeds"))), "at most one"),
        (lambda: Interval(0.6, 0.5, "seeds"), "in order"),
        (lambda: Interval(0.4, float("nan"), "seeds"), "finite"),
        (lambda: Interval(0.4, 0.5, ""), "drawn"),
        (lambda: Interval(0.4, 0.5, "data_sets"), "data_sets"),
        (lambda: Metric("x", "x", "percnt"), "percent"),
    ],
)
def test_what_is_no_number_is_refused(make, fact):
    with pytest.raises(OpenworldError, match=fact):
        make()
