"""Models of timm (Wightman, "PyTorch Image Models", 2019), where that package is installed (extra `timm`).

timm needs torchvision and is imported when a model of it is asked for, not before.
"""

import math
from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from openworld.backbones.foreign.encoder import import_library
from openworld.backbones.preprocess import RESAMPLING, Preprocess
from openworld.core.errors import OpenworldError

PREFIX = "timm:"

# What timm itself takes for a model that does not say (timm/data/constants.py of huggingface/pytorch-image-models).
MEAN, STD, _KEPT = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225), 0.875


def create(architecture: str, *, pretrained: bool = False, **size: int) -> Any:
    """Return the model "timm:NAME", with `num_classes` in `size` or its own; `pretrained` ones come from the hub."""
    name = architecture.removeprefix(PREFIX)
    try:
        return import_library("timm", architecture).create_model(name, pretrained=pretrained, **size)
    except (RuntimeError, ValueError, OSError) as error:  # an unknown model; no network; no such weights
        raise OpenworldError(
            f"timm cannot make {name!r}{' with its weights' if pretrained else ''} ({str(error).splitlines()[0]}); "
            "timm.list_models() lists its names."
        ) from error


def stated_by(network: nn.Module) -> dict:
    """Return the configuration that a model of timm's carries; empty for any other."""
    return getattr(network, "pretrained_cfg", None) or getattr(network, "default_cfg", None) or {}


def for_weights(architecture: str, weights: Mapping[str, Tensor]) -> nn.Module:
    """The untrained model "timm:NAME" with a head as wide as that of a state dict."""
    network = create(architecture)
    heads = stated_by(network).get("classifier", "fc")
    head = heads if isinstance(heads, str) else heads[0]
    if f"{head}.weight" not in weights:
        raise OpenworldError(f"these weights have no {head}.weight, the head of {architecture}; name their own model.")
    classes = weights[f"{head}.weight"].shape[0]
    return network if network.num_classes == classes else create(architecture, num_classes=classes)


def preprocess_of(network: nn.Module, side: int | None) -> Preprocess:
    """Return how images are prepared for a model of timm's, from the configuration that it carries."""
    stated = stated_by(network)
    side = side or stated.get("input_size", (3, 224, 224))[-1]
    mode = "squash" if stated.get("crop_mode") == "squash" else "shortest"
    resample = RESAMPLING.get(stated.get("interpolation", "bicubic"), RESAMPLING["bicubic"])
    mean, std = tuple(stated.get("mean", MEAN)), tuple(stated.get("std", STD))
    return Preprocess(math.floor(side / stated.get("crop_pct", _KEPT)), side, mode, mean, std, resample)
