"""Lines over levels: gaps, bands within the frame, one level, names that must be escaped."""

import pytest

from openworld.report.level_lines import Line, level_panel, range_of
from openworld.report.series_style import looks


def drawn(lines):
    return str(level_panel("semantic", range_of("percent", list(lines.values())), lines, looks(list(lines))))


def test_a_level_without_a_value_is_left_out():
    line = Line([0.5, None, 0.75])
    assert line.known == [(0, 50.0), (2, 75.0)]
    svg = drawn({"one": line})
    assert svg.count("<use") == 2 and "50.0 at 0, 75.0 at 2" in svg and "semantic level (meaning)" in svg


def test_a_band_needs_two_intervals_and_stays_in_the_frame():
    wide = Line([0.5, 0.6], [(0.0, 1.0), (0.1, 0.9)])
    assert 'class="band"' in drawn({"one": wide})
    assert 'class="band"' not in drawn({"one": Line([0.5, 0.6], [(0.4, 0.6), None])})
    points = drawn({"one": wide}).split('points="')[1].split('"')[0].split()
    heights = [float(point.split(",")[1]) for point in points]
    assert min(heights) >= 0 and max(heights) <= 310


def test_a_name_is_escaped_and_an_empty_line_is_no_line():
    svg = drawn({"<b>": Line([0.5, 0.6]), "silent": Line([None, None])})
    assert "<b>" not in svg and "&lt;b&gt;" in svg and "silent" not in svg


@pytest.mark.parametrize("lines", [{}, {"one": Line([None])}])
def test_nothing_to_draw_draws_axes(lines):
    assert "<polyline" not in drawn(lines)
