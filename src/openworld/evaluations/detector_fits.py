"""Detectors of a classifier, fitted once on its training images and kept, whoever scores with them afterwards.

Of many training images every shard is gathered apart (what detectors learn from: sums, and features one by one), and
the shards are merged in one order, always the same, so that neither workers nor interruptions change a bit.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from openworld import detectors
from openworld._errors import OpenworldError
from openworld.classifiers import Classifier
from openworld.detectors import DetectionPlan, FitStatistics, FittedDetector
from openworld.detectors.engine.fit_statistics import statistics_of
from openworld.detectors.engine.serialization import load_gathered, load_together, save_gathered, save_together
from openworld.evaluations.artifacts import MANIFEST, cache_of, keep
from openworld.evaluations.classifiers import Checkpoint
from openworld.evaluations.images_to_score import ImageShard, ImagesToScore, ReadableImages
from openworld.evaluations.model_entries import DetectorSpec
from openworld.evaluations.runtime import Machine
from openworld.features.checksums import is_intact, note_checksum, remove_with_checksum, require_intact
from openworld.runs import digest

VERSION = 1
"""Raise it when the same images and detectors give other scores."""

GATHERED = 16_384
"""Training images of a shard: a multiple of the batches in which a classifier sees them."""

FITTED = "detectors.safetensors"


@dataclass(frozen=True)
class DetectorFit:
    """Detectors to be fitted."""

    name: str  # what people call it
    detectors: tuple[DetectorSpec, ...]  # all of one model
    classifier: Checkpoint  # whose features and logits they look at
    training: ImagesToScore  # the images that they learn from
    threads: int  # how many one image's sums may take

    @property
    def key(self) -> str:
        return digest(self)

    def size(self) -> int:
        return len(self.detectors)

    def is_kept(self, machine: Machine) -> bool:
        folder = cache_of(machine) / fit_key(self, machine)
        return (folder / MANIFEST).exists() and is_intact(folder / FITTED)

    def is_sharded(self, machine: Machine) -> bool:
        """Whether shards are gathered, and sums rounded otherwise than in one pass."""
        if self.training.count(machine) <= GATHERED:
            return False
        # Statistics of a plug-in are gathered in one pass.
        return all(
            type(statistic).__module__.startswith("openworld.") and hasattr(statistic, "merge")
            for statistic in statistics_of(self.build_detectors())
        )

    def shards(self, machine: Machine) -> Iterator["GatheredShard"]:
        """Yield what is gathered before; nothing where one pass is all, or they are fitted."""
        if not self.is_sharded(machine) or self.is_kept(machine):
            return
        count = self.training.count(machine)
        for shard, start in enumerate(range(0, count, GATHERED)):
            stop, name = min(start + GATHERED, count), f"{self.name}, training images from {start + 1:,}"
            yield GatheredShard(name, fit_key(self, machine), shard, start, stop, self)

    def build(self, machine: Machine) -> None:
        """Fit them, and keep those that a file can hold; the others are named in the manifest."""
        torch.set_num_threads(self.threads)
        folder, shards = cache_of(machine) / fit_key(self, machine), list(self.shards(machine))
        if shards:
            for shard in shards:
                if not shard.is_kept(machine):
                    shard.build(machine)
            gathered = _merged([require_intact(shard.path(machine)) for shard in shards], machine.device)
        else:
            gathered = self.gather(self.training.load(machine), 0, machine)
        apart = _save(gathered.fit(), folder / FITTED)
        note_checksum(folder / FITTED)
        for shard in shards:
            remove_with_checksum(shard.path(machine))
        about = {"name": self.training.title, "domain": "", "model": self.name, "count": self.training.count(machine)}
        keep(folder, {}, about | {"apart": apart})

    def gather(self, images: ReadableImages, start: int, machine: Machine) -> FitStatistics:
        """Gather what they learn from of some training images, before which `start` others come."""
        classifier = self.classifier.load(machine)
        route = plan_of(classifier, self.build_detectors(), machine.device)
        return route.gather(classifier.batches(images.images, images.rows, device=machine.device), start=start)

    def build_detectors(self) -> dict[str, Any]:
        """Return the detectors by their labels."""
        return {entry.label: entry.build() for entry in self.detectors}


@dataclass(frozen=True)
class GatheredShard(ImageShard):
    """What detectors learn from, of some of the training images; in the folder of the fit."""

    fit: DetectorFit
    prefix = "gathered"

    def build(self, machine: Machine) -> None:
        torch.set_num_threads(self.fit.threads)
        images = self.fit.training.part(self.start, self.stop, machine)
        save_gathered(self.fit.gather(images, self.start, machine), self.path(machine))
        note_checksum(self.path(machine))


def fit_key(fit: DetectorFit, machine: Machine) -> str:
    """Return the hash of a fit, which is the name of its folder."""
    parts = {
        "detectors": [asdict(entry) for entry in fit.detectors],
        "plug-ins": [detectors.origin(entry.detector) for entry in fit.detectors],
        "classifier": fit.classifier.key,
        "training": fit.training.key(machine),
        "threads": fit.threads,
    }
    return digest({"fitted detectors": parts | {"version": VERSION}})[:32]


def plan_of(classifier: Classifier, chosen: Mapping[str, Any], device: str) -> DetectionPlan:
    """Return the passes that detectors by label take on a classifier."""
    module, side = classifier.module.to(device), classifier.side
    blank = torch.zeros(2, 3, side, side, device=device)  # what an image shows plays no part
    return detectors.plan(chosen, detectors.watch(module, blank, pixel_std=classifier.preprocess.std))


def load_fitted(folder: str, machine: Machine) -> dict[str, FittedDetector]:
    """Return the fitted detectors of a folder, read once per process; refuse a damaged file."""
    return _loaded(require_intact(cache_of(machine) / folder / FITTED), device=machine.device)


_loaded = lru_cache(maxsize=2)(load_together)


def _merged(paths: list[Path], device: str) -> FitStatistics:
    """What was gathered of all shards, merged two and two: a bank is copied as often as the tree is high."""
    if len(paths) == 1:
        return load_gathered(paths[0], device=device)
    half = len(paths) // 2
    return _merged(paths[:half], device).merge(_merged(paths[half:], device))


def _save(fitted: dict[str, FittedDetector], path: Path) -> list[str]:
    """Write those that can be written; return the labels of the others, of plug-ins, which are fitted where needed."""
    apart: list[str] = []
    try:
        save_together(fitted, path)
    except OpenworldError:
        for label, each in fitted.items():
            try:
                save_together({label: each}, path)
            except OpenworldError:
                apart.append(label)
        if not apart:
            raise
        save_together({label: each for label, each in fitted.items() if label not in apart}, path)
    return apart
