"""OOD detection on named sets as an evaluation: which parts it has."""

from collections.abc import Sequence

from openworld.evaluations.evaluation import ClassList, Evaluation
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.judged_models import require_learner, require_negatives
from openworld.evaluations.ood_benchmark.spec import OODBenchmarkSpec
from openworld.evaluations.ood_benchmark.task import OODBenchmarkTask, images_of, inputs, preparations, tasks
from openworld.evaluations.ood_benchmark.unit import evaluate
from openworld.evaluations.runtime import Machine


def summary(spec: OODBenchmarkSpec) -> list[str]:
    """Return what is run on what, in a few words each."""
    labels = dict.fromkeys(detector.label for model in spec.models for detector in model.detectors)
    return [
        f"{' + '.join(map(str, spec.sources))}, {spec.classes} classes, against {len(spec.sets)} set(s)",
        f"{len(spec.models)} model(s)",
        f"{len(labels)} detector(s)",
        *([f"settings searched on {' + '.join(map(str, spec.validation_sets))}"] if spec.validation_sets else []),
    ]


def fingerprints(spec: OODBenchmarkSpec) -> dict[str, str]:
    """Return a hash of every image set that the run reads."""
    ground = spec.ground
    sets = {"training": ground.training, "in-distribution test": ground.test}
    sets |= {each.name: images_of(each, ground) for each in spec.sets}
    sets |= {f"validation, {each}": images_of(each, ground) for each in spec.validation_sets}
    return {name: images.load().fingerprint for name, images in sets.items()}


def data(spec: OODBenchmarkSpec) -> tuple[DatasetSpec, ...]:
    """Return the in-distribution data sets, and those that are tested beside them."""
    return tuple(dict.fromkeys(entry.data for entry in (*spec.sources, *spec.sets, *spec.validation_sets)))


def class_lists(spec: OODBenchmarkSpec) -> tuple[ClassList]:
    """Return the in-distribution names."""
    names, first = spec.ground.names, spec.sources[0]
    return (ClassList(str(first), first.dataset, names, len(names)),)


def require(planned: Sequence[OODBenchmarkTask], machine: Machine) -> None:
    """Refuse detectors that learn from more images than there are, and learners that cannot be served."""
    ground = planned[0].ground
    images = len(ground.training.load())
    for task in planned:
        if learner := task.seeded.learner:
            require_learner(task.judged, learner, ground.names, machine)
        require_negatives(task.judged, ground.names)
        task.judged.candidates(search=bool(task.validation_sets)).require_images(images)


EVALUATION = Evaluation(
    "ood-benchmark",
    OODBenchmarkSpec,
    OODBenchmarkTask,
    tasks,
    evaluate,
    2,
    inputs,
    artifacts=preparations,
    require=require,
    summary=summary,
    fingerprints=fingerprints,
    data=data,
    class_lists=class_lists,
    backbones=lambda spec: tuple(dict.fromkeys(model.backbone for model in spec.models if model.backbone)),
)
