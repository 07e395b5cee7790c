"""What teaches a decomposition: names in sentences, or training pictures in looks, which the model's features must see.

Pictures are encoded by `AppearanceEncoder` then, in the place of the backbone: those that teach and those that are
measured.
"""

from functools import lru_cache

import numpy as np
import torch

from openworld.evaluations.entries import DecompositionSpec
from openworld.evaluations.image_selection import ImageSelection
from openworld.evaluations.runtime import Machine, backbone, encoded
from openworld.features import Features, encode
from openworld.shift import AppearanceEncoder, in_looks, picture_grid, write_texts

THINGS = 300
_TOGETHER = 4096  # sentences in memory at a time


@torch.no_grad()
def text_grid(name: str, names: tuple[str, ...], templates: tuple[str, ...], machine: Machine) -> torch.Tensor:
    """Class names in sentences, float32[S, C, D] on the CPU."""
    clip = backbone(name, machine.device)
    texts = write_texts(names, templates)
    parts = [clip.encode_text(texts[at : at + _TOGETHER]).float().cpu() for at in range(0, len(texts), _TOGETHER)]
    return torch.cat(parts).reshape(len(names), len(templates), -1)


def look_grid(
    how: DecompositionSpec, pictures: ImageSelection, looks: tuple[str, ...], machine: Machine
) -> torch.Tensor:
    """Training pictures in looks, float32[S, looks, D] on the CPU; of many pictures a draw of `THINGS`."""
    images = pictures.load()
    sets = in_looks(images.subset(drawn(images.labels, THINGS, how.seed)), looks, seed=how.seed)
    return picture_grid(encoder(how.backbone, "pictures", machine.device), sets, cache=machine.folder)


def drawn(labels: np.ndarray, count: int, seed: int) -> np.ndarray:
    """int64, ascending: up to `count` places of labels int64[N], classes taking turns, drawn within each.

    >>> drawn(np.array([0, 0, 0, 1]), 2, seed=0)[1]
    np.int64(3)
    """
    order = np.random.default_rng(seed).permutation(len(labels))
    turn, seen = np.empty(len(labels), np.int64), {}
    for place in order.tolist():
        turn[place] = seen[labels[place]] = seen.get(labels[place], -1) + 1
    return np.sort(order[np.argsort(turn[order], kind="stable")][:count])


def features_of(pictures: ImageSelection, name: str, taught_by: str, machine: Machine) -> Features:
    """What is split into halves of these pictures, from the cache where it has them."""
    if taught_by == "texts":
        return encoded(pictures.load(), name, machine)
    return encode(encoder(name, taught_by, machine.device), pictures.load(), **machine.storage)


def encoder(name: str, taught_by: str, device: str = "cpu"):
    """What makes the features that are split: a backbone, or one that sees looks."""
    return _seeing(name, device) if taught_by == "pictures" else backbone(name, device)


@lru_cache(maxsize=2)
def _seeing(name: str, device: str) -> AppearanceEncoder:
    return AppearanceEncoder(backbone(name, device))
