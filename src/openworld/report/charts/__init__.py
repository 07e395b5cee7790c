"""Charts as data: what is drawn, with its rows, a drawing for a page and one on matplotlib axes."""

from openworld.report.charts.bars import BarChart
from openworld.report.charts.cells import CellChart, CellImage, ChartCell
from openworld.report.charts.dots import Dots, DotsChart
from openworld.report.charts.intervals import IntervalChart, IntervalRow
from openworld.report.charts.line import Line, LineChart, Points
from openworld.report.charts.quantity import Quantity, Reference, Region, Spot
from openworld.report.charts.ranks import RankChart
from openworld.report.charts.scatter import Cloud, ScatterChart

__all__ = [
    "BarChart",
    "ChartCell",
    "CellChart",
    "CellImage",
    "Cloud",
    "Dots",
    "DotsChart",
    "IntervalRow",
    "IntervalChart",
    "Line",
    "LineChart",
    "Points",
    "Quantity",
    "RankChart",
    "Reference",
    "Region",
    "ScatterChart",
    "Spot",
]
