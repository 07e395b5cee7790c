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
from openworld.evaluations.images_to_score import ImagesToScore, ReadableImages
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
        """Says which they are."""
        return digest(self)

    def size(self) -> int:
        """How many detectors there are."""
        return len(self.detectors)

    def is_kept(self, machine: Machine) -> bool:
        """Whether they are fitted."""
        folder = cache_of(machine) / fit_key(self, machine)
        return (folder / MANIFEST).exists() and is_intact(folder / FITTED)

    def is_sharded(self, machine: Machine) -> bool:
        """Whether shards are gathered, and sums rounded otherwise than in one pass."""
        return self.training.count(machine) > GATHERED and _mergeable(self.build_detectors())

    def shards(self, machine: Machine) -> Iterator["GatheredShard"]:
        """Yield what is gathered before; nothing where one pass is all, or they are fitted."""
        if not self.is_sharded(machine) or self.is_kept(machine):
            return
        count = self.training.count(machine)
        for shard, start in enumerate(range(0, count, GATHERED)):
            stop, name = min(start + GATHERED, count), f"{self.name}, training images from {start + 1:,}"
            yield GatheredShard(name, self, fit_key(self, machine), shard, start, stop)

    def build(self, machine: Machine) -> None:
        """Fit them, and keep those that a file can hold; the others are named in the manifest."""
        torch.set_num_threads(self.threads)
        folder, shards = cache_of(machine) / fit_key(self, machine), list(self.shards(machine))
        if shards:
            for shard in shards:
                if not shard.is_kept(machine):
                    shard.build(machine)
            gathered = _merged([require_intact(folder / shard.file) for shard in shards], machine.device)
        else:
            gathered = self.gather(self.training.load(machine), 0, machine)
        apart = _save(gathered.fit(), folder / FITTED)
        note_checksum(folder / FITTED)
        for shard in shards:
            remove_with_checksum(folder / shard.file)
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
class GatheredShard:
    """What detectors learn from, of the training images from place `start` to `stop`; in the folder of the fit."""

    name: str
    fit: DetectorFit
    folder: str
    shard: int
    start: int
    stop: int

    @property
    def key(self) -> str:
        """Says which it is."""
        return f"{self.folder} {self.shard}"

    @property
    def file(self) -> str:
        """Its name in the folder."""
        return f"gathered-{self.shard:05d}.safetensors"

    def size(self) -> int:
        """How many images it has."""
        return self.stop - self.start

    def is_kept(self, machine: Machine) -> bool:
        """Whether it is gathered."""
        return is_intact(cache_of(machine) / self.folder / self.file)

    def build(self, machine: Machine) -> None:
        """Gather it."""
        torch.set_num_threads(self.fit.threads)
        path = cache_of(machine) / self.folder / self.file
        images = self.fit.training.part(self.start, self.stop, machine)
        save_gathered(self.fit.gather(images, self.start, machine), path)
        note_checksum(path)


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
    """Return the fitted detectors of a folder, read once per process.

    Raises:
        OpenworldError: they are gone from the cache, or damaged.
    """
    return _loaded(require_intact(cache_of(machine) / folder / FITTED), machine.device)


@lru_cache(maxsize=2)
def _loaded(path: Path, device: str) -> dict[str, FittedDetector]:
    return load_together(path, device=device)


def _mergeable(chosen: Mapping[str, Any]) -> bool:
    """Whether shards can be gathered apart: by statistics of ours, not by those of a plug-in."""
    ours = (type(statistic).__module__.startswith("openworld.") for statistic in statistics_of(chosen))
    return all(ours) and all(hasattr(statistic, "merge") for statistic in statistics_of(chosen))


def _merged(paths: list[Path], device: str) -> FitStatistics:
    """What was gathered of all shards, merged two and two: a bank is copied as often as the tree is high."""
    if len(paths) == 1:
        return load_gathered(paths[0], device=device)
    half = len(paths) // 2
    return _merged(paths[:half], device).merge(_merged(paths[half:], device))


def _save(fitted: dict[str, FittedDetector], path: Path) -> list[str]:
    """Write those that can be written; return the labels of the others, of plug-ins, which are fitted where needed."""
    try:
        save_together(fitted, path)
    except OpenworldError:
        apart = [label for label, each in fitted.items() if not _is_writable(label, each, path)]
        if not apart:
            raise
        save_together({label: each for label, each in fitted.items() if label not in apart}, path)
        return apart
    return []


def _is_writable(label: str, fitted: FittedDetector, path: Path) -> bool:
    try:
        save_together({label: fitted}, path)
    except OpenworldError:
        return False
    return True
