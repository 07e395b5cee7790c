"""Numbers that other people's public code gave, and the inputs they were computed from."""

import json
from functools import cache
from pathlib import Path

import torch
from torch import nn

from openworld.detectors import Activations, Head

REFERENCE = Path(__file__).parents[1] / "reference"
IMAGENET_STD = (0.229, 0.224, 0.225)


@cache
def stored() -> dict:
    """All of it, as written."""
    return json.loads((REFERENCE / "ood_detectors.json").read_text(encoding="utf-8"))


@cache
def more() -> dict:
    """Scores of further detectors of pytorch-ood, of the same images."""
    return json.loads((REFERENCE / "pytorch_ood_more.json").read_text(encoding="utf-8"))


@cache
def metrics() -> dict:
    """What public metric code makes of some of these scores."""
    return json.loads((REFERENCE / "ood_metrics.json").read_text(encoding="utf-8"))["cases"]


def tensor(values) -> torch.Tensor:
    """Stored numbers, or {"shape", "data"}, as float32."""
    if isinstance(values, dict):
        return torch.tensor(values["data"], dtype=torch.float32).view(values["shape"])
    return torch.tensor(values, dtype=torch.float32)


def head() -> Head:
    """Of 20 classes over 32 features."""
    features = stored()["features"]
    return Head(tensor(features["W"]), tensor(features["b"]))


def training(step: int = 1) -> Activations:
    """200 training images; every `step`-th of them."""
    features = stored()["features"]
    labels = torch.tensor(features["train_labels"])[::step]
    return Activations(tensor(features["train"])[::step], head(), labels=labels)


def judged(side: str) -> Activations:
    """100 images, "id" or "ood"."""
    return Activations(tensor(stored()["features"]["id_test" if side == "id" else "ood"]), head())


def assert_close(ours, theirs, tolerance: float = 1e-5) -> None:
    """Within `tolerance` of the largest stored score."""
    theirs = torch.as_tensor(theirs, dtype=torch.float64)
    worst = float((ours.double() - theirs).abs().max() / theirs.abs().max())
    assert worst <= tolerance, f"differs by {worst:.2e} of the largest score, at most {tolerance:g} is meant"


class SmallNet(nn.Module):
    """The stored convolutional network: layer4 is a 1x1 convolution, then the mean over positions, then fc."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1)
        self.layer3 = nn.Sequential(nn.Conv2d(8, 16, 3, padding=1), nn.ReLU())
        self.layer4 = nn.Sequential(nn.Conv2d(16, 32, 1), nn.ReLU())
        self.fc = nn.Linear(32, 20)

    def forward(self, images):
        maps = nn.functional.avg_pool2d(self.conv1(images).relu(), 2)
        return self.fc(self.layer4(self.layer3(maps)).mean(dim=(2, 3)))


def small_net() -> SmallNet:
    """With the stored weights, in evaluation mode."""
    net = SmallNet()
    net.load_state_dict({name: tensor(value) for name, value in stored()["images"]["state_dict"].items()})
    return net.eval()
