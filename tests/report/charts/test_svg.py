"""Drawing by hand: escaping, scales, thinned lines."""

import re

from openworld.report.charts.drawing.svg import SHAPES, Frame, marker, shapes
from openworld.report.charts.quantity import Axis

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
