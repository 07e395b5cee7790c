"""Fractions that came as percent or points are refused wherever they are read, with how they are written."""

from functools import cache

import numpy as np
import pytest

import openworld as ow
from openworld.reproduction.comparison import compare_with_paper

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
@pytest.mark.parametrize(("value", "words"), [(5, "5 is 500 %, and 5 % is 0.05"), (float("nan"), "expected")])
def test_what_is_no_fraction_is_refused(name, value, words):
    with pytest.raises(ow.OpenworldError, match=words):
        CALLS[name](value)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ow.check(run(), against=run(), margin=1), "1 is 100 %, and 1 % is 0.01"),
        (lambda: ow.check(run(), "openworld_auc >= 50"), "at least 0 and at most 1; for 50 % write"),
        (lambda: ow.check(run(), "fpr95_in_positive <= 1"), "for 1 % write"),
        (lambda: ow.check(run(), "openworld_auc >= -1"), "the same for every run"),
        (lambda: ow.check(run(), "openworld_auc >= 1e999"), "the same for every run"),
        (
            lambda: ow.label_plan({"score": [0.1, 0.9], "prediction": ["a", "b"]}, out="labels", within=0.03),
            "expected points either way, 0.1 to 50: 3 for a fraction of 0.03",
        ),
    ],
)
def test_a_margin_a_requirement_and_a_half_width_in_another_unit(call, words):
    with pytest.raises(ow.OpenworldError, match=words):
        call()


def test_a_margin_may_be_nothing_and_no_more_is_lost_than_it():
    assert [CALLS["margin of check"](margin).found.decision for margin in (0.01, 0)] == ["broken", "broken"]
