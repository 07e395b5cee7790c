"""Networks under torchvision's names of weights, built from the shapes of a state dict alone.

ResNet (He et al., 2016; a bottleneck's stride in its 3 x 3 convolution), ResNeXt (Xie et al., 2017) and Wide ResNet
(Zagoruyko and Komodakis, 2016): how many blocks, how wide and in how many groups stands in the shapes. A first
convolution of 3 x 3 is that of networks for 32 pixels (stride 1, no pooling), as OpenOOD trains them on CIFAR.

Vision transformers (Dosovitskiy et al., 2021): sizes of images and patches, depth and widths stand in the shapes; the
number of heads does not, and is that of the published models of a width.
"""

import math
from collections import OrderedDict
from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from openworld.core.errors import OpenworldError

Weights = Mapping[str, Tensor]

NAMES = {
    (False, (2, 2, 2, 2)): "ResNet-18",
    (False, (3, 4, 6, 3)): "ResNet-34",
    (True, (3, 4, 6, 3)): "ResNet-50",
    (True, (3, 4, 23, 3)): "ResNet-101",
    (True, (3, 8, 36, 3)): "ResNet-152",
}
HEADS = {192: 3, 384: 6, 768: 12, 1024: 16, 1280: 16}
"""Width -> heads, of the published transformers."""

SIZES = {192: "Ti", 384: "S", 768: "B", 1024: "L", 1280: "H"}
_OLDER = {".shortcut.": ".downsample.", ".mlp.linear_1.": ".mlp.0.", ".mlp.linear_2.": ".mlp.3."}
_LAYER, _EPSILON = "encoder.layers.encoder_layer_", 1e-6


def plain_names(weights: Weights) -> dict[str, Tensor]:
    """Return the weights under today's names of torchvision, where others write shortcut and older files linear_1."""
    plain = {}
    for name, tensor in weights.items():
        for old, new in _OLDER.items():
            name = name.replace(old, new)
        plain[name] = tensor
    return plain


def network_of(weights: Weights) -> "ResNet | VisionTransformer | None":
    """Return an untrained network of the shapes of a state dict; None where its names are those of neither."""
    if {"conv1.weight", "layer1.0.conv1.weight", "fc.weight"} <= set(weights):
        return ResNet(weights)
    if {"class_token", "conv_proj.weight", "encoder.pos_embedding", "heads.head.weight"} <= set(weights):
        return VisionTransformer(weights)
    return None


class ResNet(nn.Module):
    """A residual network of the shapes of a state dict that `plain_names` gave, untrained."""

    def __init__(self, weights: Weights):
        super().__init__()
        width, channels, kernel, _ = weights["conv1.weight"].shape
        self.small = kernel == 3
        self.conv1 = nn.Conv2d(channels, width, kernel, 1 if self.small else 2, kernel // 2, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.maxpool = nn.Identity() if self.small else nn.MaxPool2d(3, 2, 1)
        self.stages = tuple(sorted({name.split(".")[0] for name in weights if name.startswith("layer")}))
        for place, stage in enumerate(self.stages):
            strides = [2 if place else 1] + [1] * (_count(weights, stage) - 1)
            blocks = (_ShapedBlock(weights, f"{stage}.{block}.", stride) for block, stride in enumerate(strides))
            self.add_module(stage, nn.Sequential(*blocks))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        classes, features = weights["fc.weight"].shape
        self.fc = nn.Linear(features, classes)
        counts = tuple(_count(weights, name) for name in self.stages)
        architecture = NAMES.get(("layer1.0.conv3.weight" in weights, counts))
        self.title, self.side = architecture or f"ResNet of {'-'.join(map(str, counts))} blocks", 224

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


def _count(weights: Weights, stage: str) -> int:
    return len({name.split(".")[1] for name in weights if name.startswith(f"{stage}.")})


class VisionTransformer(nn.Module):
    """A transformer of the shapes of a state dict that `plain_names` gave, untrained."""

    def __init__(self, weights: Weights):
        super().__init__()
        width, channels, patch, _ = weights["conv_proj.weight"].shape
        if width not in HEADS:
            widths = ", ".join(map(str, HEADS))
            raise OpenworldError(
                f"a transformer of width {width} has no known number of heads; known widths: {widths}."
            )
        self.conv_proj = nn.Conv2d(channels, width, patch, patch)
        self.class_token = nn.Parameter(torch.zeros(1, 1, width))
        self.encoder = _VisionEncoder(weights, width)
        layers = OrderedDict()
        if "heads.pre_logits.weight" in weights:
            layers["pre_logits"], layers["act"] = _linear(weights["heads.pre_logits.weight"]), nn.Tanh()
        layers["head"] = _linear(weights["heads.head.weight"])
        self.heads = nn.Sequential(layers)
        patches, self.small = weights["encoder.pos_embedding"].shape[1] - 1, False
        self.title, self.side = f"ViT-{SIZES[width]}/{patch}", math.isqrt(patches) * patch

    def forward(self, pixels: Tensor) -> Tensor:
        patches = self.conv_proj(pixels).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.class_token.expand(len(patches), -1, -1), patches], dim=1)
        return self.heads(self.encoder(tokens)[:, 0])


class _VisionEncoder(nn.Module):
    def __init__(self, weights: Weights, width: int):
        super().__init__()
        self.pos_embedding = nn.Parameter(torch.zeros(weights["encoder.pos_embedding"].shape))
        depth = len({name.removeprefix(_LAYER).split(".")[0] for name in weights if name.startswith(_LAYER)})
        inner = weights[f"{_LAYER}0.mlp.0.weight"].shape[0]
        blocks = ((f"encoder_layer_{place}", _VisionLayer(width, inner)) for place in range(depth))
        self.layers = nn.Sequential(OrderedDict(blocks))
        self.ln = nn.LayerNorm(width, eps=_EPSILON)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.ln(self.layers(tokens + self.pos_embedding))


class _VisionLayer(nn.Module):
    def __init__(self, width: int, inner: int):
        super().__init__()
        self.ln_1 = nn.LayerNorm(width, eps=_EPSILON)
        self.self_attention = nn.MultiheadAttention(width, HEADS[width], batch_first=True)
        self.ln_2 = nn.LayerNorm(width, eps=_EPSILON)
        # Dropout keeps torchvision's places, so that the names of weights are its.
        self.mlp = nn.Sequential(
            nn.Linear(width, inner), nn.GELU(), nn.Dropout(0.0), nn.Linear(inner, width), nn.Dropout(0.0)
        )

    def forward(self, tokens: Tensor) -> Tensor:
        normed = self.ln_1(tokens)
        tokens = tokens + self.self_attention(normed, normed, normed, need_weights=False)[0]
        return tokens + self.mlp(self.ln_2(tokens))


def _linear(weight: Tensor) -> nn.Linear:
    return nn.Linear(weight.shape[1], weight.shape[0])
