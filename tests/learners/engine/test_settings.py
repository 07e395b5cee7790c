"""Wrong settings are refused when a learner is made, and say which."""

import pytest

from openworld import OpenworldError
from openworld.datasets.templates import ENSEMBLE, NUMBER
from openworld.learners import LEARNERS, TCP, CoOp, GMoP, KgCoOp, ZeroShot, ZeroShotEnsemble, configure
from openworld.learners.engine.settings import with_sentences_of


@pytest.mark.parametrize(
    ("learner", "settings", "sentence"),
    [
        (ZeroShot, {"templates": ()}, "templates is empty"),
        (ZeroShot, {"templates": ("a photo",)}, "must hold {} once"),
        (CoOp, {"context_length": 0}, "context_length is 0"),
        (CoOp, {"words": " "}, "empty phrase"),
        (KgCoOp, {"weight": -1.0}, "weight is -1.0"),
        (KgCoOp, {"template": "{} and {}"}, "must hold {} once"),
        (GMoP, {"detectors": 1}, "detectors is 1, expected a number from 2"),
        (GMoP, {"alpha": -0.5}, "alpha is -0.5"),
        (GMoP, {"lam": float("nan")}, "lam: nan came"),
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
    assert configure(GMoP, {}, "dtd").template == ENSEMBLE and configure(GMoP, {}, "mnist").template == NUMBER
    assert configure(GMoP, {"template": "{}."}, "dtd").sentences == ("{}.",)
    assert len(configure(ZeroShotEnsemble, {}, "dtd").templates) == 8


@pytest.mark.parametrize("name", LEARNERS)
def test_an_unknown_setting_is_refused(name):
    with pytest.raises(OpenworldError, match="unknown key 'shotz'"):
        configure(LEARNERS[name], {"shotz": 1})


def test_sentences_of_another_data_set_replace_published_ones_alone():
    there = with_sentences_of(configure(GMoP, {"alpha": 0.3}, "imagenet"), "imagenet", "food101")
    assert there.template == ("a photo of {}, a type of food",) and there.alpha == 0.3
    assert with_sentences_of(ZeroShot(), "imagenet", "eurosat").templates == ("a centered satellite photo of {}.",)
    assert with_sentences_of(configure(TCP, {}, "imagenet"), "imagenet", "dtd").behind == "{} texture."
    for own in (GMoP(template="{}."), CoOp(), ZeroShot(("{}.",))):
        assert with_sentences_of(own, "imagenet", "food101") == own
