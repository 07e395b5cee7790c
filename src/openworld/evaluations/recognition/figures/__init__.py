"""The figures of a run of recognition: each a function of the tables and of the learners' styles."""

from openworld.evaluations.recognition.data_sets import ranks
from openworld.evaluations.recognition.figures.costs import fit_time, parameters, score_time
from openworld.evaluations.recognition.figures.learners import miss_hit, points_lost, trade_off
from openworld.evaluations.recognition.figures.sweeps import ratio, setting, shots

FIGURES = (ranks, shots, setting, points_lost, miss_hit, trade_off, parameters, fit_time, score_time, ratio)

__all__ = [
    "FIGURES",
    "fit_time",
    "miss_hit",
    "parameters",
    "points_lost",
    "ranks",
    "ratio",
    "score_time",
    "setting",
    "shots",
    "trade_off",
]
