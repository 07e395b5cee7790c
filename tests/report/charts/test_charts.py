"""What all charts promise: small valid drawings, the same bytes each time, names escaped, data on matplotlib axes."""

import xml.etree.ElementTree as ElementTree

import pytest
from example_charts import LEVEL, OF_SERIES, PERCENT, bars, cost, ranks, scatter
from matplotlib.figure import Figure as Sheet

from openworld.report.charts import (
    BarChart,
    Cloud,
    IntervalChart,
    IntervalRow,
    Line,
    LineChart,
    Quantity,
    Reference,
    Region,
    ScatterChart,
)
from openworld.report.charts.drawing.lettering import PIXELS, text_width
from openworld.report.series_style import series_styles

NAMES = ("zero-shot", '<b>&" $x', "_under")
STYLES = series_styles(NAMES, ["zero-shot"])


@pytest.fixture(params=OF_SERIES, ids=str)
def chart(request):
    return OF_SERIES[request.param](NAMES)


@pytest.mark.parametrize("alone", [True, False])
def test_a_drawing_is_xml_names_every_series_and_is_the_same_each_time(chart, alone):
    svg = chart.svg(STYLES, alone=alone)
    assert {row["series"] for row in chart.rows()} >= set(NAMES)
    root = ElementTree.fromstring(svg)
    assert svg == chart.svg(STYLES, alone=alone)
    assert {node.get("data-learner") for node in root.iter()} - {None} == set(NAMES)
    assert "<b>" not in svg and root.get("aria-label")
    assert any(title.text.startswith(NAMES[1]) for title in root.iter("title"))
    assert len(svg) < 3000 + 1500 * len(NAMES)


def test_matplotlib_axes_hold_the_series(chart):
    axes = Sheet().subplots()
    chart.draw(axes, STYLES)
    assert axes.get_title().replace("\n", " ") == chart.title and (axes.lines or axes.collections or axes.patches)
    shown = {text.get_text() for text in (*axes.get_yticklabels(), *axes.texts)}
    shown |= set(axes.get_legend_handles_labels()[1])
    assert {"zero-shot", r'<b>&" \$x', "\N{ZERO WIDTH SPACE}_under"} <= shown


def drawn(chart, **options):
    return ElementTree.fromstring(chart.svg(STYLES, **options))


def test_a_line_goes_through_its_points_and_stops_where_there_is_none():
    chart = LineChart("", LEVEL, Quantity("y", "y", ends=(0, 1)), {"zero-shot": Line((0, 1, 2), (0.0, 1.0, None))})
    (line,) = (node for node in drawn(chart).iter("polyline") if node.get("class") == "line")
    (x1, y1), (x2, y2) = (tuple(map(float, point.split(","))) for point in line.get("points").split())
    # 400 by 310 with margins: 54 left, 12 right, 10 above, 42 below; x from -0.1 to 2.1, y from 0 to 100.
    assert (x1, y1) == (pytest.approx(54 + 334 * 0.1 / 2.2, abs=0.06), 268.0)
    assert (x2, y2) == (pytest.approx(54 + 334 * 1.1 / 2.2, abs=0.06), 10.0)


def test_a_band_needs_two_points_and_stays_in_the_frame():
    def bands(low, high):
        own = {"zero-shot": Line((0, 1), (0.5, 0.6), low, high)}
        return list(drawn(LineChart("", LEVEL, PERCENT, own)).iter("polygon"))

    (wide,) = bands((0.0, 0.1), (1.0, 0.9))
    heights = [float(point.split(",")[1]) for point in wide.get("points").split()]
    assert min(heights) >= 10 and max(heights) <= 268
    assert not bands((0.4, None), (0.6, None)) and not bands((), ())


def test_rows_of_lines_name_the_ends_of_a_band_and_carry_further_columns():
    own = {"zero-shot": Line((0, 1), (0.5, None), (0.4, None), (0.6, None), further={"seeds": (3, 0)})}
    rows = list(LineChart("", LEVEL, PERCENT, own).rows())
    first = {"series": "zero-shot", "level": 0, "accuracy": 0.5, "low": 0.4, "high": 0.6}
    assert rows[0] == first | {"seeds": 3} and rows[1]["accuracy"] is None


@pytest.mark.parametrize(("count", "back"), [(6, 0), (7, 6)])
def test_among_more_than_six_lines_all_but_the_highlighted_stand_back(count, back):
    names = [f"learner {n}" for n in range(count)]
    lines = {name: Line((0, 1), (0.5, 0.6)) for name in names}
    svg = LineChart("", LEVEL, PERCENT, lines, ("learner 1",)).svg(series_styles(names))
    assert svg.count(' back"') == back
    assert LineChart("", LEVEL, PERCENT, lines).svg(series_styles(names)).count(' back"') == 0


def test_long_lines_have_few_marks_and_no_list_of_numbers():
    xs = [step / 100 for step in range(101)]
    svg = LineChart("", Quantity("x", "x", ends=(0, 1)), PERCENT, {"zero-shot": Line(xs, xs)}).svg(STYLES)
    assert svg.count("<use") == 5 and "<title>zero-shot</title>" in svg


def test_rings_regions_and_upright_references_lie_where_they_belong():
    share = Quantity("x", "x", ends=(0, 1))
    own = {"zero-shot": Line((0, 1), (0, 1), rings=((0.5, 0.25, "here"),))}
    region, upright = Region((0, 0.5), (0.5, 1), "corner"), Reference(0.5, "required", "x")
    root = drawn(LineChart("", share, share, own, references=(upright,), regions=(region,)))
    (ring,) = root.iter("circle")
    assert (float(ring.get("cx")), float(ring.get("cy"))) == (54 + 167, 268 - 258 / 4)
    (corner,) = root.iter("rect")
    assert [float(corner.get(name)) for name in ("x", "y", "width", "height")] == [54, 10, 167, 129]
    (line,) = (node for node in root.iter("line") if node.get("class") == "reference")
    assert line.get("x1") == line.get("x2") == "221"


def test_what_costs_nothing_stands_before_the_break():
    assert ">none</text>" in cost(NAMES).svg(STYLES) and "break-stroke" in cost(NAMES).svg(STYLES)
    assert "break-stroke" not in scatter(NAMES).svg(STYLES)
    axes = Sheet().subplots()
    cost(NAMES).draw(axes, STYLES)
    places = axes.transData.transform([(0, 60), (1000, 60), (2000, 60)])[:, 0]
    assert places[0] < places[1] < places[2] and axes.get_xticklabels()[0].get_text() == "none"


@pytest.mark.parametrize(("guide", "lines"), [("", 0), ("equal", 1), ("frontier", 1), ("products", 5)])
def test_guides_lie_under_the_dots(guide, lines):
    found = [node for node in drawn(scatter(NAMES, guide)).iter("polyline") if node.get("class") == "contour"]
    assert len(found) == lines


def test_a_series_without_a_dot_is_not_drawn_and_none_at_all_draws_axes():
    chart = ScatterChart("", PERCENT, PERCENT, {"zero-shot": Cloud(())}, "products")
    assert "<use" not in chart.svg(STYLES, alone=True) and list(chart.rows()) == []
    empty = LineChart("", LEVEL, PERCENT, {"zero-shot": Line((0,), (None,))})
    assert 'class="line"' not in empty.svg(STYLES, alone=True)


def test_intervals_stand_in_rows_between_their_ends():
    chart = IntervalChart("", Quantity("x", "x", ends=(0, 1)), {"zero-shot": IntervalRow(0.5, (0.25, 0.75))})
    (bar,) = (node for node in drawn(chart).iter("line") if node.get("class") == "line")
    # 560 wide: 92 left, 14 right; one row of 24 below 22.
    assert [float(bar.get(name)) for name in ("x1", "x2")] == pytest.approx([92 + 454 / 4, 92 + 454 * 3 / 4], abs=0.06)
    assert float(bar.get("y1")) == 22 + 24 / 2


def test_parts_of_a_bar_follow_one_another():
    root = drawn(bars(NAMES), alone=True)
    first, second = list(root.iter("rect"))[:2]
    # 470 wide: 64 for the names at least, 12 left free.
    left = max(64, 12 + max(text_width(name, PIXELS) for name in NAMES))
    assert [float(first.get("x")), float(first.get("width"))] == pytest.approx([left, 0.58 * (458 - left)], abs=0.06)
    assert float(second.get("x")) == pytest.approx(left + 0.58 * (458 - left), abs=0.06)
    assert sum(float(rect.get("width")) for rect in list(root.iter("rect"))[:4]) == pytest.approx(458 - left, abs=0.2)


def test_a_bar_without_parts_says_so():
    chart = BarChart("", (PERCENT,), {"zero-shot": None})
    assert "not defined" in chart.svg(STYLES) and list(chart.rows()) == [{"series": "zero-shot", "accuracy": None}]


def test_a_rank_stands_on_the_axis_and_bars_join_close_ones():
    root = drawn(ranks(NAMES))
    side = 30 + max(text_width(name, PIXELS) for name in NAMES)
    marks = [node.get("points").split()[0] for node in root.iter("polyline")]
    assert marks[0] == f"{side:.1f},46.0"
    bars = [node for node in root.iter("line") if node.get("class") == "bar"]
    assert len(bars) == 1 + len(ranks(NAMES).bars) and ranks(NAMES).bars == [(1.0, 1.9), (1.9, 2.8)]
