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


def test_the_narrow_ones_halve_the_image_first():
    strides = {name: build(name, 2, 32)[0].stride[0] for name in ARCHITECTURES}
    assert {name for name, stride in strides.items() if stride == 2} == {"resnet-8", "resnet-14", "densenet-18"}


@pytest.mark.parametrize("name", ["convnet", "resnet-14", "densenet-18"])
def test_logits_per_class_on_images_of_any_side(name):
    with torch.inference_mode():
        assert build(name, 7, 33).eval()(torch.zeros(2, 3, 33, 33)).shape == (2, 7)


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
    module.flat = lambda classes: nn.Flatten()
    module.no_network = lambda classes: classes
    module.broken = lambda: None
    monkeypatch.setitem(sys.modules, "somebodys_code", module)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("somebodys_code:missing", "cannot be imported.*AttributeError"),
        ("somebodys_code:broken", "gives no network.*TypeError"),
        ("somebodys_code:no_network", "returns a int, expected a torch.nn.Module"),
        ("somebodys_code:linear", "cannot look at an image of 20 x 20 pixels"),
        ("somebodys_code:flat", r"gives \[1, 1200\] for one image, expected logits of shape \[1, 5\]"),
        ("resnet8", "did you mean 'resnet-8'.*timm:NAME"),
    ],
)
def test_what_cannot_be_built_is_refused(somebodys_code, asked, message):
    assert build("somebodys_code:linear", 5, 16)(torch.zeros(2, 3, 16, 16)).shape == (2, 5)
    with pytest.raises(OpenworldError, match=message):
        build(asked, 5, 20)


def test_ours_have_no_published_weights():
    with pytest.raises(OpenworldError, match="no published weights of 'resnet-8'"):
        build("resnet-8", 5, 32, pretrained=True)
