"""Networks by name: ours for small pictures, timm's, and whatever a function of yours returns."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from openworld._arrays import MANY, MOST, require_at_least, require_at_most
from openworld._errors import OpenworldError, unknown_name
from openworld._functions import FORM, find_function
from openworld._types import checked
from openworld.classifiers import _timm
from openworld.classifiers.networks import convnet, densenet, resnet


@checked
@dataclass(frozen=True)
class Architecture:
    """One of our networks, for people and programs.

    Args:
        summary: one line.
        paper: whose idea it is.
        make: (classes, side in pixels) to an untrained network.
    """

    summary: str
    paper: str
    make: Callable[[int, int], nn.Module]


def _of_any_side(make: Callable[..., nn.Module], **shape) -> Callable[[int, int], nn.Module]:
    return lambda classes, side: make(classes, **shape)


_HE, _HUANG = "He et al., 2016", "Huang et al., 2017"

ARCHITECTURES: dict[str, Architecture] = {
    "convnet": Architecture("two convolutions and a hidden layer", "LeCun et al., 1998", convnet),
    "resnet-8": Architecture(
        "3 residual blocks, narrow", _HE, _of_any_side(resnet, blocks=(1, 1, 1), width=16, stride=2)
    ),
    "resnet-14": Architecture(
        "6 residual blocks, narrow", _HE, _of_any_side(resnet, blocks=(2, 2, 2), width=16, stride=2)
    ),
    "resnet-18": Architecture(
        "ResNet-18 for 32 pixels", _HE, _of_any_side(resnet, blocks=(2, 2, 2, 2), width=64, stride=1)
    ),
    "densenet-18": Architecture(
        "7 dense layers, narrow", _HUANG, _of_any_side(densenet, layers=(1, 2, 4), growth=12, stride=2)
    ),
    "densenet-121": Architecture(
        "DenseNet-121 for 32 pixels", _HUANG, _of_any_side(densenet, layers=(6, 12, 24, 16), growth=32, stride=1)
    ),
}
"""Name -> network for pictures of 28 to 64 pixels. The narrow ones halve the picture first: they are made for a CPU."""


@checked
def build(architecture: str, classes: int, side: int, *, pretrained: bool = False) -> nn.Module:
    """A network that turns normalised pixels float32[B, 3, side, side] into logits float32[B, classes].

    Args:
        architecture: a key of `ARCHITECTURES`; "timm:NAME", a model of timm's (extra `timm`); or
            "package.module:function", called with the number of classes and expected to return a `torch.nn.Module`; the
            current folder is searched first, so that "train:net" is `net` of ./train.py.
        classes: C, at least 2.
        side: of the pictures, in pixels.
        pretrained: begin from the weights that timm publishes under this name, with a new last layer; nothing else
            has such weights.

    Raises:
        OpenworldError: an unknown name, a function that cannot be had or returns something else, weights asked for
            where there are none.

    >>> build("resnet-8", classes=7, side=32)(torch.zeros(1, 3, 32, 32)).shape
    torch.Size([1, 7])
    """
    require_at_least(2, classes=classes)
    require_at_most(MANY, classes=classes)
    require_at_most(MOST["side"], side=side)
    require_at_least(1, side=side)
    if architecture.startswith(_timm.PREFIX):
        return _timm.build(architecture, classes, pretrained=pretrained)
    if pretrained:
        raise OpenworldError(
            f"there are no published weights of {architecture!r}; name a model of timm's ({_timm.PREFIX}NAME), or let "
            "a function of your own load its weights."
        )
    if ":" in architecture:
        return _of_a_function(architecture, classes, side)
    if architecture not in ARCHITECTURES:
        forms = (*ARCHITECTURES, f"{_timm.PREFIX}NAME", FORM)
        raise unknown_name("architecture", architecture, forms)
    return ARCHITECTURES[architecture].make(classes, side)


def _of_a_function(architecture: str, classes: int, side: int) -> nn.Module:
    function = find_function(architecture)
    try:
        network = function(classes)
    except (Exception, SystemExit) as error:  # somebody's code may fail in any way; the failure is named
        raise OpenworldError(
            f"{architecture!r} gives no network for {classes} classes ({type(error).__name__}: {error}); expected a "
            "function that is called with the number of classes."
        ) from error
    if not isinstance(network, nn.Module):
        raise OpenworldError(f"{architecture!r} returns a {type(network).__name__}, expected a torch.nn.Module.")
    require_logits(network, classes, side, architecture)
    return network


@torch.no_grad()
def require_logits(network: nn.Module, classes: int, side: int, name: str) -> None:
    """Refuse a network that does not turn a blank picture into one logit per class; `name` is for the message."""
    was_training = network.training
    try:
        shape = tuple(network.eval()(torch.zeros(1, 3, side, side)).shape)
    except (RuntimeError, ValueError, TypeError, AttributeError) as error:
        raise OpenworldError(
            f"{name!r} cannot look at an image of {side} x {side} pixels ({error}); choose the side it was made for."
        ) from error
    finally:
        network.train(was_training)
    if shape != (1, classes):
        raise OpenworldError(f"{name!r} gives {list(shape)} for one image, expected logits of shape [1, {classes}].")
