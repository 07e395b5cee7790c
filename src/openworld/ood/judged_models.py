"""Models of a run: a task has one with a seed, and knows where it lies, how it is trained, and what it must have.

A training of a learner is an artifact; its key is a hash of the learner with its settings, the weights of its backbone,
the seed, the views and the images. Where images of no known class are to be detected nobody knows a new name, so that a
learner answers among the in-distribution names alone.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from openworld import classifiers, detectors
from openworld.core.errors import OpenworldError
from openworld.core.reading import Declared
from openworld.datasets import ImageSet, templates
from openworld.datasets.names.forms import are_numbered
from openworld.detectors.engine.texts import require_words
from openworld.detectors.engine.two_towers import require_served
from openworld.evaluations.artifacts import Stage, folder_of, has_whole, hash_of_files, keep
from openworld.evaluations.classifiers import Checkpoint, Training, in_folder
from openworld.evaluations.entries import require_distinct
from openworld.evaluations.evaluation import ClassList, Spec, entry_of
from openworld.evaluations.image_selection import DatasetSpec, ImageSelection, cached_here
from openworld.evaluations.own_data import held, is_held
from openworld.evaluations.runtime import Machine, backbone
from openworld.evaluations.shift_images import ShiftGround
from openworld.features import Encoding, encode
from openworld.features.encoding import usual_crop_scale
from openworld.learners import FittedLearner, configure, encoding_for, find_learner, load
from openworld.learners import origin as learner_origin
from openworld.learners.engine.fitted import is_saved, saved_folder
from openworld.learners.engine.requirements import require_able
from openworld.ood.classifier_shards import ClassifierDetectors
from openworld.ood.model_entries import JudgedSpec
from openworld.ood.models import ClassifierModel, ImagesToScore, JudgedModel, classifier_model
from openworld.ood.tower_model import TowerModel
from openworld.report.learner_facts import LearnerFacts
from openworld.runs import digest, to_json

LEARNED = 1
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
        return digest({"trained learner": parts | {"version": LEARNED}})[:32]

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

    def load(self, machine: Machine) -> FittedLearner:
        """Return the fitted learner; refuse one that is gone from the cache, or damaged."""
        if not self.is_kept(machine):
            raise OpenworldError(f"{self.name} is gone from the cache, or damaged; start the run again.")
        return load(folder_of(self, machine), machine.backbone(self.backbone))


class ModelsSpec(Spec):
    """What specs of OOD detection have in common: `models`, `seeds`, `threads`, and the images of their `ground`.

    Below `tasks` they are those of a task, which has one model, its settings resolved, with one seed; its detectors
    learn from `training` and score `test` and the `others`.
    """

    model = entry_of("models")
    one_stream = False
    """Whether detectors that look at the stream get all sets in one, or each in one of its own."""

    if TYPE_CHECKING:  # while it runs, what is declared would be the default of a field of this name
        protocol = Declared[str]()
        sources = Declared[tuple[DatasetSpec, ...]]()
        models = Declared[tuple[JudgedSpec, ...]]()
        seeds = Declared[tuple[int, ...]]()
        threads = Declared[int]()
        train_part = Declared[str]()
        id_part = Declared[str]()
        ground = Declared[ShiftGround]()
        others = Declared[tuple[ImagesToScore, ...]]()
        validation = Declared[ImagesToScore | None]()  # scored for thresholds or a search, in distribution
        strange = Declared[tuple[ImagesToScore, ...]]()  # others on which settings are searched
        encoded_by = Declared[tuple[str, ...]]()  # backbones that encode the images before; of none all are read
    else:
        validation, strange, encoded_by = None, (), ()

    @property
    def training(self) -> ImagesToScore:
        return ImagesToScore("training images", (self.ground.training,), encoded_by=self.encoded_by)

    @property
    def test(self) -> ImagesToScore:
        return ImagesToScore("test images", (self.ground.test,), encoded_by=self.encoded_by)

    def compared(self, classes: str, against: str) -> list[str]:
        """Return what is compared on what, in a few words each."""
        labels = dict.fromkeys(entry.label for model in self.models for entry in model.detectors)
        sources = " + ".join(map(str, self.sources))
        return [
            f"{sources}, {classes}, against {against}",
            f"{len(self.models)} model(s)",
            f"{len(labels)} detector(s)",
        ]

    def require_models(self) -> None:
        """Refuse models of one label, and images that are learned from and tested."""
        require_distinct({"labels of models": [model.label for model in self.models]})
        if self.train_part == self.id_part:
            raise OpenworldError(
                f"train_part and id_part are both {self.id_part!r}; test on images that nothing learned from."
            )

    @property
    def tasks(self) -> list[Any]:
        """Every model with every seed, models in order; what is not trained here once, unless it lies there by seed."""
        return [
            self.only(model=model.resolved(self.sources[0].dataset), seed=seed)
            for model in self.models
            for seed in (self.seeds if model.has_seeds else self.seeds[:1])
        ]

    @property
    def name(self) -> str:
        bare = self.model.own or self.model.is_two_tower or (self.model.learner and not self.model.has_seeds)
        return self.model.label if bare else f"{self.model.label}, seed {self.seed}"

    @property
    def saved_learner(self) -> str:
        """The folder of a saved learner, or of a unit that kept one; "" for any other model."""
        return self.model.learner.format(seed=self.seed) if self.model.learner and is_saved(self.model.learner) else ""

    @property
    def learner(self) -> LearnerTraining | None:
        """How the learner is trained; None for a saved one, and for any other model."""
        model, ground = self.model, self.ground
        if not model.learner or self.saved_learner:
            return None
        images = ground.training if model.shots is None else replace(ground, shots=model.shots).training
        what = (model.label, model.learner, model.settings, model.backbone, self.seed, model.views)
        return LearnerTraining(*what, images, self.threads)

    @property
    def classifier(self) -> Checkpoint | None:
        """Where the classifier lies, or how it is trained; None for any other model."""
        model = self.model
        if model.kind != "classifier":
            return None
        if model.own:
            return in_folder(model.own, label=model.label, seed=self.seed)
        if model.weights:
            facts = {"label": model.label, "seed": self.seed, "architecture": model.architecture}
            return in_folder(model.weights.format(seed=self.seed), **facts)
        recipe = model.trained_by(self.ground.sources[0].dataset)
        training = Training(model.label, model.architecture, recipe, self.seed, self.ground.training, self.threads)
        return Checkpoint(model.label, self.seed, recipe.epochs, training)

    def load_model(self, machine: Machine) -> JudgedModel:
        """Return the model itself; refuse one of other classes than those in distribution."""
        model, names = self.model, self.ground.names
        if model.own:
            return held(model.own)
        if self.classifier:
            judged_model = classifier_model(self.classifier, machine)
            require_names(model, judged_model.classnames, names)
            return judged_model
        words = model.words and model.words.without(names)
        if model.learner:
            fitted = self.load_learner(machine)
            known = {"saved": self.saved_learner}
            if training := self.learner:
                known = {"seed": training.seed, "images": training.size(), "views": training.views}
            facts = training_facts(fitted, model.backbone, **known)
            return TowerModel(fitted.clip, fitted.classnames, "", words, model.negatives, fitted, facts)
        template = model.template or templates.TEMPLATES.get(self.ground.sources[0].dataset, templates.PHOTO)
        return TowerModel(machine.backbone(model.backbone), names, template, words, model.negatives)

    def load_learner(self, machine: Machine) -> FittedLearner:
        """Return the learner, trained here or saved; refuse one of another backbone, or of other classes."""
        if training := self.learner:
            fitted = training.load(machine)
        else:
            fitted = load(saved_folder(self.saved_learner), machine.backbone(self.model.backbone))
        require_names(self.model, fitted.classnames, self.ground.names)
        return fitted

    @property
    def shards(self) -> ClassifierDetectors | None:
        """Detectors that score in shards; None of what is made in the unit, where alone a search is known."""
        if self.classifier is None or self.strange:
            return None
        return ClassifierDetectors(self.name, self.classifier, self.model.detectors, self.training, self.threads)

    @property
    def scored(self) -> tuple[ImagesToScore, ...]:
        """All images that are scored, but for a search."""
        return (self.test, *self.others, *((self.validation,) if self.validation else ()))

    def model_inputs(self, machine: Machine) -> dict[str, str]:
        """Return fingerprints of what is not trained here and of plug-ins, and how detectors are gathered."""
        hashes = self.shards.inputs(machine) if self.shards else {}
        learner, classifier = self.learner, self.classifier
        if folder := self.saved_learner:
            hashes[f"learner {folder}"] = _hash_of_learner(str(saved_folder(folder)))
        elif learner and (package := learner_origin(learner.learner)):
            hashes[f"plug-in {learner.learner}"] = package
        if classifier and classifier.folder:
            hashes |= {f"classifier {classifier.folder}": classifier.key}
        if self.model.negatives:
            hashes[f"words of {self.model.negatives}"] = digest(asdict(self.model.words))
        plug_ins = {entry.detector: detectors.origin(entry.detector) for entry in self.model.detectors}
        return hashes | {f"plug-in {name}": package for name, package in plug_ins.items() if package}

    def require_model(self, machine: Machine) -> None:
        """Refuse a learner that its backbone or the images cannot serve, and a list of too few negative names."""
        model, names, learner = self.model, self.ground.names, self.learner
        if self.saved_learner:
            require_served(self.load_learner(machine), model.label, model.build())
        elif learner:
            learner.images.require_every_class()
            require_able(machine.backbone(model.backbone), configure(find_learner(model.learner), model.settings))
        if model.negatives:
            words = model.words.without(names)
            for detector in model.build().values():
                require_words(detector, words, model.negatives)


def require_models(tasks: Sequence[ModelsSpec], machine: Machine) -> None:
    """Refuse images that a model cannot learn from, and detectors that a model, or so few images, cannot serve.

    A classifier that is trained here is built, untrained, and looks at an image of zeros for that.
    """
    images, planned = len(tasks[0].ground.training.load()), set()
    for task in tasks:
        model = task.model
        if model.own:  # whose detectors were chosen among those that it serves
            continue
        task.require_model(machine)
        if model.kind == "classifier" and model.label not in planned:
            planned.add(model.label)
            if model.weights:
                loaded = task.load_model(machine)
                watched = loaded.watched if isinstance(loaded, ClassifierModel) else None
            else:
                side = model.trained_by(task.sources[0].dataset).side
                with torch.random.fork_rng(devices=()):
                    module = classifiers.build(model.architecture, len(task.ground.names), side).eval()
                watched = detectors.watch(module, torch.zeros(1, 3, side, side), pixel_std=(1.0, 1.0, 1.0))
            if watched is not None:  # as of an exported file, whose detectors need logits alone
                detectors.plan(model.build(), watched)
        model.candidates(search=bool(task.strange)).require_images(images)


def class_lists(spec: ModelsSpec) -> tuple[ClassList, ...]:
    """Return the in-distribution names; none of images of this process, which nobody named in a file."""
    names, first = spec.ground.names, spec.sources[0]
    return () if is_held(first.dataset) else (ClassList(str(first), first.dataset, names, len(names)),)


def trainings(tasks: Sequence[ModelsSpec], machine: Machine) -> tuple[Stage, ...]:
    """Return the stages that train classifiers, and tune learners where there are such."""
    trained = [task.classifier.training for task in tasks if task.classifier and task.classifier.training]
    training = Stage("training", "trained", "epochs", machine, lambda: trained)
    tuned = [task.learner for task in tasks if task.learner]
    return (training, Stage("tuning", "tuned learners on", "images", machine, lambda: tuned)) if tuned else (training,)


def require_names(model: JudgedSpec, known: tuple[str, ...], wanted: tuple[str, ...]) -> None:
    """Refuse a classifier of other classes than those in distribution, or in another order."""
    if known == wanted or (are_numbered(known) and len(known) == len(wanted)):
        return  # classes of a state dict, which names none, are as many and in this order
    differ = (place for place, pair in enumerate(zip(known, wanted, strict=False)) if len(set(pair)) > 1)
    place = next(differ, None)
    where = f"it has {len(known)}" if place is None else f"class {place} is {known[place]!r}, not {wanted[place]!r}"
    raise OpenworldError(
        f"{model.label!r} was trained on other class names than the {len(wanted)} in distribution here, or in another "
        f"order ({where}); give a classifier of these classes."
    )


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
