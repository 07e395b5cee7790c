"""A model of a run with a seed, whose detectors are compared: where it lies, how it is trained, what it must have."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from openworld._errors import OpenworldError
from openworld.datasets import templates
from openworld.datasets.names.forms import are_numbered
from openworld.detectors import origin
from openworld.detectors.engine.name_pools import require_words
from openworld.detectors.engine.tuned_learners import require_served
from openworld.evaluations.artifacts import Stage
from openworld.evaluations.classifiers import Checkpoint, Training, in_folder
from openworld.evaluations.held import held
from openworld.evaluations.runtime import Machine
from openworld.evaluations.shift_images import ShiftGround
from openworld.learners import configure, find_learner
from openworld.learners import origin as learner_origin
from openworld.learners.engine.requirements import offers_everything, require_able
from openworld.learners.engine.saved_folders import is_saved
from openworld.ood.learner_models import LearnerFolder, LearnerTraining, training_facts
from openworld.ood.model_entries import JudgedSpec
from openworld.ood.models import JudgedModel, TowerModel, classifier_model
from openworld.runs import digest


@dataclass(frozen=True)
class SeededModel:
    """One model and seed."""

    model: JudgedSpec  # as the spec has it, settings resolved
    seed: int  # of its training
    ground: ShiftGround  # the in-distribution images
    threads: int  # of its training

    @property
    def name(self) -> str:
        """What people call the unit."""
        bare = self.model.own or self.model.is_two_tower or (self.model.learner and not self.model.has_seeds)
        return self.model.label if bare else f"{self.model.label}, seed {self.seed}"

    @property
    def learner(self) -> LearnerTraining | LearnerFolder | None:
        """How the learner is trained, or where it lies; None for any other model."""
        model, ground = self.model, self.ground
        if not model.learner:
            return None
        if is_saved(model.learner):
            return LearnerFolder(model.label, model.learner.format(seed=self.seed), model.backbone)
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
            named = {"label": model.label, "seed": self.seed, "architecture": model.architecture}
            return in_folder(model.weights.format(seed=self.seed), **named)
        recipe = model.trained_by(self.ground.sources[0].dataset)
        training = Training(model.label, model.architecture, recipe, self.seed, self.ground.training, self.threads)
        return Checkpoint(model.label, self.seed, recipe.epochs, training)

    def load(self, machine: Machine) -> JudgedModel:
        """Return the model itself; refuse one of other classes than those in distribution."""
        model, names = self.model, self.ground.names
        if model.own:
            return held(model.own)
        if self.classifier:
            found = classifier_model(self.classifier, machine)
            require_names(model, found.classnames, names)
            return found
        words = model.words and model.words.without(names)
        if self.learner:
            fitted = self.learner.load(machine)
            require_names(model, fitted.classnames, names)
            facts = training_facts(fitted, self.learner.backbone, **self.learner.facts)
            return TowerModel(fitted.clip, fitted.classnames, "", words, model.negatives, fitted, facts)
        template = model.template or templates.TEMPLATES.get(self.ground.sources[0].dataset, templates.PHOTO)
        return TowerModel(machine.backbone(model.backbone), names, template, words, model.negatives)

    @property
    def inputs(self) -> dict[str, str]:
        """Fingerprints of what is not trained here, and of plug-ins."""
        hashes: dict[str, str] = {}
        learner, classifier = self.learner, self.classifier
        if isinstance(learner, LearnerFolder):
            hashes[f"learner {learner.folder}"] = learner.key
        elif learner and (package := learner_origin(learner.learner)):
            hashes[f"plug-in {learner.learner}"] = package
        if classifier and classifier.folder:
            hashes |= {f"classifier {classifier.folder}": classifier.key}
        if self.model.negatives:
            hashes[f"words of {self.model.negatives}"] = digest(asdict(self.model.words))
        plug_ins = {entry.detector: origin(entry.detector) for entry in self.model.detectors}
        return hashes | {f"plug-in {name}": package for name, package in plug_ins.items() if package}


def trainings(models: Sequence[SeededModel], machine: Machine) -> tuple[Stage, ...]:
    """Return the stages that train classifiers, and tune learners where there are such."""
    trained = [each.classifier.training for each in models if each.classifier and each.classifier.training]
    training = Stage("training", "trained", "epochs", machine, lambda: trained)
    tuned = [each.learner for each in models if isinstance(each.learner, LearnerTraining)]
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


def require_learner(
    model: JudgedSpec, learner: LearnerTraining | LearnerFolder, names: tuple[str, ...], machine: Machine
) -> None:
    """Refuse a learner that its backbone or the images cannot serve, and a saved one of other classes than `names`."""
    if isinstance(learner, LearnerFolder):
        fitted = learner.load(machine)
        require_names(model, fitted.classnames, names)
        require_served(fitted, model.label, model.build())
        return
    learner.images.require_every_class()
    clip = machine.backbone(model.backbone)
    if not offers_everything(clip):
        require_able(clip, configure(find_learner(model.learner), model.settings))


def require_negatives(model: JudgedSpec, names: tuple[str, ...]) -> None:
    """Refuse a list of words that is not there, or has too few words beside the in-distribution classes `names`."""
    if not model.negatives:
        return
    words = model.words.without(names)
    for detector in model.build().values():
        require_words(detector, words, model.negatives)
