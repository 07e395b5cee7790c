"""Networks by name: ours against the papers' counts, those of functions, and every way to ask wrongly."""

import sys
from types import ModuleType

import pytest
import torch
from torch import nn

from openworld import OpenworldError
from openworld.classifiers import ARCHITECTURES, build

# With ten classes, counted from the papers' tables of layers; the large ones are known by these numbers.
WEIGHTS = {
    "convnet": (27 + 1) * 32 + (288 + 1) * 64 + (4096 + 1) * 128 + (128 + 1) * 10,
    "resnet-8": 78_042,
    "resnet-14": 175_258,
    "resnet-18": 11_173_962,
    "densenet-18": 51532,
    "densenet-121": 6_956_298,
}


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_as_many_weights_as_known(name):
    assert sum(weights.numel() for weights in build(name, 10, 32).parameters()) == WEIGHTS[name]


@pytest.mark.parametrize("side", [28, 33])
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_logits_per_class_on_images_of_any_side(name, side):
    with torch.inference_mode():
        assert build(name, 7, side).eval()(torch.zeros(2, 3, side, side)).shape == (2, 7)


def test_a_block_that_keeps_its_shape_adds_what_came_in():
    block = build("resnet-8", 2, 16)[3].eval()
    for convolution in (block.first, block.second):
        nn.init.zeros_(convolution.weight)
    given = torch.randn(1, 16, 4, 4)
    torch.testing.assert_close(block(given), given.relu())


@pytest.fixture
def somebodys_code(monkeypatch):
    module = ModuleType("somebodys_code")
    module.linear = lambda classes: nn.Sequential(nn.Flatten(), nn.Linear(3 * 16 * 16, classes))
    module.of_seven = lambda classes: module.linear(7)
    module.no_network = lambda classes: classes
    module.broken = lambda: None
    monkeypatch.setitem(sys.modules, "somebodys_code", module)


def test_any_function_that_returns_a_module(somebodys_code):
    assert build("somebodys_code:linear", 5, 16)(torch.zeros(2, 3, 16, 16)).shape == (2, 5)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("somebodys_code:missing", "cannot be imported.*AttributeError"),
        ("no_such_package:linear", "cannot be imported.*ModuleNotFoundError.*current folder"),
        ("somebodys_code:broken", "gives no network.*TypeError"),
        ("somebodys_code:no_network", "returns a int, expected a torch.nn.Module"),
        ("somebodys_code:of_seven", r"gives \[1, 7\] for one image, expected logits of shape \[1, 5\]"),
        ("resnet8", "did you mean 'resnet-8'.*timm:NAME"),
    ],
)
def test_what_cannot_be_built_is_refused(somebodys_code, asked, message):
    with pytest.raises(OpenworldError, match=message):
        build(asked, 5, 16)


def test_a_network_for_other_images_is_refused(somebodys_code):
    with pytest.raises(OpenworldError, match="cannot look at an image of 20 x 20 pixels"):
        build("somebodys_code:linear", 5, 20)


def test_ours_have_no_published_weights_and_need_two_classes():
    with pytest.raises(OpenworldError, match="no published weights of 'resnet-8'"):
        build("resnet-8", 5, 32, pretrained=True)
    with pytest.raises(OpenworldError, match="classes is 1, expected a number from 2"):
        build("resnet-8", 1, 32)
