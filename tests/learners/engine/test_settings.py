"""Settings: those that make no sense are refused when a learner is made, published ones are as published."""

from math import nan

import pytest

from openworld import OpenworldError
from openworld.datasets.templates import ENSEMBLE, NUMBER
from openworld.learners import (
    IVLP,
    LEARNERS,
    MMRL,
    RPO,
    TCP,
    VPT,
    CoCoOp,
    CoOp,
    DeCoOp,
    DePT,
    GalLoP,
    GMoP,
    KgCoOp,
    LoCoOp,
    MaPLe,
    ProDA,
    ProGrad,
    PromptSRC,
    Schedule,
    SkipTuning,
    TwoSFS,
    ZeroShot,
    ZeroShotEnsemble,
    configure,
)
from openworld.learners.engine.settings import with_sentences_of

ONCE = "must hold {} once"
REFUSED = [
    (ZeroShot, {"templates": ()}, "templates is empty"),
    (ZeroShot, {"templates": ("a photo",)}, ONCE),
    (CoOp, {"context_length": 0}, "context_length is 0"),
    (CoOp, {"words": " "}, "empty phrase"),
    (CoCoOp, {"reduction": 0}, "reduction is 0"),
    (KgCoOp, {"weight": -1.0}, "weight is -1.0"),
    (KgCoOp, {"template": "{} and {}"}, ONCE),
    (GMoP, {"detectors": 1}, "detectors is 1, expected a number from 2"),
    (GMoP, {"alpha": -0.5}, "alpha is -0.5"),
    (GMoP, {"lam": nan}, "lam: nan came"),
    (GMoP, {"gate": "sigmoyd"}, "did you mean 'sigmoid'"),
    (GMoP, {"partition_seed": -1}, "partition_seed is -1"),
    (DeCoOp, {"detectors": 1}, "detectors is 1"),
    (DeCoOp, {"margin": -0.1}, "margin is -0.1"),
    (DeCoOp, {"templates": ()}, "templates is empty"),
    (DePT, {"head_share": 1.2}, "head_share is 1.2"),
    (DePT, {"rate_factor": -1}, "rate_factor is -1"),
    (GalLoP, {"top": ()}, "top is 0"),
    (GalLoP, {"top": (5, 0)}, "top is 0"),
    (GalLoP, {"dropout": 1.0}, "dropout is 1.0"),
    (IVLP, {"text_depth": 0}, "text_depth is 0"),
    (IVLP, {"image_depth": -1}, "image_depth is -1"),
    (LoCoOp, {"top": 0}, "top is 0"),
    (LoCoOp, {"weight": -0.1}, "weight is -0.1"),
    (MaPLe, {"depth": 0}, "depth is 0"),
    (MMRL, {"tokens": 0}, "tokens is 0"),
    (MMRL, {"class_share": 1.5}, "class_share is 1.5"),
    (MMRL, {"template": "owl"}, ONCE),
    (ProDA, {"contexts": 1}, "contexts is 1"),
    (ProDA, {"per_step": 0}, "per_step is 0"),
    (ProGrad, {"words": "a type of pet, a photo of a", "context_length": 4}, "context of 4 tokens cannot hold"),
    (ProGrad, {"strength": -1.0}, "strength is -1.0"),
    (ProGrad, {"temperature": 0.0}, "temperature is 0.0, expected a number above 0"),
    (PromptSRC, {"deviation": 0.0}, "deviation is 0.0"),
    (PromptSRC, {"deviation": nan}, "deviation: nan"),
    (RPO, {"noise": -1.0}, "noise is -1.0"),
    (RPO, {"initial": "random"}, "initial: unknown value"),
    (RPO, {"template": "a photo."}, ONCE),
    (SkipTuning, {"top": 0.0}, "top is 0.0"),
    (SkipTuning, {"spread": 0.0}, "spread is 0.0"),
    (SkipTuning, {"image_factor": -1.0}, "image_factor is -1.0"),
    (TCP, {"block": 0}, "block is 0"),
    (TCP, {"behind": "."}, ONCE),
    (TwoSFS, {"first_share": 0.0}, "first_share is 0.0"),
    (TwoSFS, {"first_share": 1.0}, "first_share is 1.0"),
    (TwoSFS, {"schedule": Schedule(epochs=1)}, "epoch"),
    (VPT, {"image_length": 0}, "image_length is 0"),
    (Schedule, {"epochs": 0}, "epochs is 0"),
    (Schedule, {"cosine_epochs": 0}, "cosine_epochs is 0"),
    (Schedule, {"learning_rate": -1.0}, "learning_rate is -1.0"),
    (Schedule, {"decay": "per year"}, "unknown"),
    (Schedule, {"optimizer": "SDG"}, "unknown"),
    *((configure, {"learner": kind, "settings": {"shotz": 1}}, "unknown key .shotz.") for kind in LEARNERS.values()),
]  # fmt: skip


@pytest.mark.parametrize(("make", "settings", "words"), REFUSED)
def test_refused(make, settings, words):
    with pytest.raises(OpenworldError, match=words):
        make(**settings)


# (learner, data set, task, what is published): a name of `schedule` where the learner has none of that name.
PUBLISHED = [
    (CoCoOp, "caltech101", "base-to-new", {"batch_size": 1, "epochs": 10, "words": "a photo of a"}),
    (CoCoOp, "imagenet", "openpl", {"words": None, "context_length": 4, "batch_size": 1, "epochs": 10}),
    (GalLoP, "imagenet", "base-to-new", {"batch_size": 128, "epochs": 50}),
    (GalLoP, "sun397", "base-to-new", {"batch_size": 128, "epochs": 200}),
    (GalLoP, "eurosat", "base-to-new", {"batch_size": 10, "epochs": 200}),
    (GalLoP, "dtd", "openpl", {"words": None, "batch_size": 32, "weight_decay": 1e-2}),
    (IVLP, "dtd", "openpl", {"text_length": 4, "image_length": 4, "text_depth": 9, "words": None, "epochs": 50}),
    (IVLP, "dtd", "openpl", {"image_depth": 9, "learning_rate": 2e-3, "batch_size": 4}),
    (MaPLe, "imagenet", "ood", {"depth": 3, "epochs": 2, "learning_rate": 2.6e-3}),
    (MaPLe, "imagenet", "openpl", {"context_length": 4, "depth": 9, "words": None, "epochs": 10}),
    (MMRL, "eurosat", "base-to-new", {"token_width": 2048, "weight": 0.01}),
    (MMRL, "dtd", "base-to-new", {"template": "{} texture.", "weight": 6.0}),
    (MMRL, "imagenet", "base-to-new", {"epochs": 5, "batch_size": 32, "learning_rate": 1e-3, "optimizer": "AdamW"}),
    (MMRL, "imagenet", "ood", {"epochs": 1}),
    (ProDA, "dtd", "openpl", {"context_length": 4}),
    (ProDA, "dtd", "base-to-new", {"context_length": 16}),
    (ProGrad, "caltech101", "base-to-new", {"context_length": 16, "epochs": 100, "batch_size": 32}),
    (ProGrad, "imagenet", "base-to-new", {"epochs": 50}),
    (ProGrad, "dtd", "openpl", {"context_length": 4, "words": None, "template": "a texture of {}.", "epochs": 50}),
    (PromptSRC, "dtd", "base-to-new", {"depth": 9, "mean": 15, "deviation": 1}),
    (PromptSRC, "imagenet", "ood", {"depth": 3, "mean": 6, "deviation": 10, "epochs": 20}),
    (PromptSRC, "imagenet", "openpl", {"mean": 6, "deviation": 6, "epochs": 10}),
    (PromptSRC, "dtd", "openpl", {"mean": 45, "deviation": 5, "epochs": 50}),
    (PromptSRC, "sun397", "openpl", {"mean": 30, "deviation": 30, "epochs": 50}),
    (RPO, "dtd", "base-to-new", {"prompts": 24}),
    (RPO, "imagenet", "openpl", {"prompts": 4, "epochs": 10, "learning_rate": 2e-3}),
    (RPO, "imagenet", "ood", {"learning_rate": 5e-3}),
    (SkipTuning, "food101", "base-to-new", {"epochs": 5}),
    (SkipTuning, "dtd", "base-to-new", {"template": "itap of a {}."}),
    (SkipTuning, "imagenet", "ood", {"learning_rate": 1e-5, "image_factor": 0.1, "warmup_rate": 1e-8}),
    (TCP, "caltech101", "base-to-new", {"optimizer": "Adam", "adam_epsilon": 1e-3, "epochs": 50}),
    (TCP, "sun397", "base-to-new", {"epochs": 25}),
    (TCP, "imagenet", "openpl", {"epochs": 10}),
    (TCP, "oxford_pets", "base-to-new", {"behind": "{}, a type of pet."}),
    (TCP, "fgvc_aircraft", "base-to-new", {"template": "a photo of an aircraft {}."}),
    (TwoSFS, "dtd", "base-to-new", {"template": "{} texture.", "epochs": 300, "batch_size": 32, "weight_decay": 1e-2}),
    (VPT, "dtd", "base-to-new", {"image_length": 8, "depth": 12}),
    (VPT, "imagenet", "openpl", {"image_length": 4, "epochs": 10, "learning_rate": 2e-3}),
]


@pytest.mark.parametrize(("kind", "dataset", "task", "settings"), PUBLISHED, ids=str)
def test_published(kind, dataset, task, settings):
    learner = kind.published(dataset, task)
    found = {name: getattr(learner if hasattr(learner, name) else learner.schedule, name) for name in settings}
    assert found == settings


def test_published_rates():
    decoop = DeCoOp.published("imagenet")
    assert {decoop.detector_schedule.rate(epoch, step=77 * epoch) for epoch in range(50)} == {2e-3}
    rates = [decoop.schedule.rate(0, step=step) for step in (0, 50, 100, 150, 200)]
    assert rates == pytest.approx([2e-3, 1e-3, 0, 1e-3, 2e-3])
    gallop = GalLoP.published("dtd").schedule
    assert [gallop.rate(epoch) for epoch in (0, 100)] == pytest.approx([2e-3, 1e-3])


def test_published_settings_stay_under_the_given_ones():
    learner = configure(GMoP, {"schedule.batch_size": 8}, "imagenet")
    assert (learner.alpha, learner.schedule.epochs, learner.schedule.batch_size) == (1.0, 10, 8)
    assert configure(KgCoOp, {}, "dtd").template == "a photo of a {}, a type of texture."
    assert configure(GMoP, {}, "dtd").template == ENSEMBLE and configure(GMoP, {}, "mnist").template == NUMBER
    assert configure(GMoP, {"template": "{}."}, "dtd").sentences == ("{}.",)
    assert len(configure(ZeroShotEnsemble, {}, "dtd").templates) == 8


def test_sentences_of_another_data_set_replace_published_ones_alone():
    there = with_sentences_of(configure(GMoP, {"alpha": 0.3}, "imagenet"), "imagenet", "food101")
    assert there.template == ("a photo of {}, a type of food",) and there.alpha == 0.3
    assert with_sentences_of(ZeroShot(), "imagenet", "eurosat").templates == ("a centered satellite photo of {}.",)
    assert with_sentences_of(configure(TCP, {}, "imagenet"), "imagenet", "dtd").behind == "{} texture."
    for own in (GMoP(template="{}."), CoOp(), ZeroShot(("{}.",))):
        assert with_sentences_of(own, "imagenet", "food101") == own
