"""Learners on backbones that lack something: tried before an image is encoded, and refused by name."""

import pytest
import torch

from openworld.backbones import ImageConfig, Preprocess, TextConfig, TwoTower, TwoTowerConfig
from openworld.backbones.foreign.of_objects import encoder_of
from openworld.core.errors import OpenworldError
from openworld.learners import LEARNERS
from openworld.learners.engine.costs import WordTokenizer
from openworld.learners.engine.requirements import lacking, require_able
from openworld.testing import small_world

NAMES_ALONE = {"zero-shot", "zero-shot-ensemble"}


@pytest.fixture(scope="module")
def foreign():
    """An encoder whose towers are not ours: somebody's object."""
    clip = small_world().clip

    class Theirs:
        logit_scale = 100.0

        def encode_image(self, images):
            return clip.encode_image(torch.stack([clip.preprocess(image) for image in images]))

        def encode_text(self, texts):
            return clip.encode_text(texts)

    return encoder_of(Theirs())


def test_nothing_is_missing_in_clip_and_a_foreign_encoder_runs_learners_of_names_alone(foreign):
    clip = small_world().clip
    for name, learner in LEARNERS.items():
        assert lacking(clip, learner()) is None
        found = lacking(foreign, learner())
        assert found is None if name in NAMES_ALONE else "it needs" in found


def test_the_refusal_names_the_learner_and_those_that_run(foreign):
    require_able(foreign, LEARNERS["zero-shot"]())
    with pytest.raises(
        OpenworldError, match="CoOp cannot run on.*learned contexts.*zero-shot-ensemble.*openworld doctor"
    ):
        require_able(foreign, LEARNERS["CoOp"]())


def test_a_learner_of_embeddings_alone_runs_whatever_it_trains(foreign):
    class Probe:
        """Trains, and asks nothing of the text tower."""

        name, consumes = "probe", "views"

        def start(self, clip, classnames, generator):
            return {"weight": torch.zeros(len(classnames), clip.config.joint_dimension)}

        def prepare(self, clip, classnames):
            return clip.encode_text([f"a {name}" for name in classnames])

    assert lacking(foreign, Probe()) is None


def test_siglip_runs_learners_of_names_alone():
    """Its text tower is not causal, its image tower has no class token."""
    text = TextConfig(width=16, layers=2, heads=2, mlp_width=24, vocabulary=512, causal=False, pool="last")
    image = ImageConfig(16, 8, 16, 2, 2, 24, class_token=False, pre_norm=False, patch_bias=True, pool="attention")
    torch.manual_seed(0)
    siglip = TwoTower(
        TwoTowerConfig(text, image, 16, "siglip"),
        tokenizer=WordTokenizer(512, 77),
        preprocess=Preprocess(16, 16, "squash", (0.5,) * 3, (0.5,) * 3),
    )
    assert {name for name, learner in LEARNERS.items() if lacking(siglip, learner()) is None} == NAMES_ALONE
    assert "bidirectional" in lacking(siglip, LEARNERS["CoOp"]())
    assert "class token" in lacking(siglip, LEARNERS["VPT"]())
