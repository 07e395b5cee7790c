"""The tasks of an OOD benchmark: which model is tested, on which images; and what must be there before."""

from dataclasses import dataclass

from openworld.detectors import origin
from openworld.evaluations.artifacts import Stage
from openworld.evaluations.classifiers import Checkpoint, Training, in_folder
from openworld.evaluations.entries import part_of
from openworld.evaluations.model_entries import JudgedSpec
from openworld.evaluations.ood_benchmark.spec import OODBenchmarkSpec, OODSetSpec
from openworld.evaluations.runtime import Machine, backbone
from openworld.evaluations.shift_images import ShiftGround


@dataclass(frozen=True)
class OODBenchmarkTask:
    """One model and seed.

    Args:
        judged: the model.
        seed: of its training, and of the bootstrap.
        ground: the in-distribution images.
        sets: what is tested beside them.
        replicates, threads: as in the spec.
    """

    judged: JudgedSpec
    seed: int
    ground: ShiftGround
    sets: tuple[OODSetSpec, ...]
    replicates: int
    threads: int

    @property
    def name(self) -> str:
        """What people call the unit."""
        return self.judged.label if self.judged.is_two_tower else f"{self.judged.label}, seed {self.seed}"

    @property
    def classifier(self) -> Checkpoint | None:
        """Where the classifier lies, or how it is trained; None for a two-tower model."""
        model = self.judged
        if model.is_two_tower:
            return None
        if model.weights:
            named = {"label": model.label, "seed": self.seed, "architecture": model.architecture}
            return in_folder(model.weights.format(seed=self.seed), **named)
        recipe = model.trained_by(self.ground.sources[0].dataset)
        training = Training(model.label, model.architecture, recipe, self.seed, self.ground.training, self.threads)
        return Checkpoint(model.label, self.seed, recipe.epochs, training)


def tasks(spec: OODBenchmarkSpec) -> list[OODBenchmarkTask]:
    """Every model with every seed, models in the order of the spec; what is not trained here once, unless by seed."""
    ground = part_of(spec, ShiftGround, pool=(), base=(), new=(), images=None, cells=None)
    return [
        OODBenchmarkTask(model, seed, ground, spec.sets, spec.replicates, spec.threads)
        for model in spec.models
        for seed in (spec.seeds if _has_seeds(model) else spec.seeds[:1])
    ]


def preparations(spec: OODBenchmarkSpec, machine: Machine) -> tuple[Stage, ...]:
    """Return the stage that trains classifiers."""
    trainings = [task.classifier.training for task in tasks(spec) if task.classifier and task.classifier.training]
    return (Stage("training", "trained", "epochs", machine, lambda: trainings),)


def inputs(task: OODBenchmarkTask, machine: Machine) -> dict[str, str]:
    """Fingerprints of everything that a unit reads: a result depends on them."""
    hashes = {
        "training images": task.ground.training.load().fingerprint,
        "test images": task.ground.test.load().fingerprint,
    }
    hashes |= {f"set {each.name}": images_of(each).load().fingerprint for each in task.sets}
    if task.judged.backbone:
        hashes[f"weights of {task.judged.backbone}"] = backbone(task.judged.backbone, machine.device).fingerprint
    if task.classifier and task.classifier.folder:
        hashes[f"classifier {task.classifier.folder}"] = task.classifier.key
    plug_ins = {entry.detector: origin(entry.detector) for entry in task.judged.detectors}
    return hashes | {f"plug-in {name}": package for name, package in plug_ins.items() if package}


def images_of(entry: OODSetSpec):
    """Return the images of a set, in words."""
    return entry.images(entry.part, corruption=entry.corruption, severity=entry.severity)


def _has_seeds(model: JudgedSpec) -> bool:
    return "{seed}" in model.weights if model.weights else not model.is_two_tower
