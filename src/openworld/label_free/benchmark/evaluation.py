"""Accuracy estimation as an evaluation: which parts it has."""

from openworld.evaluations.evaluation import ClassList, Evaluation
from openworld.evaluations.image_selection import DatasetSpec
from openworld.label_free.benchmark.spec import AccuracyEstimationSpec
from openworld.label_free.benchmark.task import AccuracyTask, inputs, preparations, tasks
from openworld.label_free.benchmark.unit import evaluate
from openworld.report.sentences import counted

ALGORITHM_VERSION = 4


def summary(spec: AccuracyEstimationSpec) -> list[str]:
    """Return what is run on what, in a few words each."""
    kinds = [condition.kind for condition in spec.ground.conditions]
    counts = [f"{kinds.count(kind)} {kind}" for kind in ("natural", "synthetic") if kind in kinds]
    checkpoints = sum(len(model.checkpoints) for model in spec.models)
    return [
        f"{' + '.join(map(str, spec.sources))} → {' and '.join(counts)} conditions",
        f"{counted(len(spec.models), 'model')}, {counted(checkpoints, 'checkpoint')} of each seed",
        counted(len(spec.estimators), "estimator"),
    ]


def fingerprints(spec: AccuracyEstimationSpec) -> dict[str, str]:
    """Return a hash of every image set that the run reads."""
    ground = spec.ground
    sets = {"training": ground.training, "source": ground.source}
    sets |= {condition.name: condition.images for condition in ground.conditions}
    return {name: images.load().fingerprint for name, images in sets.items()}


def data(spec: AccuracyEstimationSpec) -> tuple[DatasetSpec, ...]:
    """Return what is trained on, every natural shift, and published corruptions."""
    every = (*spec.sources, *spec.targets, *spec.ground.corrupted_sets)
    return tuple(dict.fromkeys(data_set.data for data_set in every))


def class_lists(spec: AccuracyEstimationSpec) -> tuple[ClassList]:
    """Return the names of the models' classes."""
    names, first = spec.ground.names_of.load().classnames, spec.sources[0]
    return (ClassList(str(first), first.dataset, names, len(names)),)


def backbones(spec: AccuracyEstimationSpec) -> tuple[str, ...]:
    """Return those of the references."""
    return tuple(dict.fromkeys(reference.backbone for reference in spec.references if reference.backbone))


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
    backbones=backbones,
)
