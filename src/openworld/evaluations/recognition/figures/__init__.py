"""The figures of the page, one file each: a function of the tables and the learners' looks."""

from openworld.evaluations.recognition.figures.class_ratio import ratio
from openworld.evaluations.recognition.figures.fit_time import fit_time
from openworld.evaluations.recognition.figures.hyperparameter import setting
from openworld.evaluations.recognition.figures.miss_hit import miss_hit
from openworld.evaluations.recognition.figures.parameters import parameters
from openworld.evaluations.recognition.figures.points_lost import points_lost
from openworld.evaluations.recognition.figures.score_time import score_time
from openworld.evaluations.recognition.figures.shots import shots
from openworld.evaluations.recognition.figures.trade_off import trade_off

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
