"""Learners as models whose detectors are compared: trained on the in-distribution images of a run, or saved ones.

A training is an artifact; its key is a hash of the learner with its settings, the weights of its backbone, the seed,
the views and the images. Where images of no known class are to be detected nobody knows a new name, so that a learner
answers among the in-distribution names alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import torch

from openworld._errors import OpenworldError
from openworld.datasets import ImageSet
from openworld.evaluations.artifacts import folder_of, has_whole, hash_of_files, keep
from openworld.evaluations.image_selection import ImageSelection, cached_here
from openworld.evaluations.runtime import Machine, backbone
from openworld.features import Encoding, encode
from openworld.features.encoding import usual_crop_scale
from openworld.learners import FittedLearner, ZeroShot, configure, encoding_for, find_learner, load
from openworld.learners.engine.saved_folders import saved_folder
from openworld.report.learner_facts import LearnerFacts
from openworld.runs import digest, to_json

VERSION = 1
"""Raise it when the same training gives another learner."""

_FILES = ("parameters.safetensors", "learner.json")


@dataclass(frozen=True)
class LearnerTraining:
    """One training of a learner, its settings written out whole; `label` is what tables call the model."""

    label: str
    learner: str
    settings: dict[str, Any]
    backbone: str
    seed: int
    views: int
    images: ImageSelection
    threads: int

    @property
    def name(self) -> str:
        return f"{self.label}, seed {self.seed}"

    @property
    def key(self) -> str:
        parts = {name: getattr(self, name) for name in ("learner", "settings", "seed", "views", "threads")}
        parts |= {"weights": backbone(self.backbone).fingerprint, "images": self.images.fingerprint}
        return digest({"trained learner": parts | {"version": VERSION}})[:32]

    def size(self) -> int:
        return len(self.images.load())

    def is_kept(self, machine: Machine) -> bool:
        return all(has_whole(folder_of(self, machine), name) for name in _FILES)

    def build(self, machine: Machine) -> None:
        torch.set_num_threads(self.threads)
        learner, images = configure(find_learner(self.learner), self.settings), self.images.load()
        clip, of = machine.backbone(self.backbone), self.images.sources[0].dataset
        fitted = tune(learner, clip, images, of=of, views=self.views, seed=self.seed, **machine.storage)
        about = {"name": images.name, "domain": images.domain, "model": self.name, "count": len(images)}
        keep(folder_of(self, machine), fitted.files(), about | {"images": images.fingerprint})

    @property
    def facts(self) -> dict[str, Any]:
        """What is known of the training."""
        return {"seed": self.seed, "images": self.size(), "views": self.views}

    def load(self, machine: Machine) -> FittedLearner:
        """Return the fitted learner; refuse one that is gone from the cache, or damaged."""
        if not self.is_kept(machine):
            raise OpenworldError(f"{self.name} is gone from the cache, or damaged; start the run again.")
        return load(folder_of(self, machine), machine.backbone(self.backbone))


@dataclass(frozen=True)
class LearnerFolder:
    """A learner that `FittedLearner.save` wrote, or that a unit of a run kept, on its backbone."""

    label: str
    folder: str
    backbone: str

    @property
    def key(self) -> str:
        """A hash of what lies there."""
        return _hash_of_learner(str(saved_folder(self.folder)))

    @property
    def facts(self) -> dict[str, Any]:
        """What is known of the training."""
        return {"saved": self.folder}

    def load(self, machine: Machine) -> FittedLearner:
        """Return the learner; refuse one of another backbone."""
        return load(saved_folder(self.folder), machine.backbone(self.backbone))


def resolved_settings(learner: str, settings: Mapping[str, Any], template: str, dataset: str) -> dict[str, Any]:
    """Return the settings of a learner written out whole: published ones for OOD detection, and others over them."""
    kind = find_learner(learner)
    made = configure(kind, settings, dataset, "ood")
    if template:
        names = {field.name for field in fields(made)}
        if not names & {"template", "templates"}:
            raise OpenworldError(f"{learner} reads no template; leave it out, or see its settings for its words.")
        made = replace(made, **({"template": template} if "template" in names else {"templates": (template,)}))
    return asdict(made)


def learns(learner: str) -> bool:
    """Whether a learner learns anything, so that seeds matter."""
    return not issubclass(find_learner(learner), ZeroShot)


def encoding_of_images(learner, chosen: Iterable[Any]) -> Encoding:
    """Return what a learner and its detectors look at of images that are not trained on."""
    encoding = encoding_for(learner)
    return replace(encoding, patches=encoding.patches or any("patches" in detector.needs for detector in chosen))


def tune(learner: Any, clip: Any, images: ImageSet, *, of: str, views: int, seed: int, **storage: Any) -> FittedLearner:
    """Return a learner trained on images, which are encoded with `views` as is usual for the data set `of`."""
    encoding = Encoding() if learner.consumes == "embeddings" else Encoding(views, usual_crop_scale(of), seed)
    return learner.fit(clip, encode(clip, images, encoding_for(learner, encoding), **storage), seed=seed)


def training_facts(fitted: FittedLearner, backbone: str, **known: Any) -> LearnerFacts:
    """Return what a record says of the training of a learner; `known`: its seed, images and views, or where it lay."""
    settings = to_json(fitted.learner)
    return LearnerFacts(fitted.learner.name, settings, backbone, len(fitted.history), fitted.tuned_parameters, **known)


@cached_here(maxsize=64)
def _hash_of_learner(folder: str) -> str:
    return hash_of_files(Path(folder) / name for name in _FILES)
