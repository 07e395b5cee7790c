"""The figures of the page, one file each: a function of the tables and the learners' looks."""

from openworld.report.figures.miss_hit import miss_hit
from openworld.report.figures.points_lost import points_lost
from openworld.report.figures.ratio import ratio
from openworld.report.figures.trade_off import trade_off

FIGURES = (points_lost, miss_hit, trade_off, ratio)

__all__ = ["FIGURES", "miss_hit", "points_lost", "ratio", "trade_off"]
