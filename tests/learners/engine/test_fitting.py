"""Seeds fitted in one pass are those fitted one by one."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from small import SMALL

from openworld import OpenworldError
from openworld.learners import LEARNERS, CoOp, Schedule, fit_together

# The contract suite fits all on one set; those that share a pass see sets in different orders here.
TRAINED = ("GMoP", "LoCoOp")


@pytest.mark.parametrize("name", TRAINED)
def test_the_same_as_one_by_one(clip, shots, name):
    learner = LEARNERS[name](**SMALL[name])
    learner = replace(learner, schedule=replace(learner.schedule, epochs=2))
    order = np.random.default_rng(0).permutation(len(shots))
    trains = (shots, shots.select(order))
    together = fit_together(learner, clip, trains, seeds=(1, 2))
    for train, seed, fitted in zip(trains, (1, 2), together, strict=True):
        alone = learner.fit(clip, train, seed=seed)
        assert fitted.classnames == alone.classnames
        for parameter, tensor in alone.parameters.items():
            torch.testing.assert_close(fitted.parameters[parameter], tensor, rtol=1e-3, atol=2e-5)
        assert [pytest.approx(terms, rel=1e-3, abs=1e-5) for terms in alone.history] == list(fitted.history)


def test_seeds_that_cannot_share_a_pass_are_fitted_one_by_one(clip, shots):
    learner = CoOp(context_length=2, schedule=Schedule(epochs=1))
    fewer = shots.select(np.arange(20))
    one, two = fit_together(learner, clip, (shots, fewer), seeds=(1, 2))
    assert torch.equal(one.parameters["context"], learner.fit(clip, shots, seed=1).parameters["context"])
    assert torch.equal(two.parameters["context"], learner.fit(clip, fewer, seed=2).parameters["context"])


def test_as_many_sets_as_seeds(clip, shots):
    with pytest.raises(OpenworldError, match="1 training sets for 2 seeds"):
        fit_together(CoOp(), clip, (shots,), seeds=(1, 2))
