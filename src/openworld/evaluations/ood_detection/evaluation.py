"""Detection of what is out of distribution as an evaluation: its parts, and what is refused before it begins."""

from collections.abc import Iterable

import torch

from openworld import classifiers, detectors
from openworld._errors import OpenworldError
from openworld.evaluations.evaluation import ClassList, Evaluation
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.judged_models import require_learner, require_names, require_negatives
from openworld.evaluations.ood_detection.spec import OODDetectionSpec
from openworld.evaluations.ood_detection.task import DetectionTask, inputs, preparations, tasks
from openworld.evaluations.ood_detection.unit import evaluate
from openworld.evaluations.runtime import Machine

ALGORITHM_VERSION = 6
ANY_STD = (1.0, 1.0, 1.0)
CLASSES = 2


def summary(spec: OODDetectionSpec) -> list[str]:
    """Return what is run on what, in a few words each."""
    pool = f"{len(spec.pool)} image set(s)" if spec.pool else "given cells"
    detectors = dict.fromkeys(detector.label for model in spec.models for detector in model.detectors)
    classes, left_out = f"{spec.classes} classes", len(spec.ground.left_out)
    if spec.says_classes:
        classes = f"{len(spec.ground.names)} classes" + (f", {left_out} left out" if left_out else "")
    return [
        f"{' + '.join(map(str, spec.sources))}, {classes}, against {pool}",
        f"{len(spec.models)} model(s)",
        f"{len(detectors)} detector(s)",
    ]


def fingerprints(spec: OODDetectionSpec) -> dict[str, str]:
    """Return a hash of every image set that the run reads."""
    ground = spec.ground
    sets = {"training": ground.training, "in-distribution test": ground.test}
    fingerprints = {name: images.load().fingerprint for name, images in sets.items()}
    return fingerprints | {"pool": ground.load_pool().images.fingerprint}


def data(spec: OODDetectionSpec) -> tuple[DatasetSpec, ...]:
    """Return the in-distribution data sets, and those of the pool."""
    return tuple(dict.fromkeys(entry.data for entry in (*spec.sources, *spec.pool)))


def class_lists(spec: OODDetectionSpec) -> tuple[ClassList]:
    """Return the in-distribution names."""
    names, first = spec.ground.names, spec.sources[0]
    return (ClassList(str(first), first.dataset, names, len(names)),)


def backbones(spec: OODDetectionSpec) -> tuple[str, ...]:
    """Return the one whose features are split, and the two-tower models."""
    split = (spec.decomposition.backbone,) if spec.pool else ()
    return tuple(dict.fromkeys([*split, *(model.backbone for model in spec.models if model.backbone)]))


def require_able(planned: Iterable[DetectionTask], machine: Machine) -> None:
    """Refuse too few images, a saved classifier of other classes, and detectors that model or images cannot serve."""
    planned = list(planned)
    _require_pictures(planned[0])
    first = {task.model: task for task in reversed(planned)}
    images = len(planned[0].ground.training.load())
    for task in first.values():
        _require_served(task, machine)
        detectors.require_images(task.judged_model.build(), images)


def _require_pictures(task: DetectionTask) -> None:
    ground, k = task.ground, task.division.k
    if len(ground.names) < CLASSES:
        raise OpenworldError(
            f"{len(ground.names)} class is in distribution, expected {CLASSES} or more; give a data set of more, or "
            "classes = 'all'."
        )
    count = len(ground.training.load())
    if not ground.cells and count < k:
        raise OpenworldError(
            f"shift degrees are distances to training image number {k}, and there are {count}; give more shots, or a "
            "smaller k."
        )


def _require_served(task: DetectionTask, machine: Machine) -> None:
    """Plan its detectors on an image of zeros; what is trained here is built, untrained, for that."""
    model = task.judged_model
    if model.learner:
        require_learner(model, task.seeded.learner, task.ground.names, machine)
    require_negatives(model, task.ground.names)
    if model.kind != "classifier":
        return
    if model.weights:
        classifier = task.seeded.classifier.load(machine)
        require_names(model, classifier.classnames, task.ground.names)
        module, side = classifier.module.cpu(), classifier.side
    else:
        recipe = task.seeded.classifier.training.recipe
        side = recipe.side
        with torch.random.fork_rng(devices=()):
            module = classifiers.build(model.architecture, len(task.ground.names), side).eval()
    watched = detectors.watch(module, torch.zeros(1, 3, side, side), pixel_std=ANY_STD)
    detectors.plan(model.build(), watched)


EVALUATION = Evaluation(
    "ood-detection",
    OODDetectionSpec,
    DetectionTask,
    tasks,
    evaluate,
    ALGORITHM_VERSION,
    inputs,
    artifacts=preparations,
    require=require_able,
    summary=summary,
    fingerprints=fingerprints,
    data=data,
    class_lists=class_lists,
    backbones=backbones,
)
