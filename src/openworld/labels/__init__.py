"""A few labels: which images to label, and what is then known of a model, with intervals that hold.

`plan` draws images with known probabilities, `promise` says how much their labels will tell, `estimate` reads these:
OpenworldAUC, its parts, accuracy, and the difference of two models. Functions of arrays.
"""

from openworld.labels.curve import CurvePlan, CurveStream, LabelledCurve, curve_stream, estimate_curve, plan_curve
from openworld.labels.estimate import LabelledNumber, LabelledQuality, estimate
from openworld.labels.label_plan import AUTO, DESIGNS, LabelPlan, PlanSettings
from openworld.labels.plan import DesignChoice, choose_design, plan, plan_from_draw
from openworld.labels.promise import Promise, labels_needed, promise
from openworld.labels.streams import (
    LabelAnswers,
    ScoredStream,
    closed_set_stream,
    label_answers,
    right_answers,
    scored_stream,
)

__all__ = [
    "AUTO",
    "DESIGNS",
    "CurvePlan",
    "CurveStream",
    "DesignChoice",
    "LabelAnswers",
    "LabelPlan",
    "LabelledCurve",
    "LabelledNumber",
    "LabelledQuality",
    "PlanSettings",
    "Promise",
    "ScoredStream",
    "choose_design",
    "closed_set_stream",
    "curve_stream",
    "estimate",
    "estimate_curve",
    "label_answers",
    "labels_needed",
    "plan",
    "plan_curve",
    "plan_from_draw",
    "promise",
    "right_answers",
    "scored_stream",
]
