"""Residual networks for small pictures (He et al., "Deep Residual Learning for Image Recognition", 2016).

Basic blocks of two 3 x 3 convolutions; every stage but the first halves the picture and doubles the channels; where a
block changes the shape, its shortcut is a 1 x 1 convolution (the paper's option B).
"""

from torch import Tensor, nn
from torch.nn.functional import relu


def resnet(classes: int, blocks: tuple[int, ...], width: int, stride: int) -> nn.Sequential:
    """Return the untrained network, for images of any side; `blocks` of each stage.

    A first convolution of stride 2 halves the image before any block sees it: a quarter of the work.

    >>> sum(weights.numel() for weights in resnet(10, (2, 2, 2, 2), 64, 1).parameters())
    11173962
    """
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
