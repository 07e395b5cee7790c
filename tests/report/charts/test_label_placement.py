"""Names in plots: within them, apart from each other, and always at the same places."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openworld.report.charts.drawing.label_placement import LINE, margin, near, spread
from openworld.report.charts.drawing.lettering import PIXELS, text_width
from openworld.report.charts.drawing.svg import Frame
from openworld.report.charts.quantity import Axis

AXIS = Axis("%", 0, 100, (0, 100))
PLOT = Frame(470.0, 440.0, (10.0, 12.0, 42.0, 54.0), AXIS, AXIS)
NAMES = [f"learner {number}" for number in range(14)] + ["zero-shot-ensemble", "PromptSRC", "TCP", "GMoP", "VPT", "RPO"]


def box(text, placed):
    width, (x, y, end, _) = text_width(text, PIXELS), placed
    left = x - width * {"": 0, "mid": 0.5, "end": 1}[end]
    return np.array([left, y + 3.5 - LINE, left + width, y + 3.5])


def covered(one, other):
    return (np.minimum(one[2:], other[2:]) - np.maximum(one[:2], other[:2])).clip(min=0).prod()


@pytest.mark.parametrize("width", [1.0, 0.3])
def test_twenty_names_stay_in_the_plot_and_off_each_other(width):
    dots = np.random.default_rng(0).uniform(0, 1, (20, 2)) * width * np.array([390, 380]) + np.array([60, 15])
    places = near(PLOT, NAMES, dots.tolist())
    boxes = [box(*pair) for pair in zip(NAMES, places, strict=True)]
    left, top, right, bottom = PLOT.box
    assert all(one[0] >= left and one[1] >= top and one[2] <= right and one[3] <= bottom for one in boxes)
    assert max(covered(one, other) for place, one in enumerate(boxes) for other in boxes[:place]) == 0
    assert places == near(PLOT, NAMES, dots.tolist())


def test_a_name_alone_touches_its_dot_and_one_far_off_is_led_to_it():
    ((_, height, _, leader),) = near(PLOT, ["GMoP"], [(200.0, 200.0)])
    assert leader is None and abs(height - 200) < LINE
    crowd = near(PLOT, NAMES, [(200.0, 200.0)] * len(NAMES))
    assert sum(leader is not None for *_, leader in crowd) > 10
    ((*_, leader),) = near(PLOT, ["x" * 90], [(200.0, 200.0)])
    assert leader is None, "a name wider than the plot is still placed"


@given(st.lists(st.floats(0, 300), min_size=1, max_size=30))
def test_a_column_keeps_order_distance_and_bounds(heights):
    moved = spread(heights, 16.0, 0.0, 300.0)
    apart = min(16.0, 300.0 / max(len(heights) - 1, 1))
    order = sorted(range(len(heights)), key=lambda place: heights[place])
    assert all(moved[after] - moved[before] >= apart - 1e-6 for before, after in zip(order, order[1:], strict=False))
    assert min(moved) >= -1e-6 and max(moved) <= 300 + 1e-6


def test_what_is_apart_stays_where_it_is():
    assert spread([100.0, 20.0, 60.0], 16.0, 0.0, 300.0) == [100.0, 20.0, 60.0]


def test_the_margin_holds_the_longest_name():
    assert margin([]) == 12 and margin(["TCP", "CoCoOp"]) > text_width("CoCoOp", PIXELS)
