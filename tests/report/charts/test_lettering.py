"""Texts are measured, broken, thinned and shifted; few facts of charts that stand on no page by themselves."""

import pytest

from openworld.report.charts import Quantity, RankChart
from openworld.report.charts.cells import count_cell
from openworld.report.charts.drawing.lettering import staggered, text_width, thinned, wrapped
from openworld.report.charts.quantity import Axis
from openworld.results import Metric


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
