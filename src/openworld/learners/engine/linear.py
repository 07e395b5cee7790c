"""Linear layers among a learner's parameters: "name_weight" float[outputs, inputs] and "name_bias" float[outputs]."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn.functional import linear

from openworld.backbones import TwoTower
from openworld.learners.engine.images import Tensors


def start_linear(clip: TwoTower, name: str, inputs: int, outputs: int, generator: torch.Generator) -> Tensors:
    """Return a layer whose numbers are Uniform(-1 / sqrt(inputs), 1 / sqrt(inputs)), as torch's own layers start."""
    # Drawn on the CPU, so that a seed gives the same layer on every device.
    bound = 1 / math.sqrt(inputs)

    def draw(*shape: int) -> Tensor:
        return ((2 * torch.rand(shape, generator=generator) - 1) * bound).to(clip.device)

    return {f"{name}_weight": draw(outputs, inputs), f"{name}_bias": draw(outputs)}


def apply_linear(parameters: Mapping[str, Tensor], name: str, rows: Tensor) -> Tensor:
    """Return float[..., outputs] of rows float[..., inputs]."""
    return linear(rows, parameters[f"{name}_weight"], parameters[f"{name}_bias"])
