"""Vision transformers (Dosovitskiy et al., 2021) under torchvision's names of weights, built from their shapes.

Sizes of images and patches, depth and widths stand in the shapes; the number of heads does not, and is that of the
published models of a width.
"""

import math
from collections import OrderedDict
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from openworld._errors import OpenworldError

Weights = Mapping[str, Tensor]

HEADS = {192: 3, 384: 6, 768: 12, 1024: 16, 1280: 16}
"""Width -> heads, of the published models."""

_LAYER, _NORM = "encoder.layers.encoder_layer_", {"eps": 1e-6}


def is_transformer(weights: Weights) -> bool:
    return {"class_token", "conv_proj.weight", "encoder.pos_embedding", "heads.head.weight"} <= set(weights)


def plain_names(weights: Weights) -> dict[str, Tensor]:
    """Return the weights under today's names of torchvision, where older files count linear_1 and linear_2."""
    names = {".mlp.linear_1.": ".mlp.0.", ".mlp.linear_2.": ".mlp.3."}
    found = {}
    for name, tensor in weights.items():
        for old, new in names.items():
            name = name.replace(old, new)
        found[name] = tensor
    return found


def name_of(weights: Weights) -> str:
    width, _, patch, _ = weights["conv_proj.weight"].shape
    size = {192: "Ti", 384: "S", 768: "B", 1024: "L", 1280: "H"}.get(width, f"{width}")
    return f"ViT-{size}/{patch}"


def side_of(weights: Weights) -> int:
    patches = weights["encoder.pos_embedding"].shape[1] - 1
    return math.isqrt(patches) * weights["conv_proj.weight"].shape[-1]


class VisionTransformer(nn.Module):
    """A network of the shapes of a state dict that `plain_names` gave, untrained."""

    def __init__(self, weights: Weights):
        super().__init__()
        width, channels, patch, _ = weights["conv_proj.weight"].shape
        if width not in HEADS:
            known = ", ".join(map(str, HEADS))
            raise OpenworldError(f"a transformer of width {width} has no known number of heads; known widths: {known}.")
        self.conv_proj = nn.Conv2d(channels, width, patch, patch)
        self.class_token = nn.Parameter(torch.zeros(1, 1, width))
        self.encoder = _VisionEncoder(weights, width)
        layers = OrderedDict()
        if "heads.pre_logits.weight" in weights:
            layers["pre_logits"], layers["act"] = _linear(weights["heads.pre_logits.weight"]), nn.Tanh()
        layers["head"] = _linear(weights["heads.head.weight"])
        self.heads = nn.Sequential(layers)

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
        self.ln = nn.LayerNorm(width, **_NORM)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.ln(self.layers(tokens + self.pos_embedding))


class _VisionLayer(nn.Module):
    def __init__(self, width: int, inner: int):
        super().__init__()
        self.ln_1 = nn.LayerNorm(width, **_NORM)
        self.self_attention = nn.MultiheadAttention(width, HEADS[width], batch_first=True)
        self.ln_2 = nn.LayerNorm(width, **_NORM)
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
