"""Decomposed zero-shot accuracy as an evaluation: which parts it has."""

from openworld.evaluations.decomposed_zero_shot.task import (
    ALGORITHM_VERSION,
    DecomposedTask,
    DecomposedZeroShotSpec,
    evaluate,
    fingerprints,
    inputs,
    preparations,
    summary,
    tasks,
)
from openworld.evaluations.evaluation import ClassList, Evaluation
from openworld.evaluations.image_selection import DatasetSpec


def data(spec: DecomposedZeroShotSpec) -> tuple[DatasetSpec, ...]:
    """Return the images, and the data sets whose names teach."""
    return tuple(dict.fromkeys([*(entry.data for entry in spec.sets), *map(DatasetSpec, spec.names)]))


def class_lists(spec: DecomposedZeroShotSpec) -> tuple[ClassList]:
    """Return the names that images are given."""
    names, first = spec.ground.names_of.load().classnames, spec.sets[0]
    return (ClassList(str(first), first.dataset, names, len(names)),)


EVALUATION = Evaluation(
    "decomposed-zero-shot",
    DecomposedZeroShotSpec,
    DecomposedTask,
    tasks,
    evaluate,
    ALGORITHM_VERSION,
    inputs,
    artifacts=preparations,
    summary=summary,
    fingerprints=fingerprints,
    data=data,
    class_lists=class_lists,
    backbones=lambda spec: (spec.backbone,),
)
