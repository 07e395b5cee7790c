"""Classifiers of a run: trained ones, whose checkpoints are kept in the cache, and saved ones in folders.

A training is an artifact; its key is a hash of its recipe and images.
"""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import torch

from openworld import classifiers
from openworld.classifiers import Classifier, Recipe
from openworld.classifiers.checkpoints import is_checkpoint
from openworld.classifiers.exported import description_of, is_exported
from openworld.classifiers.serialization import DESCRIPTION, WEIGHTS
from openworld.core.errors import OpenworldError
from openworld.core.plain_files import parse_json
from openworld.evaluations.artifacts import MANIFEST, folder_of, hash_of_files, keep
from openworld.evaluations.entries import ReferenceSpec
from openworld.evaluations.image_selection import ImageSelection, cached_here
from openworld.evaluations.own_data import is_held
from openworld.evaluations.runtime import Machine
from openworld.features.checksums import is_intact, read_intact
from openworld.runs import digest

_FILES = (WEIGHTS, DESCRIPTION)


@dataclass(frozen=True)
class Training:
    """One training: an architecture, a recipe, a seed and images; `label` is what tables call the model."""

    label: str
    architecture: str
    recipe: Recipe
    seed: int
    images: ImageSelection
    threads: int

    @property
    def name(self) -> str:
        return f"{self.label}, seed {self.seed}"

    @property
    def key(self) -> str:
        return _key(self)

    def size(self) -> int:
        return self.recipe.epochs

    def is_kept(self, machine: Machine) -> bool:
        folder = folder_of(self, machine)
        try:
            epochs = parse_json((folder / MANIFEST).read_bytes())["checkpoints"]
            files = [_file(epoch, name) for epoch in epochs for name in _FILES]
        except (OSError, ValueError, KeyError, TypeError):
            return False
        return all(is_intact(folder / name) for name in files)

    def build(self, machine: Machine) -> None:
        torch.set_num_threads(self.threads)
        images = self.images.load()
        trained = classifiers.train(self.architecture, images, self.recipe, seed=self.seed, device=machine.device)
        # What it was trained on stands in the spec, and not in its checkpoints.
        saved = {epoch: classifiers.files(classifier) for epoch, classifier in trained.items()}
        files = {_file(epoch, name): contents[name] for epoch, contents in saved.items() for name in _FILES}
        about = {"name": images.name, "domain": images.domain, "model": self.name, "count": len(images)}
        keep(folder_of(self, machine), files, about | {"checkpoints": list(saved), "images": images.fingerprint})


@dataclass(frozen=True)
class Checkpoint:
    """A classifier: a checkpoint of a training, or what lies in a folder."""

    label: str  # of its model; empty for a reference
    seed: int
    epoch: int
    training: Training | None = None  # None where nothing is trained
    folder: str = ""  # where it lies then
    architecture: str = ""  # what to build then; "" for what its description says

    @property
    def key(self) -> str:
        return digest([self.training.key, self.epoch])[:32] if self.training else _hash_of_folder(self.folder)

    def load(self, machine: Machine) -> Classifier:
        """Return the classifier, read once per process."""
        if self.training:
            return _of_training(folder_of(self.training, machine), self.epoch, self.training.architecture)
        return _of_folder(self.folder, self.key, self.architecture or None)


def in_folder(folder: str, label: str = "", seed: int = 0, epoch: int = 0, architecture: str = "") -> Checkpoint:
    """Return a saved classifier; with label, seed, epoch and architecture where it has them."""
    return Checkpoint(label, seed, epoch, folder=folder, architecture=architecture)


def of_reference(reference: ReferenceSpec) -> Checkpoint:
    return in_folder(reference.classifier, architecture=reference.architecture)


def _file(epoch: int, name: str) -> str:
    return f"{epoch:05d}-{name}"


@cached_here(maxsize=256)
def _key(training: Training) -> str:
    depends_on = {"architecture": training.architecture, "recipe": training.recipe, "seed": training.seed}
    depends_on |= {"threads": training.threads, "images": training.images.fingerprint}
    return digest(depends_on | {"version": classifiers.VERSION})[:32]


@lru_cache(maxsize=64)
def _of_training(folder: Path, epoch: int, architecture: str) -> Classifier:
    files = {name: read_intact(folder / _file(epoch, name)) for name in _FILES}
    return classifiers.load(files, architecture=architecture)


@cached_here(maxsize=64)
def _of_folder(folder: str, _key: str, architecture: str | None) -> Classifier:
    return classifiers.load(folder, architecture=architecture)


@cached_here(maxsize=64)
def _hash_of_folder(folder: str) -> str:
    if is_held(folder):
        return digest(folder)[:32]
    if folder.startswith("timm:"):  # whose file is timm's affair
        return _of_folder(folder, "", None).fingerprint[:32]
    files = sorted(path for path in Path(folder).glob("*") if path.is_file())
    if is_exported(folder) or is_checkpoint(folder):
        files = [path for path in (Path(folder), description_of(folder)) if path.is_file()]
    if not files:
        raise OpenworldError(
            f"there is no saved classifier in {folder}; give one that `classifiers.save` wrote, an exported file, or a "
            "state dict."
        )
    return hash_of_files(files)
