"""Accuracy estimation as an evaluation: its units, one checkpoint of one model each, and which model sees what."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from openworld.classifiers import Recipe
from openworld.core.errors import present
from openworld.estimators import origin
from openworld.evaluations.artifacts import Stage
from openworld.evaluations.classifiers import Checkpoint, Training, in_folder, of_reference
from openworld.evaluations.entries import ReferenceSpec
from openworld.evaluations.evaluation import ClassList, Evaluation
from openworld.evaluations.image_selection import DatasetSpec, ImageSelection
from openworld.evaluations.model_outputs import RUNNING, ModelOutputs
from openworld.evaluations.runtime import Machine, backbone
from openworld.label_free.benchmark.spec import AccuracyEstimationSpec, ModelSpec
from openworld.label_free.benchmark.unit import evaluate
from openworld.report.sentences import counted
from openworld.runs import digest, read_spec

ALGORITHM_VERSION = 4


@dataclass(frozen=True)
class AccuracyTask:
    """One unit's share of a spec: which of the models is judged, at which seed and checkpoint."""

    spec: AccuracyEstimationSpec  # all of it: the other models are partners
    model: int  # its place in `models`
    seed: int
    checkpoint: int  # its place among those of its model

    @property
    def name(self) -> str:
        return f"{self.judged.label}, seed {self.seed}, epoch {self.judged.epoch}"

    @property
    def threads(self) -> int:
        return self.spec.threads

    @property
    def is_first(self) -> bool:
        """Whether it is the first unit of its run, which keeps the images for the report."""
        return (self.model, self.seed, self.checkpoint) == (0, self.spec.seeds[0], 0)

    @property
    def judged(self) -> Checkpoint:
        return self.everyone[self.model, self.seed, self.checkpoint]

    @property
    def partners(self) -> tuple[Checkpoint, ...]:
        """Its own next seed, its further seeds, then the other models, all at the same place in their checkpoints."""
        models, place = self.spec.models, self.spec.seeds.index(self.seed)
        seeds = (*self.spec.seeds[place + 1 :], *self.spec.seeds[:place])
        others = (*range(self.model + 1, len(models)), *range(self.model))
        pairs = [(self.model, seed) for seed in seeds]
        pairs += [(model, seed) for model in others for seed in (self.seed, *seeds)]
        # A model with fewer checkpoints takes part with its last one.
        last = [len(model.checkpoints) - 1 for model in models]
        return tuple(self.everyone[model, seed, min(self.checkpoint, last[model])] for model, seed in pairs)

    @property
    def score_references(self) -> tuple[ReferenceSpec, ...]:
        names = {estimator.reference for estimator in self.spec.estimators if estimator.is_score}
        return tuple(reference for reference in self.spec.references if reference.name in names)

    @cached_property
    def everyone(self) -> dict[tuple[int, int, int], Checkpoint]:
        """Every classifier of the run by the places of its model and checkpoint, and its seed between them."""
        return {
            (number, seed, place): self._at(model, seed, epoch)
            for number, model in enumerate(self.spec.models)
            for seed in self.spec.seeds
            for place, epoch in enumerate(model.checkpoints)
        }

    def _at(self, model: ModelSpec, seed: int, epoch: int) -> Checkpoint:
        if model.weights:
            folder = model.weights.format(seed=seed, epoch=epoch)
            return in_folder(folder, label=model.label, seed=seed, epoch=epoch, architecture=model.architecture)
        recipe = read_spec(model.recipe | {"checkpoints": model.checkpoints}, Recipe)
        training = Training(model.label, model.architecture, recipe, seed, self.spec.training, self.threads)
        return Checkpoint(model.label, seed, epoch, training)

    @property
    def outputs(self) -> Iterator[ModelOutputs]:
        yield self._outputs("source", self.spec.source, self.spec.references)
        for number, condition in enumerate(self.spec.conditions, 1):
            images = present(condition.images, "its images")
            yield self._outputs(f"condition {number}: {condition.name}", images, self.spec.references)
        for images in self.spec.labelled_shifts:
            yield self._outputs(f"source, {images.corruption} {images.severity}", images, self.score_references)

    def _outputs(self, name: str, images: ImageSelection, references: Iterable[ReferenceSpec]) -> ModelOutputs:
        others = [of_reference(reference) for reference in references if reference.classifier]
        classifiers = (*self.everyone.values(), *others)
        return ModelOutputs(name, images, classifiers, _backbones(references), self.threads)


def tasks(spec: AccuracyEstimationSpec) -> list[AccuracyTask]:
    """Every (model, seed, checkpoint), models in the order of the spec."""
    return [
        AccuracyTask(spec, number, seed, place)
        for number, model in enumerate(spec.models)
        for seed in spec.seeds
        for place in range(len(model.checkpoints))
    ]


def preparations(spec: AccuracyEstimationSpec, machine: Machine) -> tuple[Stage, ...]:
    """Return the stages: training, and running all models on every condition."""
    first = tasks(spec)[0]

    def trainings() -> Iterable[Training]:
        return dict.fromkeys(each.training for each in first.everyone.values() if each.training)

    training = Stage("training", "trained", "epochs", machine, trainings)
    return training, Stage(*RUNNING, machine, lambda: first.outputs)


def inputs(task: AccuracyTask, machine: Machine) -> dict[str, str]:
    """Fingerprints of everything that a unit reads: a result depends on them."""
    spec = task.spec
    fingerprints = {"training images": spec.training.fingerprint, "source images": spec.source.fingerprint}
    images = [present(condition.images, "its images") for condition in spec.conditions]
    fingerprints["conditions"] = digest([each.fingerprint for each in images])
    fingerprints |= {
        f"weights of {name}": backbone(name, machine.device).fingerprint for name in _backbones(spec.references)
    }
    referred = [of_reference(reference) for reference in spec.references if reference.classifier]
    loaded = [each for each in task.everyone.values() if each.folder]
    fingerprints |= {f"classifier {each.folder}": each.key for each in (*loaded, *referred)}
    plug_ins = {estimator.estimator: origin(estimator.estimator) for estimator in spec.estimators}
    return fingerprints | {f"plug-in {name}": package for name, package in plug_ins.items() if package}


def summary(spec: AccuracyEstimationSpec) -> list[str]:
    """Return what is run on what, in a few words each."""
    kinds = [condition.kind for condition in spec.conditions]
    counts = [f"{kinds.count(kind)} {kind}" for kind in ("natural", "synthetic") if kind in kinds]
    checkpoints = sum(len(model.checkpoints) for model in spec.models)
    return [
        f"{' + '.join(map(str, spec.sources))} → {' and '.join(counts)} conditions",
        f"{counted(len(spec.models), 'model')}, {counted(checkpoints, 'checkpoint')} of each seed",
        counted(len(spec.estimators), "estimator"),
    ]


def fingerprints(spec: AccuracyEstimationSpec) -> dict[str, str]:
    """Return a hash of every image set that the run reads."""
    sets = {"training": spec.training, "source": spec.source}
    sets |= {condition.name: present(condition.images, "its images") for condition in spec.conditions}
    return {name: images.fingerprint for name, images in sets.items()}


def data(spec: AccuracyEstimationSpec) -> tuple[DatasetSpec, ...]:
    """Return what is trained on, every natural shift, and published corruptions, each in its first condition."""
    files = (DatasetSpec(spec.corrupted_files),) if spec.corrupted_files and spec.corruptions else ()
    return tuple(dict.fromkeys(data_set.data for data_set in (*spec.sources, *spec.targets, *files)))


def class_lists(spec: AccuracyEstimationSpec) -> tuple[ClassList]:
    names, first = spec.names_of.load().classnames, spec.sources[0]
    return (ClassList(str(first), first.dataset, names, len(names)),)


def _backbones(references: Iterable[ReferenceSpec]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(reference.backbone for reference in references if reference.backbone))


EVALUATION = Evaluation(
    "accuracy-estimation",
    AccuracyEstimationSpec,
    tasks,
    evaluate,
    ALGORITHM_VERSION,
    inputs,
    task=AccuracyTask,
    artifacts=preparations,
    summary=summary,
    fingerprints=fingerprints,
    data=data,
    class_lists=class_lists,
    backbones=lambda spec: _backbones(spec.references),
)
