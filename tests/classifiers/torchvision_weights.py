"""Small state dicts under torchvision's names, and what a ResNet and a transformer compute of them, in plain calls.

torchvision itself is not here. The functions are written from the papers and torchvision's names alone, with torch's
functional calls and no module, so that they share no line with the networks that are tested.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

Weights = dict[str, Tensor]


def _norm(weights: Weights, name: str, width: int) -> None:
    weights[f"{name}.weight"], weights[f"{name}.bias"] = torch.rand(width) + 0.5, torch.randn(width) / 10
    weights[f"{name}.running_mean"], weights[f"{name}.running_var"] = torch.randn(width) / 10, torch.rand(width) + 0.5
    weights[f"{name}.num_batches_tracked"] = torch.tensor(3)


def _convolution(weights: Weights, name: str, leaving: int, entering: int, side: int) -> None:
    weights[f"{name}.weight"] = torch.randn(leaving, entering, side, side) * (entering * side * side) ** -0.5


def resnet(
    counts: tuple[int, ...], classes: int, *, deep: bool = False, groups: int = 1, width: int = 8, stem: int = 7
) -> Weights:
    """Random weights; `deep` for blocks of three convolutions."""
    weights: Weights = {}
    _convolution(weights, "conv1", width, 3, stem)
    _norm(weights, "bn1", width)
    entering = width
    for place, count in enumerate(counts):
        inner = width * 2**place
        leaving = 4 * inner if deep else inner
        for block in range(count):
            name = f"layer{place + 1}.{block}"
            shapes = [(inner, entering, 1), (inner, inner // groups, 3), (leaving, inner, 1)]
            for number, shape in enumerate(shapes if deep else [(inner, entering, 3), (inner, inner, 3)], 1):
                _convolution(weights, f"{name}.conv{number}", *shape)
                _norm(weights, f"{name}.bn{number}", shape[0])
            if block == 0 and (place or entering != leaving):
                _convolution(weights, f"{name}.downsample.0", leaving, entering, 1)
                _norm(weights, f"{name}.downsample.1", leaving)
            entering = leaving
    weights["fc.weight"], weights["fc.bias"] = torch.randn(classes, entering), torch.randn(classes)
    return weights


def resnet_logits(weights: Weights, pixels: Tensor) -> Tensor:
    """What the network says, float[N, C]."""

    def norm(maps: Tensor, name: str) -> Tensor:
        own = [weights[f"{name}.{part}"] for part in ("running_mean", "running_var", "weight", "bias")]
        return F.batch_norm(maps, *own)

    def block(maps: Tensor, name: str, stride: int) -> Tensor:
        deep = f"{name}.conv3.weight" in weights
        kernel = weights[f"{name}.conv2.weight"]
        first = weights[f"{name}.conv1.weight"]
        inner = F.conv2d(maps, first, stride=1 if deep else stride, padding=0 if deep else 1)
        inner = F.relu(norm(inner, f"{name}.bn1"))
        groups = inner.shape[1] // kernel.shape[1]
        inner = F.conv2d(inner, kernel, stride=stride if deep else 1, padding=1, groups=groups)
        inner = norm(inner, f"{name}.bn2")
        if deep:
            inner = norm(F.conv2d(F.relu(inner), weights[f"{name}.conv3.weight"]), f"{name}.bn3")
        short = f"{name}.downsample"
        if f"{short}.0.weight" in weights:
            maps = norm(F.conv2d(maps, weights[f"{short}.0.weight"], stride=stride), f"{short}.1")
        return F.relu(maps + inner)

    large = weights["conv1.weight"].shape[-1] == 7
    maps = F.conv2d(pixels, weights["conv1.weight"], stride=2 if large else 1, padding=3 if large else 1)
    maps = F.relu(norm(maps, "bn1"))
    maps = F.max_pool2d(maps, 3, 2, 1) if large else maps
    for name in dict.fromkeys(".".join(key.split(".")[:2]) for key in weights if key.startswith("layer")):
        maps = block(maps, name, 2 if name.endswith(".0") and not name.startswith("layer1") else 1)
    return maps.mean((2, 3)) @ weights["fc.weight"].T + weights["fc.bias"]


def transformer(classes: int, *, side: int = 32, patch: int = 16, depth: int = 2, width: int = 192) -> Weights:
    """Random weights of a vision transformer."""
    weights = {
        "class_token": torch.randn(1, 1, width),
        "conv_proj.weight": torch.randn(width, 3, patch, patch) / patch,
        "conv_proj.bias": torch.randn(width),
        "encoder.pos_embedding": torch.randn(1, (side // patch) ** 2 + 1, width),
        "encoder.ln.weight": torch.rand(width) + 0.5,
        "encoder.ln.bias": torch.randn(width),
        "heads.head.weight": torch.randn(classes, width) / 10,
        "heads.head.bias": torch.randn(classes),
    }
    for place in range(depth):
        name = f"encoder.layers.encoder_layer_{place}"
        for norm in ("ln_1", "ln_2"):
            weights[f"{name}.{norm}.weight"] = torch.rand(width) + 0.5
            weights[f"{name}.{norm}.bias"] = torch.randn(width)
        for own, rows, columns in (("mlp.0", 4 * width, width), ("mlp.3", width, 4 * width)):
            weights[f"{name}.{own}.weight"] = torch.randn(rows, columns) / columns**0.5
            weights[f"{name}.{own}.bias"] = torch.randn(rows)
        weights[f"{name}.self_attention.in_proj_weight"] = torch.randn(3 * width, width) / width**0.5
        weights[f"{name}.self_attention.in_proj_bias"] = torch.randn(3 * width)
        weights[f"{name}.self_attention.out_proj.weight"] = torch.randn(width, width) / width**0.5
        weights[f"{name}.self_attention.out_proj.bias"] = torch.randn(width)
    return weights


def transformer_logits(weights: Weights, pixels: Tensor, heads: int) -> Tensor:
    """What the network says, float[N, C]."""

    def norm(tokens: Tensor, name: str) -> Tensor:
        return F.layer_norm(tokens, tokens.shape[-1:], weights[f"{name}.weight"], weights[f"{name}.bias"], 1e-6)

    def linear(tokens: Tensor, name: str) -> Tensor:
        return tokens @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    patch = weights["conv_proj.weight"].shape[-1]
    patches = F.unfold(pixels, patch, stride=patch).transpose(1, 2) @ weights["conv_proj.weight"].flatten(1).T
    tokens = torch.cat([weights["class_token"].repeat(len(pixels), 1, 1), patches + weights["conv_proj.bias"]], 1)
    tokens = tokens + weights["encoder.pos_embedding"]
    for name in dict.fromkeys(key.split(".ln_1")[0] for key in weights if ".ln_1.weight" in key):
        mixed = norm(tokens, f"{name}.ln_1") @ weights[f"{name}.self_attention.in_proj_weight"].T
        mixed = mixed + weights[f"{name}.self_attention.in_proj_bias"]
        query, key, value = (part.unflatten(2, (heads, -1)).transpose(1, 2) for part in mixed.chunk(3, 2))
        shares = (query @ key.transpose(2, 3) / query.shape[-1] ** 0.5).softmax(-1)
        tokens = tokens + linear((shares @ value).transpose(1, 2).flatten(2), f"{name}.self_attention.out_proj")
        tokens = tokens + linear(F.gelu(linear(norm(tokens, f"{name}.ln_2"), f"{name}.mlp.0")), f"{name}.mlp.3")
    return linear(norm(tokens, "encoder.ln")[:, 0], "heads.head")
