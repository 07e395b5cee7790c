"""A model of a run with a seed, whose detectors are compared: where it lies, or how it is trained."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from openworld.detectors import origin
from openworld.evaluations.artifacts import Stage
from openworld.evaluations.classifiers import Checkpoint, Training, in_folder
from openworld.evaluations.learner_models import LearnerFolder, LearnerTraining, is_saved
from openworld.evaluations.model_entries import JudgedSpec
from openworld.evaluations.runtime import Machine
from openworld.evaluations.shift_images import ShiftGround
from openworld.learners import origin as learner_origin


@dataclass(frozen=True)
class SeededModel:
    """One model and seed.

    Args:
        model: as the spec has it, settings resolved.
        seed: of its training.
        ground: the in-distribution images.
        threads: of its training.
    """

    model: JudgedSpec
    seed: int
    ground: ShiftGround
    threads: int

    @property
    def name(self) -> str:
        """What people call the unit."""
        bare = self.model.is_two_tower or (self.model.learner and not self.model.has_seeds)
        return self.model.label if bare else f"{self.model.label}, seed {self.seed}"

    @property
    def learner(self) -> LearnerTraining | LearnerFolder | None:
        """How the learner is trained, or where it lies; None for any other model."""
        model = self.model
        if not model.learner:
            return None
        if is_saved(model.learner):
            return LearnerFolder(model.label, model.learner.format(seed=self.seed), model.backbone)
        images = self.ground.training if model.shots is None else replace(self.ground, shots=model.shots).training
        what = (model.label, model.learner, model.settings, model.backbone, self.seed, model.views)
        return LearnerTraining(*what, images, self.threads)

    @property
    def classifier(self) -> Checkpoint | None:
        """Where the classifier lies, or how it is trained; None for any other model."""
        model = self.model
        if model.kind != "classifier":
            return None
        if model.weights:
            named = {"label": model.label, "seed": self.seed, "architecture": model.architecture}
            return in_folder(model.weights.format(seed=self.seed), **named)
        recipe = model.trained_by(self.ground.sources[0].dataset)
        training = Training(model.label, model.architecture, recipe, self.seed, self.ground.training, self.threads)
        return Checkpoint(model.label, self.seed, recipe.epochs, training)

    @property
    def inputs(self) -> dict[str, str]:
        """Fingerprints of what is not trained here, and of plug-ins."""
        hashes, classifier, learner = {}, self.classifier, self.learner
        if classifier and classifier.folder:
            hashes[f"classifier {classifier.folder}"] = classifier.key
        if isinstance(learner, LearnerFolder):
            hashes[f"learner {learner.folder}"] = learner.key
        elif learner and learner_origin(learner.learner):
            hashes[f"plug-in {learner.learner}"] = learner_origin(learner.learner)
        plug_ins = {entry.detector: origin(entry.detector) for entry in self.model.detectors}
        return hashes | {f"plug-in {name}": package for name, package in plug_ins.items() if package}


def trainings(models: Sequence[SeededModel], machine: Machine) -> tuple[Stage, ...]:
    """Return the stages that train classifiers, and tune learners where there are such."""
    trained = [each.classifier.training for each in models if each.classifier and each.classifier.training]
    tuned = [each.learner for each in models if isinstance(each.learner, LearnerTraining)]
    training = Stage("training", "trained", "epochs", machine, lambda: trained)
    tuning = Stage("tuning", "tuned learners on", "images", machine, lambda: tuned)
    return (training, tuning) if tuned else (training,)
