"""Several logits of one image: of passes with dropout on, or of several classifiers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import torch
from torch import Tensor, nn
from torch.nn.modules.dropout import _DropoutNd

from openworld.core.types import Range, checked
from openworld.detectors.engine.layer_search import logits_of, run

Source = Literal["dropout", "members"]
Reading = Literal["confidence", "entropy"]
MOST = 100_000


@checked
@dataclass(frozen=True)
class Sampling:
    """Where several logits of an image come from.

    Args:
        source: "dropout": forward passes with dropout on; "members": the classifier and those that `watch` was given.
        repeats: of passes with dropout. seed: what drops out, begun anew with every batch.
    """

    source: Source = "dropout"
    repeats: Annotated[int, Range(1, MOST)] = 30
    seed: int = 0


@torch.no_grad()
def sampled_logits(module: nn.Module, members: Sequence[nn.Module], images: Tensor, how: Sampling) -> Tensor:
    """Logits float[N, R, C] of images: of the members, or of R passes with dropout on."""
    # Random numbers of the rest of the program are as they were before.
    if how.source == "members":
        return torch.stack([logits_of(run(member, images)) for member in members], dim=1)
    layers = dropout_layers(module)  # all else stays in evaluation mode
    try:
        for layer in layers:
            layer.training = True
        with torch.random.fork_rng(devices=[images.device] if images.is_cuda else []):
            torch.manual_seed(how.seed)
            return torch.stack([logits_of(run(module, images)) for _ in range(how.repeats)], dim=1)
    finally:
        for layer in layers:
            layer.training = False


def dropout_layers(module: nn.Module) -> list[nn.Module]:
    """Layers that would drop something."""
    return [part for part in module.modules() if isinstance(part, _DropoutNd) and part.p > 0]


def read_samples(logits: Tensor, reading: Reading) -> Tensor:
    """The largest mean softmax, or minus the entropy of the mean softmax, float[N], of logits float[N, R, C]."""
    mean = logits.softmax(dim=2).mean(dim=1)
    return mean.amax(dim=1) if reading == "confidence" else torch.special.xlogy(mean, mean).sum(dim=1)
