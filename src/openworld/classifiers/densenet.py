"""Densely connected networks for small pictures (Huang et al., "Densely Connected Convolutional Networks", 2017).

The paper's DenseNet-BC: every layer sees the outputs of all before it, through a 1 x 1 convolution to four times the
growth; between blocks the channels and the picture are halved.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import relu


def densenet(classes: int, layers: tuple[int, ...], growth: int, stride: int) -> nn.Sequential:
    """Return the untrained network, for images of any side; `growth` channels are added by a layer.

    A first convolution of stride 2 halves the image before any block sees it: a quarter of the work.

    >>> sum(weights.numel() for weights in densenet(10, (6, 12, 24, 16), 32, 1).parameters())
    6956298
    """
    channels = 2 * growth
    network = [nn.Conv2d(3, channels, 3, stride, 1, bias=False)]
    for place, count in enumerate(layers):
        if place:
            network += _halved(channels)
            channels //= 2
        network += [_Layer(channels + growth * number, growth) for number in range(count)]
        channels += growth * count
    head = (nn.BatchNorm2d(channels), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    return nn.Sequential(*network, *head, nn.Linear(channels, classes))


def _halved(channels: int) -> list[nn.Module]:
    norm = nn.BatchNorm2d(channels)
    return [norm, nn.ReLU(inplace=True), nn.Conv2d(channels, channels // 2, 1, bias=False), nn.AvgPool2d(2)]


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
