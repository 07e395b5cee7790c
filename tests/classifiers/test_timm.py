"""The adapter of timm, on a stand-in: timm itself needs torchvision, which is not here."""

import sys
from types import ModuleType

import pytest
import torch
from made_up import NAMES, image_set
from torch import nn

from openworld import OpenworldError
from openworld.classifiers import Recipe, build, files, from_weights, load, train

STATED = {
    "input_size": (3, 16, 16),
    "crop_pct": 0.8,
    "interpolation": "bilinear",
    "mean": (0.5, 0.4, 0.3),
    "std": (0.2, 0.2, 0.1),
}


def create_model(name, pretrained=False, num_classes=1000):
    """As timm's, of one model."""
    if name != "tiny":
        raise RuntimeError(f"Unknown model ({name})\nand a second line")
    network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, num_classes))
    if pretrained:
        nn.init.ones_(network[0].weight)
    network.pretrained_cfg = STATED
    return network


@pytest.fixture
def timm(monkeypatch):
    module = ModuleType("timm")
    module.create_model = create_model
    monkeypatch.setitem(sys.modules, "timm", module)


def test_a_model_with_a_last_layer_for_the_classes(timm):
    assert build("timm:tiny", 5, 16)(torch.zeros(2, 3, 16, 16)).shape == (2, 5)
    assert build("timm:tiny", 5, 16, pretrained=True)[0].weight.eq(1).all()


def test_training_from_published_weights_keeps_their_preprocessing(timm):
    recipe = Recipe(learning_rate=0.0, epochs=1, side=16, resize=20, pretrained=True)
    fine_tuned = train("timm:tiny", image_set(), recipe, seed=0)[1]
    assert fine_tuned.module[0].weight.eq(1).all()
    stated = fine_tuned.preprocess
    assert (stated.resize, stated.crop, stated.mode, stated.resample) == (20, 16, "shortest", 2)
    assert (stated.mean, stated.std) == (STATED["mean"], STATED["std"])


def test_without_published_weights_mean_and_deviation_are_those_of_the_images(timm):
    plain = train("timm:tiny", image_set(), Recipe(epochs=1, side=16), seed=0)[1]
    assert plain.preprocess.mean != STATED["mean"]
    assert load(files(plain)).fingerprint == plain.fingerprint


def test_a_state_dict_alone_is_enough(timm, tmp_path):
    from safetensors.torch import save_file

    network = create_model("tiny", num_classes=3)
    save_file(network.state_dict(), tmp_path / "tiny.safetensors")
    classifier = from_weights("timm:tiny", tmp_path / "tiny.safetensors", NAMES)
    assert classifier.side == 16 and classifier.preprocess.resize == 20
    assert classifier.logits(image_set()).shape == (24, 3)


def test_a_model_that_states_nothing_is_prepared_as_timm_does(timm, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "STATED", {})
    stated = train("timm:tiny", image_set(), Recipe(epochs=1, side=224, pretrained=True), seed=0)[1].preprocess
    assert (stated.resize, stated.crop, stated.resample, stated.mean) == (256, 224, 3, (0.485, 0.456, 0.406))


def test_without_timm_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(OpenworldError, match=r'pip install "openworld\[timm\]"'):
        build("timm:resnet50", 5, 16)
