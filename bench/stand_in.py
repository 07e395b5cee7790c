"""A CLIP of published size with random weights, and class names as long as ImageNet's: only sizes matter to a bench."""

import math
from dataclasses import replace

import torch
from text_tower import NAMES_BY_TOKENS

from openworld.backbones import ImageConfig, TextConfig, TwoTower, TwoTowerConfig
from openworld.learners.engine.costs import WordTokenizer

MODELS = {
    "ViT-B/16": TwoTowerConfig(),
    "ViT-L/14": TwoTowerConfig(
        text=TextConfig(width=768, heads=12, mlp_width=3072),
        image=ImageConfig(patch_size=14, width=1024, layers=24, heads=16, mlp_width=4096),
        joint_dimension=768,
    ),
    "tiny": TwoTowerConfig(
        text=TextConfig(width=64, heads=2, mlp_width=128),
        image=ImageConfig(image_size=32, patch_size=8, width=96, heads=3, mlp_width=192),
        joint_dimension=64,
    ),
}


def build(model: str, layers: int | None, device: str, dtype: torch.dtype) -> TwoTower:
    """The frozen model on its device; `layers` cuts both towers to so many blocks."""
    torch.manual_seed(0)
    config = MODELS[model]
    if layers:
        text, image = replace(config.text, layers=layers), replace(config.image, layers=layers)
        config = replace(config, text=text, image=image)
    clip = TwoTower(config, tokenizer=WordTokenizer(), name=model).requires_grad_(False).eval()
    clip.log_scale.fill_(math.log(100))
    return clip.to(device, dtype)


def class_names(count: int) -> tuple[str, ...]:
    """Distinct names with the token counts of every tenth ImageNet name, in mixed order, over and over.

    A word is one token; `text_tower` counts the full stop too.
    """
    lengths = [tokens - 1 for tokens, names in NAMES_BY_TOKENS.items() for _ in names.split(",")]
    order = torch.randperm(len(lengths), generator=torch.Generator().manual_seed(0)).tolist()
    return tuple(
        " ".join(_word(8 * index + place) for place in range(lengths[order[index % len(order)]]))
        for index in range(count)
    )


def _word(number: int) -> str:
    """A word of its own for every number, in letters alone."""
    return "".join(chr(ord("a") + int(digit)) for digit in f"{number:05}")
