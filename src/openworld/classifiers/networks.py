"""Networks for small images: a light ConvNet, residual networks and densely connected ones."""

import torch
from torch import Tensor, nn
from torch.nn.functional import relu


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
    network = [nn.Conv2d(3, channels, 3, stride, 1, bias=False)]
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
