"""ImageNet's two pairs of classes of one name, as published runs have them: two classes, the same words."""

import sys
from pathlib import Path

import pytest
import torch

from openworld.backbones.loading import load_once
from openworld.datasets import use_root
from openworld.evaluations.generalisation.spec import source_names
from openworld.evaluations.image_selection import DatasetSpec
from openworld.learners import RPO, CoOp, FittedLearner, ZeroShot

sys.path.append(str(Path(__file__).parents[1] / "datasets"))
from trees import plant  # noqa: E402


@pytest.fixture
def imagenet(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENWORLD_DATA", str(tmp_path))
    plant(tmp_path, "imagenet")
    use_root(tmp_path)


def test_published_names_are_two_labels_and_one_text(imagenet):
    plain, published = DatasetSpec("imagenet"), DatasetSpec("imagenet", published_names=True)
    assert plain.classnames[-4:] == ("missile", "projectile", "sunglass", "sunglasses")
    assert published.classnames[-4:] == ("missile", "missile (again)", "sunglasses (again)", "sunglasses")
    assert published.images().fingerprint != plain.images().fingerprint
    assert source_names(published).wordnet_ids == source_names(plain).wordnet_ids
    clip, names = load_once("embedded"), published.classnames
    for learner in (ZeroShot(), CoOp(context_length=2), RPO(prompts=2, keep_underscores=True)):
        start = {} if learner.name == "zero-shot" else learner.start(clip, names, torch.Generator().manual_seed(0))
        text = FittedLearner(learner, clip, names, start).text_bank(names).text
        torch.testing.assert_close(text[[-4, -2]], text[[-3, -1]])
        assert (text[-4] - text[-1]).abs().max() > 1e-3
