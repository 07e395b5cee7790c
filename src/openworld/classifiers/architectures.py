"""Networks by name: ours for small images (a ConvNet, residual, densely connected), timm's, and a function of yours."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from openworld.classifiers import _timm
from openworld.core.arrays import MANY, MOST
from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.functions import FORM, find_function
from openworld.core.types import Range, checked


def convnet(classes: int, side: int) -> nn.Sequential:
    """Return the layers of PyTorch's MNIST example, untrained, for images of `side` pixels, at least 4."""
    # ATC trains it on MNIST (models/convnet.py of saurabhgarg1996/ATC_code @ 382e95b). Here the convolutions keep the
    # size of the image and each is followed by pooling, a third of the arithmetic; there neither pads, and the second
    # is pooled.
    return nn.Sequential(
        *_halved(3, 32),
        *_halved(32, 64),
        nn.Dropout(0.25),
        nn.Flatten(),
        nn.Linear(64 * (side // 4) ** 2, 128),
        nn.ReLU(inplace=True),
        nn.Dropout(0.5),
        nn.Linear(128, classes),
    )


def _halved(channels: int, wider: int) -> tuple[nn.Module, ...]:
    # Pooling before the ReLU gives the same numbers for a quarter of its work: both keep the order of values.
    return nn.Conv2d(channels, wider, 3, padding=1), nn.MaxPool2d(2), nn.ReLU(inplace=True)


def resnet(classes: int, blocks: tuple[int, ...], width: int, stride: int) -> nn.Sequential:
    """Return an untrained residual network (He et al., 2016) for images of any side; `blocks` in each stage."""
    # Basic blocks of two 3 x 3 convolutions; every stage but the first halves the image and doubles the channels. Where
    # a block changes the shape, its shortcut is a 1 x 1 convolution (the paper's option B). A first convolution of
    # stride 2 halves the image before any block sees it: a quarter of the work.
    layers = [nn.Conv2d(3, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True)]
    channels = width
    for stage, count in enumerate(blocks):
        for place in range(count):
            wider = width * 2**stage
            layers.append(_Block(channels, wider, stride=2 if stage and not place else 1))
            channels = wider
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes))


class _Block(nn.Module):
    def __init__(self, channels: int, wider: int, stride: int):
        super().__init__()
        self.first = nn.Conv2d(channels, wider, 3, stride, 1, bias=False)
        self.first_norm = nn.BatchNorm2d(wider)
        self.second = nn.Conv2d(wider, wider, 3, 1, 1, bias=False)
        self.second_norm = nn.BatchNorm2d(wider)
        self.shortcut = nn.Identity()
        if channels != wider:
            self.shortcut = nn.Sequential(nn.Conv2d(channels, wider, 1, stride, bias=False), nn.BatchNorm2d(wider))

    def forward(self, pixels: Tensor) -> Tensor:
        inner = relu(self.first_norm(self.first(pixels)), inplace=True)
        return relu(self.second_norm(self.second(inner)) + self.shortcut(pixels), inplace=True)


def densenet(classes: int, layers: tuple[int, ...], growth: int, stride: int) -> nn.Sequential:
    """Return an untrained DenseNet-BC (Huang et al., 2017) for images of any side; a layer adds `growth` channels."""
    # Every layer sees the outputs of all before it, through a 1 x 1 convolution to four times the growth; between
    # blocks the channels and the image are halved. A first convolution of stride 2 halves the image before any block
    # sees it: a quarter of the work.
    channels = 2 * growth
    network: list[nn.Module] = [nn.Conv2d(3, channels, 3, stride, 1, bias=False)]
    for place, count in enumerate(layers):
        if place:
            network += [nn.BatchNorm2d(channels), nn.ReLU(inplace=True)]
            network += [nn.Conv2d(channels, channels // 2, 1, bias=False), nn.AvgPool2d(2)]
            channels //= 2
        network += [_Layer(channels + growth * number, growth) for number in range(count)]
        channels += growth * count
    head = (nn.BatchNorm2d(channels), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    return nn.Sequential(*network, *head, nn.Linear(channels, classes))


class _Layer(nn.Module):
    def __init__(self, channels: int, growth: int):
        super().__init__()
        self.narrow_norm = nn.BatchNorm2d(channels)
        self.narrow = nn.Conv2d(channels, 4 * growth, 1, bias=False)
        self.norm = nn.BatchNorm2d(4 * growth)
        self.grow = nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False)

    def forward(self, seen: Tensor) -> Tensor:
        narrow = self.narrow(relu(self.narrow_norm(seen), inplace=True))
        return torch.cat([seen, self.grow(relu(self.norm(narrow), inplace=True))], dim=1)


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
"""Name -> network for images of 28 to 64 pixels. The narrow ones halve the image first: they are made for a CPU."""


@checked
def build(
    architecture: str,
    classes: Annotated[int, Range(2, MANY)],
    side: Annotated[int, Range(1, MOST["side"])],
    *,
    pretrained: bool = False,
) -> nn.Module:
    """A network that turns normalised pixels float32[B, 3, side, side] into logits float32[B, classes].

    Args:
        architecture: a key of `ARCHITECTURES`; "timm:NAME", a model of timm's (extra `timm`); or
            "package.module:function", called with the number of classes and expected to return a `torch.nn.Module`; the
            current folder is searched first, so that "train:net" is `net` of ./train.py.
        classes: C, at least 2.
        side: of the images, in pixels.
        pretrained: begin from the weights that timm publishes under this name, with a new last layer; nothing else
            has such weights.

    Raises:
        OpenworldError: an unknown name, a function that cannot be had or returns something else, weights asked for
            where there are none.

    >>> build("resnet-8", classes=7, side=32)(torch.zeros(1, 3, 32, 32)).shape
    torch.Size([1, 7])
    """
    if architecture.startswith(_timm.PREFIX):
        return _timm.create(architecture, pretrained=pretrained, num_classes=classes)
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
    """Refuse a network that does not turn a blank image into one logit per class; `name` is for the message."""
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
