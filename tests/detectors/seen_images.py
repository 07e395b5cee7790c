"""The small classifier of `openworld.testing`, its images, and all that may be seen of them, some labels wrong."""

from dataclasses import replace
from functools import cache

import torch

from openworld.detectors import ODIN, Activations, AdaSCALE, DeepEnsemble, MCDropout
from openworld.testing import small_images, small_seen
from openworld.testing._classifier import COLOURS

MOVED = (ODIN().perturbation, AdaSCALE().perturbation)
SAMPLED = (MCDropout().sampling, DeepEnsemble().sampling)


def make_images(seed: int, count: int) -> torch.Tensor:
    """float32[count, 3, 8, 8]."""
    return small_images(seed, count)[0]


@cache
def whole(seed: int = 1, count: int = 90) -> Activations:
    """Everything that any detector may look at; labels are what the model predicts, every fifth one wrong."""
    seen = small_seen(seed, count, perturbations=MOVED, samplings=SAMPLED)
    labels = seen.predictions.clone()
    labels[::5] = (labels[::5] + 1) % COLOURS
    return replace(seen, labels=labels)
