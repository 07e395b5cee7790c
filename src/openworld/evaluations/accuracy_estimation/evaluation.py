"""Accuracy estimation as an evaluation: which parts it has."""

from openworld.evaluations.accuracy_estimation.spec import (
    ALGORITHM_VERSION,
    AccuracyEstimationSpec,
    evaluate,
    fingerprints,
    inputs,
    preparations,
    summary,
    tasks,
)
from openworld.evaluations.accuracy_estimation.task import Task
from openworld.evaluations.evaluation import ClassList, Evaluation
from openworld.evaluations.image_selection import DatasetSpec


def data(spec: AccuracyEstimationSpec) -> tuple[DatasetSpec, ...]:
    """Return what is trained on, and every natural shift."""
    return tuple(dict.fromkeys(one.data for one in (*spec.sources, *spec.targets)))


def class_lists(spec: AccuracyEstimationSpec) -> tuple[ClassList]:
    """Return the names of the models' classes."""
    names, first = spec.ground.names_of.load().classnames, spec.sources[0]
    return (ClassList(str(first), first.dataset, names, len(names)),)


def backbones(spec: AccuracyEstimationSpec) -> tuple[str, ...]:
    """Return those of the references."""
    return tuple(dict.fromkeys(one.backbone for one in spec.references if one.backbone))


EVALUATION = Evaluation(
    "accuracy-estimation",
    AccuracyEstimationSpec,
    Task,
    tasks,
    evaluate,
    ALGORITHM_VERSION,
    inputs,
    artifacts=preparations,
    summary=summary,
    fingerprints=fingerprints,
    data=data,
    class_lists=class_lists,
    backbones=backbones,
)
