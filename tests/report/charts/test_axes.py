"""Axes hold what they were made for, on round ticks; what costs nothing stands before the break."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openworld.report.charts.quantity import Axis

COSTS = st.lists(st.floats(1e-6, 1e9), min_size=1, max_size=9)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=9))
def test_an_axis_holds_its_values_on_round_ticks(values):
    axis = Axis.around("%", values)
    assert axis.low <= min(values) and max(values) <= axis.high
    assert axis.ticks[0] == axis.low and axis.ticks[-1] == pytest.approx(axis.high) and 2 <= len(axis.ticks) <= 13


@given(COSTS)
def test_a_logarithmic_axis_holds_its_values_on_round_ticks(values):
    axis = Axis.logarithmic("s", values)
    shares = [axis.share(value) for value in sorted(values)]
    assert shares[0] > 0 and shares[-1] < 1 and shares == sorted(shares)
    assert 2 <= len(axis.ticks) <= 17 and axis.break_share == 0 and len(axis.labels) == len(axis.ticks)


@given(COSTS)
def test_none_stands_before_the_break_and_all_else_behind_it(values):
    axis = Axis.logarithmic("s", [0, *values])
    assert axis.labels[0] == "none" and 0 < axis.share(0) < axis.break_share
    assert all(axis.share(value) > axis.break_share for value in (*values, *axis.ticks[1:]))


def test_equal_factors_are_equally_long():
    axis = Axis.logarithmic("s", [1, 10_000])
    assert axis.share(10) - axis.share(1) == pytest.approx(axis.share(10_000) - axis.share(1000))
    assert axis.labels == ("1", "10", "100", "1000", "10k")
