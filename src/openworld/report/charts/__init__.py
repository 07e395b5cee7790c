"""Charts as data: what is drawn, with its rows, a drawing for a page and one on matplotlib axes."""

from openworld.report.charts.bars import BarChart
from openworld.report.charts.cells import CellChart, ChartCell
from openworld.report.charts.intervals import IntervalChart, IntervalRow
from openworld.report.charts.line import Line, LineChart
from openworld.report.charts.quantity import Quantity, Reference, Region
from openworld.report.charts.ranks import RankChart
from openworld.report.charts.scatter import Cloud, ScatterChart

__all__ = [
    "BarChart",
    "ChartCell",
    "CellChart",
    "Cloud",
    "IntervalRow",
    "IntervalChart",
    "Line",
    "LineChart",
    "Quantity",
    "RankChart",
    "Reference",
    "Region",
    "ScatterChart",
]
