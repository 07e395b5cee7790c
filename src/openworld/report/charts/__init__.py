"""Charts as data: what is drawn, with its rows, a drawing for a page and one on matplotlib axes."""

from openworld.report.charts.intervals import Estimate, IntervalChart
from openworld.report.charts.line import Line, LineChart, Points
from openworld.report.charts.quantity import Quantity, Reference, Region, Spot
from openworld.report.charts.scatter import Cloud, ScatterChart

__all__ = [
    "Cloud",
    "Estimate",
    "IntervalChart",
    "Line",
    "LineChart",
    "Points",
    "Quantity",
    "Reference",
    "Region",
    "ScatterChart",
    "Spot",
]
