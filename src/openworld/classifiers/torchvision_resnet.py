"""Residual networks under torchvision's names of weights, built from the shapes of a state dict alone.

ResNet (He et al., 2016; a bottleneck's stride in its 3 x 3 convolution), ResNeXt (Xie et al., 2017) and Wide ResNet
(Zagoruyko and Komodakis, 2016): how many blocks, how wide and in how many groups stands in the shapes. A first
convolution of 3 x 3 is that of networks for 32 pixels (stride 1, no pooling), as OpenOOD trains them on CIFAR.
"""

from collections.abc import Mapping

from torch import Tensor, nn
from torch.nn.functional import relu

Weights = Mapping[str, Tensor]

NAMES = {
    (False, (2, 2, 2, 2)): "ResNet-18",
    (False, (3, 4, 6, 3)): "ResNet-34",
    (True, (3, 4, 6, 3)): "ResNet-50",
    (True, (3, 4, 23, 3)): "ResNet-101",
    (True, (3, 8, 36, 3)): "ResNet-152",
}


def is_resnet(weights: Weights) -> bool:
    return {"conv1.weight", "layer1.0.conv1.weight", "fc.weight"} <= set(weights)


def plain_names(weights: Weights) -> dict[str, Tensor]:
    """Return the weights under torchvision's names, where others write shortcut for downsample."""
    return {name.replace(".shortcut.", ".downsample."): tensor for name, tensor in weights.items()}


class ResNet(nn.Module):
    """A network of the shapes of a state dict that `plain_names` gave, untrained."""

    def __init__(self, weights: Weights):
        super().__init__()
        width, channels, kernel, _ = weights["conv1.weight"].shape
        self.small = kernel == 3
        self.conv1 = nn.Conv2d(channels, width, kernel, 1 if self.small else 2, kernel // 2, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.maxpool = nn.Identity() if self.small else nn.MaxPool2d(3, 2, 1)
        self.stages = tuple(_stages(weights))
        for place, stage in enumerate(self.stages):
            strides = [2 if place else 1] + [1] * (_count(weights, stage) - 1)
            blocks = (_ShapedBlock(weights, f"{stage}.{block}.", stride) for block, stride in enumerate(strides))
            self.add_module(stage, nn.Sequential(*blocks))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        classes, features = weights["fc.weight"].shape
        self.fc = nn.Linear(features, classes)

    def forward(self, pixels: Tensor) -> Tensor:
        maps = self.maxpool(relu(self.bn1(self.conv1(pixels))))
        for name in self.stages:
            maps = self.get_submodule(name)(maps)
        return self.fc(self.avgpool(maps).flatten(1))


class _ShapedBlock(nn.Module):
    """Two 3 x 3 convolutions, or 1 x 1, 3 x 3 and 1 x 1 where the state dict has a third."""

    def __init__(self, weights: Weights, prefix: str, stride: int):
        super().__init__()
        self.deep = f"{prefix}conv3.weight" in weights
        inner, entering, kernel, _ = weights[f"{prefix}conv1.weight"].shape
        self.conv1 = nn.Conv2d(entering, inner, kernel, 1 if self.deep else stride, kernel // 2, bias=False)
        self.bn1 = nn.BatchNorm2d(inner)
        middle, per_group, *_ = weights[f"{prefix}conv2.weight"].shape
        groups = max(1, inner // per_group)  # weights of a grouped convolution hold the channels of one group
        self.conv2 = nn.Conv2d(inner, middle, 3, stride if self.deep else 1, 1, groups=groups, bias=False)
        self.bn2 = nn.BatchNorm2d(middle)
        leaving = middle
        if self.deep:
            leaving = weights[f"{prefix}conv3.weight"].shape[0]
            self.conv3 = nn.Conv2d(middle, leaving, 1, bias=False)
            self.bn3 = nn.BatchNorm2d(leaving)
        self.downsample = nn.Sequential()
        if f"{prefix}downsample.0.weight" in weights:
            self.downsample = nn.Sequential(
                nn.Conv2d(entering, leaving, 1, stride, bias=False), nn.BatchNorm2d(leaving)
            )

    def forward(self, pixels: Tensor) -> Tensor:
        inner = self.bn2(self.conv2(relu(self.bn1(self.conv1(pixels)))))
        if self.deep:
            inner = self.bn3(self.conv3(relu(inner)))
        return relu(inner + self.downsample(pixels))


def name_of(weights: Weights) -> str:
    counts = tuple(_count(weights, name) for name in _stages(weights))
    return NAMES.get(("layer1.0.conv3.weight" in weights, counts), f"ResNet of {'-'.join(map(str, counts))} blocks")


def _stages(weights: Weights) -> list[str]:
    return sorted({name.split(".")[0] for name in weights if name.startswith("layer")})


def _count(weights: Weights, stage: str) -> int:
    return len({name.split(".")[1] for name in weights if name.startswith(f"{stage}.")})
