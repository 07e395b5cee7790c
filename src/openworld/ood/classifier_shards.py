"""What the detectors of a classifier learn and say, a few thousand images at a time: each is read once, and is kept.

Of many training images every shard is gathered apart (sums, and features one by one), and the shards are merged in one
order, always the same; a shard of scores is made of whole batches, which are those of one pass over all images. So
neither workers nor interruptions change a bit, a kill costs minutes, and processes, GPUs and machines share the work.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import load, save

from openworld import detectors
from openworld.core.errors import OpenworldError, present
from openworld.core.plain_files import parse_json
from openworld.detectors import FitStatistics, FittedDetector, load_gathered, load_together, save_together
from openworld.detectors.engine.fit_statistics import statistics_of
from openworld.evaluations.artifacts import MANIFEST, cache_of, keep
from openworld.evaluations.classifiers import Checkpoint
from openworld.evaluations.runtime import Machine
from openworld.features.checksums import (
    is_intact,
    note_checksum,
    read_intact,
    remove_with_checksum,
    require_intact,
    write_with_checksum,
)
from openworld.ood.model_entries import DetectorSpec
from openworld.ood.models import ImageAnswers, ImagesToScore, classifier_model
from openworld.runs import digest

VERSION = 3
"""Raise it when the same images and detectors give other scores, or the manifest says other things of them."""

GATHERED, SCORED = 16_384, 4096
"""Images of a shard, of what is learned and of scores: multiples of the batches in which a classifier sees them."""

FITTED = "detectors.safetensors"
_NAMED = ("prediction", "confidence")


@dataclass(frozen=True)
class ClassifierDetectors:
    """The detectors of a classifier: an artifact once they are fitted, and what they say of images, in shards.

    Args:
        name: of the model and seed.
        training: what they learn from.
        threads: how many one image's sums may take.
    """

    name: str
    classifier: Checkpoint
    detectors: tuple[DetectorSpec, ...]
    training: ImagesToScore
    threads: int

    @property
    def key(self) -> str:
        return digest(self)

    def size(self) -> int:
        return len(self.detectors)

    def folder(self, machine: Machine) -> str:
        """Return the hash of all that the fitted detectors depend on, which is the name of their folder."""
        parts = {
            "detectors": [asdict(entry) for entry in self.detectors],
            "plug-ins": [detectors.origin(entry.detector) for entry in self.detectors],
            "classifier": self.classifier.key,
            "training": self.training.key(machine),
            "threads": self.threads,
        }
        return digest({"fitted detectors": parts | {"version": VERSION}})[:32]

    def is_kept(self, machine: Machine) -> bool:
        folder = cache_of(machine) / self.folder(machine)
        return (folder / MANIFEST).exists() and is_intact(folder / FITTED)

    def build_detectors(self) -> dict[str, Any]:
        return {entry.label: entry.build() for entry in self.detectors}

    @property
    def learns(self) -> bool:
        """Whether a detector looks at training images."""
        return any(detector.gathers for detector in self.build_detectors().values())

    def is_sharded(self, machine: Machine) -> bool:
        """Whether shards are gathered, and sums rounded otherwise than in one pass."""
        if not self.learns or self.training.count(machine) <= GATHERED:
            return False
        # Statistics of a plug-in are gathered in one pass.
        return all(
            type(statistic).__module__.startswith("openworld.") and hasattr(statistic, "merge")
            for statistic in statistics_of(self.build_detectors())
        )

    def inputs(self, machine: Machine) -> dict[str, str]:
        """Return what else a result depends on: how sums over many training images are cut; {} for one pass."""
        return {"detectors are gathered": f"in shards of {GATHERED}"} if self.is_sharded(machine) else {}

    def gathered_shards(self, machine: Machine) -> Iterator["DetectorShard"]:
        """Yield what is gathered before; nothing where one pass is all, or they are fitted."""
        if self.is_sharded(machine) and not self.is_kept(machine):
            yield from self._shards(self.training, self.folder(machine), GATHERED, machine)

    def score_shards(self, images: ImagesToScore, machine: Machine) -> Iterator["DetectorShard"]:
        folder = digest({"scores": [self.folder(machine), images.key(machine)]})[:32]
        yield from self._shards(images, folder, SCORED, machine, scored=True)

    def _shards(self, images: ImagesToScore, folder: str, size: int, machine: Machine, *, scored: bool = False):
        count = images.count(machine)
        for number, start in enumerate(range(0, count, size)):
            name = f"{self.name}, {images.title} from {start + 1:,}"
            yield DetectorShard(name, folder, number, start, min(start + size, count), self, images, scored)

    def gather(self, start: int, stop: int | None, machine: Machine) -> FitStatistics:
        """Gather what they learn from, of the training images from place `start` to `stop`; None for all."""
        model, chosen = classifier_model(self.classifier, machine), self.build_detectors()
        if not self.learns:
            return model.gather(chosen, None, machine)
        images, rows = self.training.load(machine) if stop is None else self.training.part(start, stop, machine)
        return model.gather(chosen, images if len(rows) else None, machine, rows, start)

    def build(self, machine: Machine) -> None:
        """Fit them, and keep them; those that cannot learn are named in the manifest."""
        torch.set_num_threads(self.threads)
        folder, shards = cache_of(machine) / self.folder(machine), list(self.gathered_shards(machine))
        for shard in shards:
            if not shard.is_kept(machine):
                shard.build(machine)
        if shards:
            gathered = _merged([require_intact(shard.path(machine)) for shard in shards], machine.device)
        else:
            gathered = self.gather(0, None, machine)
        fitted, refused = fitted_of(gathered, self.detectors)
        save_together(fitted, folder / FITTED)
        note_checksum(folder / FITTED)
        for shard in shards:
            remove_with_checksum(shard.path(machine))
        about = {"name": self.training.title, "domain": "", "model": self.name, "count": self.training.count(machine)}
        keep(folder, {}, about | {"left_out": refused})

    def fitted(self, machine: Machine) -> tuple[dict[str, FittedDetector], dict[str, str]]:
        """Return the fitted detectors, and why others are left out; what the cache lacks is made here."""
        if not self.is_kept(machine):
            self.build(machine)
        kept = load_fitted(self.folder(machine), machine)
        left_out = parse_json((cache_of(machine) / self.folder(machine) / MANIFEST).read_bytes())["left_out"]
        return {entry.label: kept[entry.label] for entry in self.detectors if entry.label in kept}, left_out

    def answers(self, fitted: Mapping[str, FittedDetector], images: ImagesToScore, machine: Machine) -> ImageAnswers:
        """Return what the model says of images: of shards, of which those that lack are made here."""
        count, shards = images.count(machine), list(self.score_shards(images, machine))
        scores, (prediction, confidence) = {}, (np.empty(count, np.int64), np.empty(count))
        for shard in shards:
            if not shard.is_kept(machine):
                shard.build(machine)
            arrays = load(read_intact(shard.path(machine)))
            prediction[shard.start : shard.stop], confidence[shard.start : shard.stop] = map(arrays.pop, _NAMED)
            for number, values in arrays.items():
                of_detector = scores.setdefault(self.detectors[int(number)].label, np.empty(count))
                of_detector[shard.start : shard.stop] = values
        if shards and not (cache_of(machine) / shards[0].folder / MANIFEST).exists():
            keep(cache_of(machine) / shards[0].folder, {}, {"name": images.title, "model": self.name, "count": count})
        rows = images.load(machine)[1]
        return ImageAnswers(rows, {label: scores[label] for label in fitted}, prediction, confidence)


@dataclass(frozen=True)
class DetectorShard:
    """An artifact: what detectors learn from images `start` to `stop`, or what they and the model say of these."""

    name: str
    folder: str  # below the cache, named by all that the file depends on
    number: int
    start: int
    stop: int
    of: ClassifierDetectors
    images: ImagesToScore
    scored: bool

    @property
    def key(self) -> str:
        return str(self.place)

    @property
    def place(self) -> Path:
        return Path(self.folder, f"{'scores' if self.scored else 'gathered'}-{self.number:05d}.safetensors")

    def path(self, machine: Machine) -> Path:
        return cache_of(machine) / self.place

    def size(self) -> int:
        return self.stop - self.start

    def is_kept(self, machine: Machine) -> bool:
        return is_intact(self.path(machine))

    def build(self, machine: Machine) -> None:
        torch.set_num_threads(self.of.threads)
        if not self.scored:
            self.of.gather(self.start, self.stop, machine).save(self.path(machine))
            note_checksum(self.path(machine))
            return
        images, rows = self.images.part(self.start, self.stop, machine)
        model, fitted = classifier_model(self.of.classifier, machine), load_fitted(self.of.folder(machine), machine)
        answers = model.score(fitted, images, machine, rows)
        # By number: any text may be a label.
        labels = [entry.label for entry in self.of.detectors]
        arrays = {str(labels.index(label)): scores for label, scores in answers.scores.items()}
        arrays |= {name: present(getattr(answers, name), name) for name in _NAMED}
        write_with_checksum(self.path(machine), save(arrays))


def fitted_of(
    gathered: FitStatistics, entries: Sequence[DetectorSpec], tried: detectors.DetectorCandidates | None = None
) -> tuple[dict[str, FittedDetector], dict[str, str]]:
    """Return fitted detectors, and why others cannot learn; one that may not be left out raises."""
    # Of detectors with several settings, `tried`, one is left out where none of these can learn.
    fitted, refused = gathered.fit_able()
    unable = refused if tried is None else tried.unable(refused)
    needed = {entry.label for entry in entries if not entry.optional}
    for label, reason in unable.items():
        if label in needed or not fitted:
            raise OpenworldError(reason if reason.startswith(label) else f"{label}: {reason}")
    return fitted, refused


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
