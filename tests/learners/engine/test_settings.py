"""Wrong settings are refused when a learner is made, and say which."""

import pytest

from openworld import OpenworldError
from openworld.learners import LEARNERS, CoOp, GMoP, KgCoOp, ZeroShot, ZeroShotEnsemble, configure


@pytest.mark.parametrize(
    ("learner", "settings", "sentence"),
    [
        (ZeroShot, {"templates": ()}, "templates is empty"),
        (ZeroShot, {"templates": ("a photo",)}, "must hold {} once"),
        (CoOp, {"context_length": 0}, "context_length is 0"),
        (CoOp, {"words": " "}, "empty phrase"),
        (KgCoOp, {"weight": -1.0}, "weight is -1.0"),
        (KgCoOp, {"template": "{} and {}"}, "must hold {} once"),
        (GMoP, {"detectors": 1}, "detectors is 1, expected 2"),
        (GMoP, {"alpha": -0.5}, "alpha is -0.5"),
        (GMoP, {"lam": float("nan")}, "lam is nan"),
        (GMoP, {"gate": "sigmoyd"}, "did you mean 'sigmoid'"),
        (GMoP, {"partition_seed": -1}, "partition_seed is -1"),
    ],
    ids=str,
)
def test_refused(learner, settings, sentence):
    with pytest.raises(OpenworldError, match=sentence):
        learner(**settings)


def test_published_settings_stay_under_the_given_ones():
    learner = configure(GMoP, {"schedule.batch_size": 8}, "imagenet")
    assert (learner.alpha, learner.schedule.epochs, learner.schedule.batch_size) == (1.0, 10, 8)
    assert configure(KgCoOp, {}, "dtd").template == "a photo of a {}, a type of texture."
    assert configure(GMoP, {}, "dtd").template == "{} texture."
    assert len(configure(ZeroShotEnsemble, {}, "dtd").templates) == 8


@pytest.mark.parametrize("name", LEARNERS)
def test_an_unknown_setting_is_refused(name):
    with pytest.raises(OpenworldError, match="unknown key 'shotz'"):
        configure(LEARNERS[name], {"shotz": 1})
