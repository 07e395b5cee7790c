"""Shift degrees of a run's images: a decomposition fitted on texts or images, and the degrees of every image set.

Both are artifacts, with keys that are hashes of all that they depend on.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import lru_cache

import numpy as np
import torch
from safetensors.numpy import load_file, save

from openworld.datasets import templates
from openworld.datasets.names.class_names import class_names, name_synsets
from openworld.datasets.names.forms import normalise_class_name
from openworld.evaluations.artifacts import folder_of, has_whole, keep, kept_file
from openworld.evaluations.entries import DecompositionSpec
from openworld.evaluations.image_selection import DRAWINGS, ImageSelection
from openworld.evaluations.runtime import Machine, backbone, encoded
from openworld.features import Features, encode
from openworld.runs import digest
from openworld.shifts import (
    AppearanceEncoder,
    Decomposition,
    image_grid,
    in_looks,
    load_decomposition,
    streamed_degrees,
)
from openworld.shifts.triplets import text_grid

VERSION = 2  # raise it when the same texts or images give other numbers
THINGS = 300  # training images that teach, at most; classes take turns

_DECOMPOSITION, _DEGREES = "decomposition.safetensors", "degrees.safetensors"


@dataclass(frozen=True)
class DecompositionFit:
    """A decomposition to be fitted: on names in sentences, or on images in appearances."""

    how: DecompositionSpec
    names: tuple[str, ...]
    templates: tuple[str, ...]  # sentences or appearances
    threads: int
    images: ImageSelection | None = None
    title: str = ""  # what people call it, where the method alone does not tell

    @property
    def name(self) -> str:
        return self.title or self.how.method

    @property
    def key(self) -> str:
        depends_on = {name: value for name, value in asdict(self).items() if name != "title"}
        depends_on["images"] = self.images and self.images.fingerprint
        depends_on["weights"] = encoder(self.how.backbone, self.how.taught_by).fingerprint
        return digest({"decomposition": depends_on | {"version": VERSION}})[:32]

    def size(self) -> int:
        things = len(self.names) if self.images is None else min(THINGS, len(self.images.load()))
        return things * len(self.templates)

    def is_kept(self, machine: Machine) -> bool:
        return has_whole(folder_of(self, machine), _DECOMPOSITION)

    def build(self, machine: Machine) -> None:
        torch.set_num_threads(self.threads)
        made, how = self.how.build(), self.how
        if self.images is None:
            grid = text_grid(backbone(how.backbone, machine.device), self.names, self.templates)
        else:
            images = self.images.load()
            chosen = images.subset(drawn(images.labels, THINGS, how.seed))
            sees = encoder(how.backbone, "images", machine.device)
            grid = image_grid(sees, in_looks(chosen, self.templates, seed=how.seed), cache=machine.folder)
        # On the CPU, so that cells do not depend on the device.
        fitted = made.fit(grid, seed=how.seed) if how.method == "LAID" else made.fit(grid)
        about = {"name": how.method, "domain": how.backbone, "count": len(self.names), "templates": self.templates}
        keep(folder_of(self, machine), {_DECOMPOSITION: fitted.to_bytes()}, about)

    def load(self, machine: Machine) -> Decomposition:
        return _decomposition(kept_file(self, _DECOMPOSITION, machine))


@dataclass(frozen=True)
class DegreeMeasurement:
    """Degrees to be measured: those of `images` against the training images `known`, with the k-th neighbour."""

    name: str
    split: DecompositionFit
    known: ImageSelection
    images: ImageSelection
    k: int

    @property
    def key(self) -> str:
        sets = [self.known.fingerprint, self.images.fingerprint]
        return digest({"degrees": [self.split.key, *sets, self.k, VERSION]})[:32]

    def size(self) -> int:
        return len(self.images.load())

    def is_kept(self, machine: Machine) -> bool:
        return has_whole(folder_of(self, machine), _DEGREES)

    def build(self, machine: Machine) -> None:
        torch.set_num_threads(self.split.threads)
        how = self.split.how
        known, features = (
            features_of(selection, how.backbone, how.taught_by, machine) for selection in (self.known, self.images)
        )
        split, images = self.split.load(machine), self.images.load()
        degrees = streamed_degrees(split, features.embeddings, known.embeddings, k=self.k)
        arrays = {"rows": features.rows[:], "semantic": degrees.semantic_degree, "covariate": degrees.covariate_degree}
        content = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
        about = {"name": images.name, "domain": images.domain, "count": len(images), "images": images.fingerprint}
        keep(folder_of(self, machine), {_DEGREES: content}, about)

    def load(self, machine: Machine) -> dict[str, np.ndarray]:
        """Return "rows" int64[n] of the images that could be read, and their degrees float64[n] in [0, 2] by half."""
        return load_file(kept_file(self, _DEGREES, machine))


def split_of(how: DecompositionSpec, datasets: Iterable[str], names: Iterable[str], threads: int) -> DecompositionFit:
    """A decomposition by the names of all images, or of a file, each once, in the looks that suit the data sets."""
    names = name_synsets(class_names(how.names).names if how.names else tuple(names))
    distinct = tuple({normalise_class_name(name): name for name in names}.values())
    ours = all(name.startswith(DRAWINGS) for name in datasets)
    return DecompositionFit(
        how, distinct, how.templates or (templates.EMOJI_LOOKS if ours else templates.CLIP_80), threads
    )


_decomposition = lru_cache(maxsize=4)(load_decomposition)


def drawn(labels: np.ndarray, count: int, seed: int) -> np.ndarray:
    """int64, ascending: up to `count` places of labels int64[N], classes taking turns, drawn within each.

    >>> drawn(np.array([0, 0, 0, 1]), 2, seed=0)[1]
    np.int64(3)
    """
    order = np.random.default_rng(seed).permutation(len(labels))
    turn, counts = np.empty(len(labels), np.int64), {}
    for place in order.tolist():
        turn[place] = counts[labels[place]] = counts.get(labels[place], -1) + 1
    return np.sort(order[np.argsort(turn[order], kind="stable")][:count])


def features_of(selection: ImageSelection, name: str, taught_by: str, machine: Machine) -> Features:
    """What is split into halves of these images, from the cache where it has them."""
    if taught_by == "texts":
        return encoded(selection.load(), name, machine)
    return encode(encoder(name, taught_by, machine.device), selection.load(), **machine.storage)


def encoder(name: str, taught_by: str, device: str = "cpu"):
    """What makes the features that are split: a backbone, or one that sees looks."""
    return _seeing(name, device) if taught_by == "images" else backbone(name, device)


@lru_cache(maxsize=2)
def _seeing(name: str, device: str) -> AppearanceEncoder:
    return AppearanceEncoder(backbone(name, device))
