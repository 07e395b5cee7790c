"""Drawing by hand: axes, scales, escaping, lines; texts are measured, broken, thinned and shifted."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openworld.report.charts import Quantity, RankChart
from openworld.report.charts.cells import count_cell
from openworld.report.charts.drawing.lettering import staggered, text_width, thinned, wrapped
from openworld.report.charts.drawing.svg import SHAPES, Frame, marker, shapes
from openworld.report.charts.quantity import Axis
from openworld.results import Metric

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


FRAME = Frame(200.0, 100.0, (10.0, 20.0, 30.0, 40.0), Axis("x, %", 0, 100, (0, 50, 100)), Axis("y, %", 0, 10, (0, 10)))


def test_corners_of_the_frame():
    assert (FRAME.across(0), FRAME.across(100)) == (40, 180)
    assert (FRAME.up(0), FRAME.up(10)) == (70, 10)


def test_axes_carry_titles_and_tick_labels():
    text = FRAME.axes()
    assert re.findall(r">([^<>]+)</text>", text) == ["0", "50", "100", "0", "10", "x, %", "y, %"]


def test_a_line_keeps_its_corners_and_drops_what_cannot_be_seen():
    line = FRAME.line([(0, 0), (25, 0), (50, 0), (75, 5), (100, 10)])
    assert line == '<polyline points="40,70 110,70 180,10"/>'


def test_every_marker_is_drawn_once_and_referred_to_by_name():
    assert all(f'id="m-{name}"' in shapes() for name in SHAPES)
    assert marker("circle", 1.0, 2.0) == '<use href="#m-circle" x="1" y="2"/>'


def test_texts_are_measured_and_broken():
    assert text_width("tench", 10) == pytest.approx(29.3)
    assert wrapped("African bush elephant", 50, 10) == "African\nbush\nelephant"


def test_labels_are_thinned_and_names_of_lines_shifted():
    assert thinned([0, 10, 20, 30, 40], [18] * 5, 2) == [0, 2, 4]
    sides = [[(0, 4)], [(2, 6)], [(2, 6), (6, 10)]]
    assert staggered(sides, [30.0, 40.0, 20.0]) == [(0, 0.0), (0, 30.0), (1, 0.0)]


def test_what_axes_and_cells_say():
    assert Axis.logarithmic("", [0, 512, 6656]).labels == ("none", "500", "1000", "2000", "5000", "10k")
    assert Quantity.of(Metric("auroc", "AUROC")).title == "AUROC, %"
    assert [count_cell(count).text for count in (0, 9876, 12345)] == ["", "9,876", "12k"]


def test_which_ranks_share_a_bar():
    assert RankChart("", dict(zip("abcd", (1.0, 1.5, 3.0, 3.2), strict=True)), 2.1).bars == [(1.0, 3.0), (1.5, 3.2)]
