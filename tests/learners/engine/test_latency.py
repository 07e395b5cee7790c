"""One image alone, end to end: the same answer as from encoded features, and the tower counted once."""

import numpy as np
import pytest
import torch

from openworld.learners import FittedLearner, LoCoOp, MaPLe, ZeroShot
from openworld.learners.engine import costs
from openworld.learners.engine.costs import measure_latency


@pytest.mark.parametrize("learner", [ZeroShot(), LoCoOp(), MaPLe(context_length=2, depth=2)])
def test_what_is_timed_is_the_answer_of_encoded_images(clip, shots, learner, monkeypatch):
    parameters = {} if learner.name == "zero-shot" else learner.start(clip, shots.classnames, torch.Generator())
    fitted = FittedLearner(learner, clip, shots.classnames, parameters)
    bank, images = fitted.text_bank(shots.classnames[:4], shots.classnames[4:]), shots.pixels[:1]
    asked = []
    monkeypatch.setattr(
        FittedLearner,
        "answer",
        lambda self, features, bank, plain=FittedLearner.answer: asked.append(plain(self, features, bank)),
    )
    towers = []
    tower = "encode_patches" if learner.consumes == "patches" else "encode_image"
    monkeypatch.setattr(type(clip), tower, _counted(getattr(type(clip), tower), towers))
    found = measure_latency(fitted, bank, images)
    assert (found["batch"], found["memory"]) == (1, None) and found["seconds"] > 0
    assert len(asked) == found["repeats"] + costs.WARM_UP
    assert len(towers) == len(asked), "the image tower runs once for every answer"
    monkeypatch.undo()
    expected = fitted.answer(shots.select(np.array([0])), bank)
    for answer in asked:
        np.testing.assert_allclose(answer.logits, expected.logits, atol=2e-3)
        np.testing.assert_allclose(answer.baseness, expected.baseness, atol=2e-3)


def test_slow_learners_are_not_repeated_for_long(clip, shots, monkeypatch):
    monkeypatch.setattr(costs, "LONGEST", 0.0)
    fitted = FittedLearner(ZeroShot(), clip, shots.classnames, {})
    assert measure_latency(fitted, fitted.text_bank(shots.classnames), shots.pixels[:3])["repeats"] == 1


def _counted(method, calls):
    def counted(*arguments, **options):
        calls.append(1)
        return method(*arguments, **options)

    return counted
