"""Every public function of `openworld.labels`, with good values of all its arguments."""

import numpy as np
from generated import generated
from judging import Call

from openworld import labels
from openworld.labels import LabelPlan, PlanSettings

RNG = np.random.default_rng(0)
COUNT = 120
LEVEL = np.repeat([0.0, 0.5, 1.0], 40)
LOGITS, ZERO_SHOT = RNG.integers(-16, 17, (COUNT, 4)) / 8, RNG.integers(-16, 17, (COUNT, 4)) / 8
IMAGE, SHARES = np.tile(np.arange(40), 3), RNG.integers(1, 16, (COUNT, 4)) / 16
SCORES, BASE = RNG.integers(0, 64, COUNT) / 8, RNG.integers(1, 15, COUNT) / 16
RIGHT_PARTS = {"base_right": BASE / 2, "new_right": (1 - BASE) / 2, "base": BASE, "new": 1 - BASE, "right": BASE / 2}
NAMES = RNG.integers(0, 4, COUNT)
STREAM = labels.scored_stream(SCORES, **RIGHT_PARTS)
CLOSED = labels.closed_set_stream(BASE)
CURVE = labels.curve_stream(LEVEL, LOGITS, ZERO_SHOT, IMAGE)
PLAN, CURVE_PLAN = labels.plan(STREAM, 60), labels.plan_curve(CURVE, 30)
TRUE = RNG.integers(0, 2, 60).astype(bool)
ANSWERS = labels.label_answers(TRUE, TRUE, ~TRUE)
GROUPS = np.arange(COUNT) // 2
FOUND = labels.estimate(PLAN, ANSWERS)

CALLS = {
    "CurvePlan.half_width": Call(CURVE_PLAN.half_width, {"level": 0.9}),
    "LabelPlan.from_arrays": generated(LabelPlan.from_arrays, {"arrays": PLAN.to_arrays()}),
    "LabelledNumber.interval": Call(FOUND.of().interval, {"level": 0.9, "like_these": False}),
    "LabelledQuality.of": Call(FOUND.of, {"quantity": "auroc", "model": 0}),
    "PlanSettings": generated(PlanSettings),
    "choose_design": generated(labels.choose_design, {"streams": STREAM, "n": 60, "settings": PlanSettings()}),
    "closed_set_stream": generated(labels.closed_set_stream, {"right": BASE, "name": NAMES}),
    "curve_stream": generated(
        labels.curve_stream, {"level": LEVEL, "logits": LOGITS, "zero_shot": ZERO_SHOT, "image": IMAGE}
    ),
    "estimate": generated(labels.estimate, {"plan": PLAN, "answers": ANSWERS, "groups": GROUPS, "proxy_weight": 0.5}),
    "estimate_curve": generated(
        labels.estimate_curve, {"plan": CURVE_PLAN, "classes": RNG.integers(0, 4, len(CURVE_PLAN.images))}
    ),
    "label_answers": generated(
        labels.label_answers, {"base": TRUE, "base_right": TRUE, "new_right": ~TRUE, "right": TRUE}
    ),
    "labels_needed": generated(
        labels.labels_needed, {"streams": STREAM, "half_width": 0.1, "settings": PlanSettings()}
    ),
    "plan": generated(labels.plan, {"streams": STREAM, "n": 60, "settings": PlanSettings()}),
    "plan_curve": generated(labels.plan_curve, {"stream": CURVE, "n": 30}),
    "plan_from_draw": generated(
        labels.plan_from_draw,
        {"streams": STREAM, "chosen": np.arange(60), "inclusion": np.full(COUNT, 0.5)},
    ),
    "promise": generated(labels.promise, {"plan": PLAN, "level": 0.9}),
    "right_answers": generated(labels.right_answers, {"right": TRUE}),
    "scored_stream": generated(
        labels.scored_stream,
        {"scores": SCORES} | RIGHT_PARTS | {"base_name": NAMES, "new_name": NAMES, "joint_name": NAMES},
    ),
}
RESULTS = frozenset(
    {"CurvePlan", "CurveStream", "DesignChoice", "LabelAnswers", "LabelPlan", "LabelledCurve", "LabelledNumber"}
    | {"LabelledQuality", "Promise", "ScoredStream"}
)
"""Classes that functions return; nobody makes them by hand."""
