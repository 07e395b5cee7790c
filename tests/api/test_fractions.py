"""Fractions that came as percent or points are refused wherever one is asked for, with how they are written."""

from functools import cache
from math import inf, nan

import numpy as np
import pytest

import openworld as ow
from openworld.reproduction.comparison.compare import compare_with_paper

SCORES = {"group": ["id", "id", "far", "far"], "set": ["", "", "dtd", "dtd"], "MSP": [0.9, 0.7, 0.4, 0.1]}
LOGITS = {"logits": np.eye(3)[[0, 1, 2, 0]], "labels": [0, 1, 2, 0]}


@cache
def run(points=0.0):
    generator, side = np.random.default_rng(0), ["base"] * 60 + ["new"] * 60
    score = generator.normal(size=120) + np.repeat([2.0 - points, 0.0], 60)
    return ow.score({"side": side, "score": score, "correct": generator.random(120) < 0.9})


CALLS = {
    "margin of check": lambda value: ow.check(run(1.5), against=run(), margin=value),
    "margin of reproduce": lambda value: compare_with_paper("openworldauc", "1", (), margin=value),
    "flag_rate": lambda value: ow.detect(scores=SCORES, flag_rate=value, quiet=True),
    "at_most": lambda value: ow.detect("today.csv", apply="kept", at_most=value, quiet=True),
    "alert": lambda value: ow.estimate(LOGITS, LOGITS, alert=value, quiet=True),
    "alert of a watch": lambda value: ow.fit_watch(LOGITS, "watch", chunk_rows=2, alert=value, quiet=True),
    "new_share": lambda value: ow.estimate(LOGITS, LOGITS, open_world=True, new_share=value, quiet=True),
    "miss_rate": lambda value: ow.decide(run(), miss_rate=value),
    "hit_rate": lambda value: ow.decide(run(), hit_rate=value),
    "new_share of decide": lambda value: ow.decide(run(), cost_miss=1, cost_unhit=1, new_share=value),
    "threshold": lambda value: ow.predict("learner", ["image.png"], threshold=value),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("value", [5, 1e308, inf, nan, -0.1, "5", True])
def test_what_is_no_fraction_is_refused(name, value):
    words = "5 is 500 %, and 5 % is 0.05" if value == 5 else "expected"
    with pytest.raises(ow.OpenworldError, match=words):
        CALLS[name](value)


def test_a_margin_of_one_is_100_points():
    with pytest.raises(ow.OpenworldError, match="1 is 100 %, and 1 % is 0.01"):
        CALLS["margin of check"](1)
    assert CALLS["margin of check"](0.01).found.decision == "broken"
    assert CALLS["margin of check"](0).found.decision == "broken"


@pytest.mark.parametrize(
    "required, words",
    [
        ("openworld_auc >= 50", "at least 0 and at most 1; for 50 % write"),
        ("fpr95_in_positive <= 5", "for 5 % write"),
        ("fpr95_in_positive <= 1", "for 1 % write"),
        ("openworld_auc >= -1", "the same for every run"),
        ("openworld_auc >= 1e999", "the same for every run"),
    ],
)
def test_a_requirement_in_percent_is_refused(required, words):
    with pytest.raises(ow.OpenworldError, match=words):
        ow.check(run(), required)


def test_a_half_width_is_in_points():
    with pytest.raises(ow.OpenworldError, match="expected points either way, 0.1 to 50: 3 for a fraction of 0.03"):
        ow.label_plan({"score": [0.1, 0.9], "prediction": ["a", "b"]}, out="labels", within=0.03, quiet=True)
