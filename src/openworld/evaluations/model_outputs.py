"""Outputs of models on image sets: all models of a run look at an image set together, and what they say is kept.

An image is read, and corrupted, once; every classifier of the run answers it, and every backbone embeds it. Logits of
classifiers lie in a folder of the images, embeddings where encoded image sets lie.
"""

from dataclasses import dataclass

import numpy as np
import torch
from safetensors.numpy import save

from openworld.classifiers import Classifier
from openworld.classifiers.checkpoints import named_after
from openworld.core.errors import OpenworldError
from openworld.datasets import ImageSet
from openworld.datasets.pooling import remembered
from openworld.evaluations.artifacts import cache_of, folder_of, keep
from openworld.evaluations.classifiers import Checkpoint
from openworld.evaluations.image_selection import ImageSelection, cached_here
from openworld.evaluations.runtime import Machine, encoded
from openworld.features import Encoding, encode_shard, is_encoded, missing_shards
from openworld.features.checksums import is_intact, require_intact
from openworld.features.store import memory_map
from openworld.runs import digest

VERSION = 1  # raise it when the same classifier says something else of the same images
RUNNING = ("inference", "ran models on", "images")  # what the stage is called while and after, and what it counts
_TOGETHER = 1024  # images in memory at a time: those of a shard of an encoded set


@dataclass(frozen=True)
class ModelOutputs:
    """Outputs of some models on one image set."""

    name: str  # what people call it
    images: ImageSelection  # on which models are run
    classifiers: tuple[Checkpoint, ...]
    backbones: tuple[str, ...]
    threads: int  # how many one image's sums may take

    @property
    def key(self) -> str:
        return _key(self.images)

    def size(self) -> int:
        return len(self.images.load())

    def is_kept(self, machine: Machine) -> bool:
        return not self._missing(machine) and all(
            is_encoded(machine.backbone(name), self.images.load(), cache=machine.folder) for name in self.backbones
        )

    def build(self, machine: Machine) -> None:
        torch.set_num_threads(self.threads)
        images = remembered(self.images.load(), _TOGETHER)
        logits: dict[Checkpoint, list[np.ndarray]] = {classifier: [] for classifier in self._missing(machine)}
        for shard, start in enumerate(range(0, len(images), _TOGETHER)):
            self._embed(images, shard, machine)
            rows = range(start, min(start + _TOGETHER, len(images)))
            prepared: dict[tuple, tuple[np.ndarray, np.ndarray]] = {}  # once for all classifiers of one view
            for checkpoint, parts in logits.items():
                classifier = checkpoint.load(machine)
                _require_names(classifier, images)
                if classifier.view not in prepared:
                    prepared[classifier.view] = _prepare(classifier, images, rows, machine.allow_corrupt)
                pixels, unreadable = prepared[classifier.view]
                parts.append(classifier.logits_of_pixels(pixels, device=machine.device))
                parts[-1][unreadable] = np.nan
        for name in self.backbones:  # all shards are there: this makes the set whole
            encoded(self.images.load(), name, machine)
        files = {_file(classifier): save({"logits": np.concatenate(parts)}) for classifier, parts in logits.items()}
        about = {"name": images.name, "domain": images.domain, "count": len(images), "images": images.fingerprint}
        if files:
            keep(folder_of(self, machine), files, about)

    def _missing(self, machine: Machine) -> list[Checkpoint]:
        folder = folder_of(self, machine)
        return [classifier for classifier in self.classifiers if not is_intact(folder / _file(classifier))]

    def _embed(self, images: ImageSet, shard: int, machine: Machine) -> None:
        cores = self.threads if machine.device == "cpu" else None
        for name in self.backbones:
            clip, cache = machine.backbone(name), machine.folder
            if missing_shards(clip, images, [Encoding()], cache=cache, among=[shard]):
                options = {"cache": cache, "allow_corrupt": machine.allow_corrupt, "cores": cores}
                encode_shard(clip, images, [Encoding()], shard, **options)


def logits_of(images: ImageSelection, classifier: Checkpoint, machine: Machine) -> np.ndarray:
    """Return the logits float32[N, C] of a classifier, on disk; rows of NaN for images that could not be read."""
    logits = memory_map(require_intact(cache_of(machine) / _key(images) / _file(classifier)), "logits")
    assert logits is not None  # `build` writes them
    return logits


def _require_names(classifier: Classifier, images: ImageSet) -> None:
    if named_after(classifier, images.classnames).classnames != images.classnames:
        raise OpenworldError(
            f"{classifier.architecture!r} was trained on other class names than those of {images.name!r}, or in "
            "another order; the images must show the model's classes."
        )


def _prepare(classifier: Classifier, images: ImageSet, rows: range, allowed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return uint8[n, 3, side, side], and bool[n] where an image cannot be read; more than `allowed` are refused."""
    pixels = np.zeros((len(rows), 3, classifier.side, classifier.side), np.uint8)
    unreadable = np.zeros(len(rows), bool)
    for place, row in enumerate(rows):
        try:
            pixels[place] = classifier.prepare(images.image(row))
        except OpenworldError:
            unreadable[place] = True
            if unreadable.sum() > allowed:
                raise
    return pixels, unreadable


def _file(classifier: Checkpoint) -> str:
    return f"answers-{classifier.key}.safetensors"


@cached_here(maxsize=1024)
def _key(images: ImageSelection) -> str:
    return digest({"images": images.fingerprint, "version": VERSION})[:32]
