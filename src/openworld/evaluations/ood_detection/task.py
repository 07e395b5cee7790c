"""The tasks of OOD detection: which model is tested, on which images, in which cells; and what must be there before."""

from dataclasses import dataclass

from openworld.detectors import origin
from openworld.evaluations.artifacts import Stage
from openworld.evaluations.classifiers import Checkpoint, Training, in_folder
from openworld.evaluations.entries import part_of
from openworld.evaluations.learner_models import LearnerFolder, LearnerTraining, learner_inputs, tuning_stages
from openworld.evaluations.model_entries import JudgedSpec, learner_of
from openworld.evaluations.ood_detection.spec import IncrementalShiftSpec
from openworld.evaluations.runtime import Machine, backbone
from openworld.evaluations.shift_cells import Division, ShiftPlan
from openworld.evaluations.shift_images import ShiftGround
from openworld.features import Encoding
from openworld.runs import digest


@dataclass(frozen=True)
class DetectionTask:
    """One model and seed.

    Args:
        model: its place in `models`. seed: of its training.
        id_kept: whether the detectors' tables count pool images of in-distribution classes.
    """

    model: int
    seed: int
    models: tuple[JudgedSpec, ...]
    ground: ShiftGround
    division: Division
    id_kept: bool
    threads: int

    @property
    def judged_model(self) -> JudgedSpec:
        """The model."""
        return self.models[self.model]

    @property
    def name(self) -> str:
        """What people call the unit."""
        model = self.judged_model
        bare = model.is_two_tower or (model.learner and not model.has_seeds)
        return model.label if bare else f"{model.label}, seed {self.seed}"

    @property
    def learner(self) -> LearnerTraining | LearnerFolder | None:
        """How the learner is trained, or where it lies; None for any other model."""
        return learner_of(self.judged_model, self.seed, self.ground, self.threads)

    @property
    def classifier(self) -> Checkpoint | None:
        """Where the classifier lies, or how it is trained; None for any other model."""
        return self.classifier_of(self.judged_model, self.seed)

    def classifier_of(self, model: JudgedSpec, seed: int) -> Checkpoint | None:
        """Return the classifier of any model of the run."""
        if model.kind != "classifier":
            return None
        if model.weights:
            named = {"label": model.label, "seed": seed, "architecture": model.architecture}
            return in_folder(model.weights.format(seed=seed), **named)
        recipe = model.trained_by(self.ground.sources[0].dataset)
        training = Training(model.label, model.architecture, recipe, seed, self.ground.training, self.threads)
        return Checkpoint(model.label, seed, recipe.epochs, training)

    @property
    def shift(self) -> ShiftPlan:
        """What measures the degrees and cuts the pool; models that look at nothing but embeddings join in."""
        names = [model.backbone for model in self.models if model.backbone and model.encoding == Encoding()]
        return ShiftPlan(self.ground, self.division, self.threads, tuple(dict.fromkeys(names)))


def tasks(spec: IncrementalShiftSpec) -> list[DetectionTask]:
    """Every model with every seed, models in the order of the spec; what is not trained here once, unless by seed."""
    division = part_of(spec, Division)
    models = tuple(model.resolved(spec.sources[0].dataset) for model in spec.models)
    return [
        part_of(spec, DetectionTask, models=models, model=number, seed=seed, division=division)
        for number, model in enumerate(spec.models)
        for seed in (spec.seeds if model.has_seeds else spec.seeds[:1])
    ]


def preparations(spec: IncrementalShiftSpec, machine: Machine) -> tuple[Stage, ...]:
    """Return the stages: training, running models, fitting the decomposition, and measuring the degrees."""
    planned = tasks(spec)
    first = planned[0]
    trainings = [task.classifier.training for task in planned if task.classifier and task.classifier.training]
    training = Stage("training", "trained", "epochs", machine, lambda: trainings)
    tuning = tuning_stages([task.learner for task in planned], machine)
    return (training, *tuning, *first.shift.stages(machine, lambda: first.shift.outputs))


def inputs(task: DetectionTask, machine: Machine) -> dict[str, str]:
    """Fingerprints of everything that a unit reads: a result depends on them."""
    ground = task.ground
    hashes = {"training pictures": ground.training.load().fingerprint, "test pictures": ground.test.load().fingerprint}
    tested = [part.load().fingerprint for part in ground.tested]
    hashes["pool"] = digest(tested or ground.load_pool().images.fingerprint)
    names = {task.judged_model.backbone, "" if ground.cells else task.division.decomposition.backbone} - {""}
    hashes |= {f"weights of {name}": backbone(name, machine.device).fingerprint for name in sorted(names)}
    if not ground.cells:
        hashes["decomposition"] = task.shift.split.key
    if task.classifier and task.classifier.folder:
        hashes[f"classifier {task.classifier.folder}"] = task.classifier.key
    hashes |= learner_inputs(task.learner)
    plug_ins = {entry.detector: origin(entry.detector) for entry in task.judged_model.detectors}
    return hashes | {f"plug-in {name}": package for name, package in plug_ins.items() if package}
