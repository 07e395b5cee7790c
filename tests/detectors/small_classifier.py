"""A random convolutional classifier of three classes and all that may be seen of images by it, made in a moment."""

from dataclasses import replace
from functools import cache

import torch
from torch import nn

from openworld.detectors import ODIN, AdaSCALE, Seen, Texts, Watched, watch

CLASSES, WIDTH, SIZE = 3, 24, 8
MOVED = (ODIN().perturbation, AdaSCALE().perturbation)


class Net(nn.Module):
    """Two convolutions with a ReLU after each, the mean over positions, a linear layer."""

    def __init__(self, bias: bool = True):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 10, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2))
        self.last = nn.Sequential(nn.Conv2d(10, WIDTH, 3, padding=1), nn.ReLU())
        self.drop = nn.Dropout(0.5)
        self.head = nn.Linear(WIDTH, CLASSES, bias=bias)

    def forward(self, images):
        return self.head(self.drop(self.last(self.stem(images)).mean(dim=(2, 3))))


@cache
def model(bias: bool = True) -> Watched:
    """Always the same; its logits are centred, so that every class is predicted for some images."""
    torch.manual_seed(3)
    net = Net(bias).eval()
    with torch.no_grad():
        net.head.weight *= 20
        if bias:
            net.head.bias -= net(pictures(100, 64)).mean(dim=0)
    return watch(net, pictures(0, 2), pixel_std=(0.2, 0.3, 0.4))


def pictures(seed: int, count: int) -> torch.Tensor:
    """float32[count, 3, 8, 8] of random blobs."""
    generator = torch.Generator().manual_seed(seed)
    coarse = torch.randn(count, 3, 2, 2, generator=generator)
    fine = torch.randn(count, 3, SIZE, SIZE, generator=generator)
    return nn.functional.interpolate(coarse, SIZE, mode="bilinear") + 0.3 * fine


@cache
def whole(seed: int = 1, count: int = 90) -> Seen:
    """Everything that any detector may look at; labels are what the model predicts, every fifth one wrong."""
    seen = model().see(pictures(seed, count), maps=True, perturbations=MOVED)
    labels = seen.predictions.clone()
    labels[::5] = (labels[::5] + 1) % CLASSES
    generator = torch.Generator().manual_seed(seed)
    own, negative = torch.randn(CLASSES, WIDTH, generator=torch.Generator().manual_seed(7)), torch.eye(WIDTH)[:20]
    patches = torch.randn(count, 4, WIDTH, generator=generator)
    return replace(seen, labels=labels, texts=Texts(own, negative), patches=patches)
