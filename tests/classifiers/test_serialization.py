"""A classifier on disk: back without loss, no code run unasked, and damage named."""

import json
import sys
from types import ModuleType

import numpy as np
import pytest
import torch
from made_up import NAMES, image_set
from torch import nn

from openworld import OpenworldError
from openworld.classifiers import Classifier, Preprocess, files, from_weights, load, save

PLAIN = Preprocess(16, 16, "shortest", (0.5,) * 3, (0.25,) * 3)


def test_it_comes_back_as_it_was(trained, tmp_path):
    save(trained[4], tmp_path / "new" / "folder")
    back = load(tmp_path / "new" / "folder")
    assert back.fingerprint == trained[4].fingerprint
    assert (back.classnames, back.preprocess, back.history) == (NAMES, trained[4].preprocess, trained[4].history)
    assert files(back) == files(trained[4])
    np.testing.assert_array_equal(back.logits(image_set()), trained[4].logits(image_set()))


def test_it_knows_its_training_images_again(trained, tmp_path):
    save(trained[4], tmp_path)
    back = load(tmp_path)
    assert back.find_seen(image_set(40)).tolist() == [2] * 24 + [0] * 16
    (tmp_path / "training-images.safetensors").write_bytes(b"no hashes")
    with pytest.raises(OpenworldError, match="training-images.safetensors is damaged"):
        load(tmp_path)
    (tmp_path / "training-images.safetensors").unlink()  # as in folders of older versions
    old = load(tmp_path)
    assert old.seen is None and old.fingerprint == back.fingerprint
    with pytest.raises(OpenworldError, match="does not know what it was trained on"):
        old.find_seen(image_set(3))


@pytest.fixture
def of_a_function(monkeypatch):
    module = ModuleType("somebodys_code")
    module.linear = lambda classes: nn.Sequential(nn.Flatten(), nn.Linear(3 * 16 * 16, classes))
    monkeypatch.setitem(sys.modules, "somebodys_code", module)
    return Classifier(module.linear(3), NAMES, PLAIN, "somebodys_code:linear")


def test_a_function_runs_only_when_it_is_named_again(of_a_function):
    kept = files(of_a_function)
    with pytest.raises(
        OpenworldError, match="if you trust it, say so: architecture='somebodys_code:linear' \\(in a spec"
    ):
        load(kept)
    assert load(kept, architecture="somebodys_code:linear").fingerprint == of_a_function.fingerprint


def test_a_state_dict_of_other_code(of_a_function, tmp_path):
    weights = tmp_path / "mine.safetensors"
    weights.write_bytes(files(of_a_function)["weights.safetensors"])
    classifier = from_weights("somebodys_code:linear", weights, NAMES, PLAIN)
    assert classifier.fingerprint == of_a_function.fingerprint
    with pytest.raises(OpenworldError, match="cannot be read"):
        from_weights("somebodys_code:linear", tmp_path / "none.safetensors", NAMES, PLAIN)


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        ("weights.safetensors", lambda data: data[:-10], "no whole safetensors file"),
        ("classifier.json", lambda data: data[:-10], "holds no whole classifier"),
        ("classifier.json", lambda data: b"{}", "holds no whole classifier"),
    ],
)
def test_damage_is_named(trained, tmp_path, name, damage, message):
    save(trained[1], tmp_path)
    (tmp_path / name).write_bytes(damage((tmp_path / name).read_bytes()))
    with pytest.raises(OpenworldError, match=message) as caught:
        load(tmp_path)
    assert str(tmp_path) in str(caught.value)
    with pytest.raises(OpenworldError, match="holds no classifier"):
        load(tmp_path / "empty")


def test_a_module_that_nobody_can_build_is_kept_but_not_made_again():
    classifier = Classifier(nn.Sequential(nn.Flatten(), nn.Linear(768, 3)), NAMES, PLAIN, "my own")
    assert json.loads(files(classifier)["classifier.json"])["architecture"] == "my own"
    with pytest.raises(OpenworldError, match="only 'my own', which nothing here builds"):
        load(files(classifier))


def test_weights_that_are_no_numbers_are_refused_with_their_name(of_a_function):
    with torch.no_grad():
        of_a_function.module[1].bias[2] = float("-inf")
    with pytest.raises(OpenworldError, match=r"1\.bias holds NaN or infinite"):
        load(files(of_a_function), architecture="somebodys_code:linear")
