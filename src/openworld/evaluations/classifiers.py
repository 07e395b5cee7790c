"""Judged models of a run: training them, keeping their checkpoints in the cache, and finding them there again.

The folder of a training is named by a hash of its recipe and pictures, beside those of encoded image sets, and is whole
as soon as it has a manifest.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

import torch

from openworld import classifiers
from openworld._errors import OpenworldError
from openworld.classifiers import Classifier, Recipe
from openworld.classifiers.serialization import DESCRIPTION, WEIGHTS
from openworld.evaluations.estimation_entries import ReferenceSpec
from openworld.evaluations.image_selection import Pictures
from openworld.evaluations.runtime import Machine, cached_here
from openworld.evaluations.units import stage_unit
from openworld.features import default_cache
from openworld.features.checksums import is_intact, read_intact, write_with_checksum
from openworld.runs import Unit, UnitResult, digest, read_spec, readable_json
from openworld.runs.atomic import write_file

MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Training:
    """One training: an architecture, a recipe, a seed and pictures; `label` is what tables call the model."""

    label: str
    architecture: str
    recipe: Recipe
    seed: int
    pictures: Pictures
    threads: int

    @property
    def name(self) -> str:
        """What people call it."""
        return f"{self.label}, seed {self.seed}"

    @property
    def key(self) -> str:
        """Says what comes of it."""
        return _key(self)


@dataclass(frozen=True)
class Judged:
    """A classifier: a checkpoint of a training, or what lies in a folder.

    Args:
        label: of its model; empty for a reference.
        seed, epoch: of its training.
        training: None where nothing is trained.
        folder, architecture: where it lies then, and what to build; "" for what its description says.
    """

    label: str
    seed: int
    epoch: int
    training: Training | None = None
    folder: str = ""
    architecture: str = ""

    @property
    def key(self) -> str:
        """Says what it answers."""
        return digest([self.training.key, self.epoch])[:32] if self.training else _of_files(self.folder)

    def load(self, machine: Machine) -> Classifier:
        """The classifier, read once per process."""
        if self.training:
            return _of_training(folder_of(self.training, machine), self.epoch, self.training.architecture)
        return _of_folder(self.folder, self.key, self.architecture or None)


def in_folder(folder: str, **of) -> Judged:
    """A saved classifier; `of`: label, seed, epoch and architecture where it has them."""
    return Judged(**{"label": "", "seed": 0, "epoch": 0} | of, folder=folder)


def of_reference(reference: ReferenceSpec) -> Judged:
    """The saved classifier of a reference that is one."""
    return in_folder(reference.classifier, architecture=reference.architecture)


def folder_of(training: Training, machine: Machine) -> Path:
    """Where the checkpoints of a training lie."""
    return cache_of(machine) / training.key


def cache_of(machine: Machine) -> Path:
    """Where everything is kept."""
    return machine.folder or default_cache()


def untrained(trainings: Iterable[Training], machine: Machine) -> dict[Unit, int]:
    """A unit per training that is not in the cache, and how many epochs it has."""
    missing = [one for one in dict.fromkeys(trainings) if not _is_kept(folder_of(one, machine))]
    return {_unit(one, machine): one.recipe.epochs for one in missing}


def train_one(training: Mapping, machine: Mapping) -> UnitResult:
    """The unit: one training, into the cache."""
    training, machine = read_spec(training, Training), read_spec(machine, Machine)
    torch.set_num_threads(training.threads)
    images, folder = training.pictures.load(), folder_of(training, machine)
    kept = classifiers.train(training.architecture, images, training.recipe, seed=training.seed, device=machine.device)
    for epoch, one in kept.items():
        held = classifiers.files(one)
        for name in (WEIGHTS, DESCRIPTION):  # a spec says itself what is trained on
            write_with_checksum(folder / _file(epoch, name), held[name])
    told = {"name": images.name, "domain": images.domain, "model": training.name, "count": len(images)}
    told |= {"checkpoints": list(kept), "images": images.fingerprint}
    write_file(folder / MANIFEST, readable_json(told))
    return UnitResult()


def _is_kept(folder: Path) -> bool:
    """Whether a training has its manifest, and every checkpoint that it names as it was written."""
    try:
        epochs = json.loads((folder / MANIFEST).read_bytes())["checkpoints"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return all(is_intact(folder / _file(epoch, name)) for epoch in epochs for name in (WEIGHTS, DESCRIPTION))


def _file(epoch: int, name: str) -> str:
    """A file of a saved classifier, by the epoch after which it was saved."""
    return f"{epoch:05d}-{name}"


def _unit(training: Training, machine: Machine) -> Unit:
    return stage_unit(train_one, {"training": asdict(training)}, training.name, machine)


@cached_here(maxsize=256)
def _key(training: Training) -> str:
    told = {"architecture": training.architecture, "recipe": training.recipe, "seed": training.seed}
    told |= {"threads": training.threads, "pictures": training.pictures.load().fingerprint}
    return digest(told | {"version": classifiers.VERSION})[:32]


@lru_cache(maxsize=64)
def _of_training(folder: Path, epoch: int, architecture: str) -> Classifier:
    files = {name: read_intact(folder / _file(epoch, name)) for name in (WEIGHTS, DESCRIPTION)}
    return classifiers.load(files, architecture=architecture)


@cached_here(maxsize=64)
def _of_folder(folder: str, _key: str, architecture: str | None) -> Classifier:
    return classifiers.load(folder, architecture=architecture)


@cached_here(maxsize=64)
def _of_files(folder: str) -> str:
    files = sorted(path for path in Path(folder).glob("*") if path.is_file())
    if not files:
        raise OpenworldError(f"there is no saved classifier in {folder}; give a folder that `classifiers.save` wrote.")
    return digest({path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files})[:32]
