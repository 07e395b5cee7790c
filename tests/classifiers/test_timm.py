"""The adapter of timm, on a stand-in."""

import sys

import made_up
import pytest
from made_up import NAMES, STATED, create_model, image_set

from openworld import OpenworldError
from openworld.classifiers import Recipe, build, files, from_weights, load, train


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


def test_a_model_that_states_nothing_is_prepared_as_timm_does(timm, monkeypatch):
    monkeypatch.setattr(made_up, "STATED", {})
    stated = load("timm:tiny").preprocess
    assert (stated.resize, stated.crop, stated.resample) == (256, 224, 3)
    assert (stated.mean, stated.std) == ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


def test_a_state_dict_alone_is_enough(timm, tmp_path):
    from safetensors.torch import save_file

    network = create_model("tiny", num_classes=3)
    save_file(network.state_dict(), tmp_path / "tiny.safetensors")
    classifier = from_weights("timm:tiny", tmp_path / "tiny.safetensors", NAMES)
    assert classifier.side == 16 and classifier.preprocess.resize == 20
    assert classifier.logits(image_set()).shape == (24, 3)


def test_without_timm_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(OpenworldError, match=r'pip install "openworld\[timm\]"'):
        build("timm:resnet50", 5, 16)
