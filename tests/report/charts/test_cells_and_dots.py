"""Grids of cells and crowds of dots: every cell and dot in its place, on both renderers."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest
from example_charts import image
from matplotlib.figure import Figure as Sheet

from openworld.report.charts import CellChart, ChartCell, Cloud, Quantity, ScatterChart
from openworld.report.series_style import series_styles

CELLS = {
    (0, 0): ChartCell("60.0", 0.2, "near <b>&", row={"auroc": 0.6}),
    (0, 1): ChartCell("40.0", -0.2, dashed=True, row={"auroc": 0.4}),
    (1, 0): ChartCell("7", row={"auroc": None}),
}


def cell_chart(**options):
    return CellChart("map", "rows", "columns", ("0", "1"), ("0", "1", "2"), CELLS, ("covariate", "semantic"), **options)


def test_every_cell_is_drawn_as_what_it_is():
    svg = cell_chart().svg({})
    kinds = re.findall(r'<rect[^>]*class="([^"]*)"', svg)
    assert sorted(kinds) == ["cell", "cell-below natural cell-blind", "cell-few", *["cell-none"] * 3]
    assert re.findall(r'class="cell-number mid">([\d.]+)<', svg) == ["60.0", "40.0", "7"]
    assert ElementTree.fromstring(svg).get("aria-label") and "<b>" not in svg


def test_a_darker_shade_is_more_opaque():
    def opacity(shade):
        svg = CellChart("", "", "", ("0",), ("0",), {(0, 0): ChartCell("1", shade)}).svg({})
        return float(re.search(r'fill-opacity="([\d.]+)"', svg)[1])

    assert opacity(0.0) < opacity(0.5) == opacity(-0.5) < opacity(1.0) < 1


def test_the_lowest_of_both_lies_at_the_lower_left_and_bounds_where_they_belong():
    root = ElementTree.fromstring(cell_chart(side=50.0, bounds=(0.5, 1.5)).svg({}))
    (first,) = (rect for rect in root.iter("rect") if rect.get("class") == "cell")
    assert [float(first.get("x")), float(first.get("y"))] == [44.0, 8.0 + 50.0]
    upright, level = (node for node in root.iter("line") if node.get("class") == "bound")
    assert float(upright.get("x1")) == 44 + 75 and float(level.get("y1")) == 8 + 100 - 25


def test_rows_of_cells_are_their_data():
    assert list(cell_chart().rows())[1] == {"covariate": 0, "semantic": 1, "auroc": 0.4}


@pytest.mark.parametrize(("count", "width"), [(1, 48.0), (3, 23.0)])
def test_images_fill_their_cell(count, width):
    cell = ChartCell(images=tuple(image(f"image {place}") for place in range(count)), faint=True)
    chart = CellChart("", "", "", ("0",), ("0",), {(0, 0): cell}, side=50.0)
    images = list(ElementTree.fromstring(chart.svg({})).iter("image"))
    assert len(images) == count and {float(each.get("width")) for each in images} == {width}
    assert "cell-rare" in chart.svg({}) and [row["image"] for row in chart.rows()][-1] == f"image {count - 1}"
    axes = Sheet().subplots()
    chart.draw(axes, {})
    assert len(axes.images) == count and tuple(axes.images[0].get_array()[0, 0]) == (0, 128, 128)


def test_matplotlib_axes_hold_the_cells():
    axes = Sheet().subplots()
    cell_chart(bounds=(0.5, 1.5)).draw(axes, {})
    assert [text.get_text() for text in axes.texts] == ["60.0", "40.0", "7"] and len(axes.patches) == 4
    assert axes.texts[1].get_position() == (1.5, 0.5) and len(axes.lines) == 2


SHARE = {"ends": (0, 1)}
COLOURS = series_styles(["<a>", "b"])


def crowd(points, **options):
    clouds = {"<a>": Cloud([(0.0, 0.0)] * 60), "b": Cloud(points)}
    return ScatterChart("ATC", Quantity("x", "x", **SHARE), Quantity("y", "y", **SHARE), clouds, **options)


def test_dots_of_a_crowd_lie_on_whole_units_and_equal_ones_are_drawn_once():
    points = [(0.5, 0.5), (0.5001, 0.5), (1.0, 2.0)]
    svg = crowd(points, guide="equal", note="off by 3 <b>", learner="ATC").svg(COLOURS)
    first, second = re.findall(r'<path d="([^"]*)" class="dots', svg)
    assert re.findall(r"M(\d+) (\d+)", first) == [("54", "268")], "60 at one place"
    assert re.findall(r"M(\d+) (\d+)", second) == [("221", "139"), ("388", "10")]
    assert svg.count('data-learner="ATC"') == 2 and svg.count('class="contour"') == 1 and "<use" not in svg
    assert ElementTree.fromstring(svg) and "<b>" not in svg


def test_a_small_chart_draws_few_dots_so_too_and_paper_has_them_all():
    chart = replace(crowd([]), series={"b": Cloud([(0.5, 0.25), (1.0, 0.75)])}, small=True)
    assert ElementTree.fromstring(chart.svg(COLOURS)).get("width") == "220" and "<use" not in chart.svg(COLOURS)
    assert "<use" in replace(chart, small=False).svg(COLOURS)
    assert list(chart.rows())[0] == {"series": "b", "x": 0.5, "y": 0.25}
    axes = Sheet().subplots()
    chart.draw(axes, COLOURS)
    (line,) = axes.lines  # none to their mean
    assert line.get_xydata().tolist() == [[50.0, 25.0], [100.0, 75.0]]
    assert axes.get_legend_handles_labels()[1] == ["b"]
