"""The figures of the page, one file each: a function of the tables and the learners' looks."""

from openworld.report.figures.fit_time import fit_time
from openworld.report.figures.miss_hit import miss_hit
from openworld.report.figures.parameters import parameters
from openworld.report.figures.points_lost import points_lost
from openworld.report.figures.ratio import ratio
from openworld.report.figures.score_time import score_time
from openworld.report.figures.setting import setting
from openworld.report.figures.shots import shots
from openworld.report.figures.trade_off import trade_off

FIGURES = (shots, setting, points_lost, miss_hit, trade_off, parameters, fit_time, score_time, ratio)

__all__ = [
    "FIGURES",
    "fit_time",
    "miss_hit",
    "parameters",
    "points_lost",
    "ratio",
    "score_time",
    "setting",
    "shots",
    "trade_off",
]
