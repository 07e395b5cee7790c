"""A unit of accuracy estimation: one checkpoint of one model, its partners, and which model sees what."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from openworld.classifiers import Recipe
from openworld.estimators import origin
from openworld.evaluations.artifacts import Stage
from openworld.evaluations.classifiers import Checkpoint, Training, in_folder, of_reference
from openworld.evaluations.entries import ReferenceSpec, part_of
from openworld.evaluations.image_selection import ImageSelection
from openworld.evaluations.model_outputs import RUNNING, ModelOutputs
from openworld.evaluations.runtime import Machine, backbone
from openworld.label_free.benchmark.entries import ModelSpec
from openworld.label_free.benchmark.images import Ground
from openworld.label_free.benchmark.spec import AccuracyEstimationSpec, EstimationSettings
from openworld.runs import digest, read_spec


@dataclass(frozen=True)
class AccuracyTask(EstimationSettings):
    """One unit's share of a spec: which of the models is judged, at which seed and checkpoint."""

    model: int  # its place in `models`
    seed: int
    checkpoint: int  # its place among those of its model
    ground: Ground
    left_out: dict[str, str]

    @property
    def name(self) -> str:
        """What people call the unit."""
        return f"{self.judged_checkpoint.label}, seed {self.seed}, epoch {self.judged_checkpoint.epoch}"

    @property
    def is_first(self) -> bool:
        """Whether it is the first unit of its run, which keeps the images for the report."""
        return (self.model, self.seed, self.checkpoint) == (0, self.seeds[0], 0)

    @property
    def judged_checkpoint(self) -> Checkpoint:
        """The classifier whose accuracy is estimated."""
        return self._everyone[self.model, self.seed, self.checkpoint]

    @property
    def partners(self) -> tuple[Checkpoint, ...]:
        """Its own next seed, its further seeds, then the other models, all at the same place in their checkpoints."""
        place = self.seeds.index(self.seed)
        seeds = (*self.seeds[place + 1 :], *self.seeds[:place])
        others = (*range(self.model + 1, len(self.models)), *range(self.model))
        pairs = [(self.model, seed) for seed in seeds]
        pairs += [(model, seed) for model in others for seed in (self.seed, *seeds)]
        # A model with fewer checkpoints takes part with its last one.
        last = [len(model.checkpoints) - 1 for model in self.models]
        return tuple(self._everyone[model, seed, min(self.checkpoint, last[model])] for model, seed in pairs)

    @property
    def trainings(self) -> tuple[Training, ...]:
        """Everything that is to be trained for the run, this unit or not."""
        trainings = (checkpoint.training for checkpoint in self._everyone.values())
        return tuple(dict.fromkeys(filter(None, trainings)))

    @property
    def folders(self) -> tuple[Checkpoint, ...]:
        """The classifiers that are not trained but lie somewhere, references among them."""
        referred = [of_reference(reference) for reference in self.references if reference.classifier]
        return (*(checkpoint for checkpoint in self._everyone.values() if checkpoint.folder), *referred)

    @property
    def outputs(self) -> Iterator[ModelOutputs]:
        """The outputs of all models on everything that the run reads."""
        yield self._outputs("source", self.ground.source, self.references)
        for number, condition in enumerate(self.ground.conditions, 1):
            yield self._outputs(f"condition {number}: {condition.name}", condition.images, self.references)
        for images in self.labelled_shifts:
            yield self._outputs(f"source, {images.corruption} {images.severity}", images, self.score_references)

    @property
    def backbones(self) -> tuple[str, ...]:
        """Of the references, each once."""
        return tuple(dict.fromkeys(reference.backbone for reference in self.references if reference.backbone))

    @property
    def score_references(self) -> tuple[ReferenceSpec, ...]:
        """The references that scores consult."""
        named = {estimator.reference for estimator in self.estimators if estimator.is_score}
        return tuple(reference for reference in self.references if reference.name in named)

    @property
    def labelled_shifts(self) -> tuple[ImageSelection, ...]:
        """What scores are fitted on; nothing where no estimator is one."""
        return self.ground.labelled_shifts if any(estimator.is_score for estimator in self.estimators) else ()

    def _outputs(self, name: str, images: ImageSelection, references: Iterable[ReferenceSpec]) -> ModelOutputs:
        others = [of_reference(reference) for reference in references if reference.classifier]
        backbones = dict.fromkeys(reference.backbone for reference in references if reference.backbone)
        return ModelOutputs(name, images, (*self._everyone.values(), *others), tuple(backbones), self.threads)

    @cached_property
    def _everyone(self) -> dict[tuple[int, int, int], Checkpoint]:
        """Every classifier of the run by the places of its model and checkpoint, and its seed between them."""
        return {
            (number, seed, place): self._at(model, seed, epoch)
            for number, model in enumerate(self.models)
            for seed in self.seeds
            for place, epoch in enumerate(model.checkpoints)
        }

    def _at(self, model: ModelSpec, seed: int, epoch: int) -> Checkpoint:
        if model.weights:
            folder = model.weights.format(seed=seed, epoch=epoch)
            return in_folder(folder, label=model.label, seed=seed, epoch=epoch, architecture=model.architecture)
        recipe = read_spec(model.recipe | {"checkpoints": model.checkpoints}, Recipe)
        training = Training(model.label, model.architecture, recipe, seed, self.ground.training, self.threads)
        return Checkpoint(model.label, seed, epoch, training)


def tasks(spec: AccuracyEstimationSpec) -> list[AccuracyTask]:
    """Every (model, seed, checkpoint), models in the order of the spec."""
    return [
        part_of(spec, AccuracyTask, model=number, seed=seed, checkpoint=place)
        for number, model in enumerate(spec.models)
        for seed in spec.seeds
        for place in range(len(model.checkpoints))
    ]


def preparations(spec: AccuracyEstimationSpec, machine: Machine) -> tuple[Stage, ...]:
    """Return the stages: training, and running all models on every condition."""
    first = tasks(spec)[0]
    training = Stage("training", "trained", "epochs", machine, lambda: first.trainings)
    return training, Stage(*RUNNING, machine, lambda: first.outputs)


def inputs(task: AccuracyTask, machine: Machine) -> dict[str, str]:
    """Fingerprints of everything that a unit reads: a result depends on them."""
    ground = task.ground
    images = {"training pictures": ground.training, "source pictures": ground.source}
    fingerprints = {name: selection.load().fingerprint for name, selection in images.items()}
    fingerprints["conditions"] = digest([condition.images.load().fingerprint for condition in ground.conditions])
    fingerprints |= {f"weights of {name}": backbone(name, machine.device).fingerprint for name in task.backbones}
    fingerprints |= {f"classifier {checkpoint.folder}": checkpoint.key for checkpoint in task.folders}
    plug_ins = {spec.estimator: origin(spec.estimator) for spec in task.estimators}
    return fingerprints | {f"plug-in {name}": package for name, package in plug_ins.items() if package}
