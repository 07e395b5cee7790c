"""Detection of what is out of distribution as an evaluation: its parts, and what is refused before it begins."""

from collections.abc import Sequence

import torch

from openworld import classifiers, detectors
from openworld._errors import OpenworldError
from openworld.evaluations.evaluation import ClassList, Evaluation
from openworld.evaluations.runtime import Machine
from openworld.ood.by_shift.spec import OODDetectionSpec, inputs, preparations
from openworld.ood.by_shift.unit import evaluate
from openworld.ood.judged_models import require_names

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


def class_lists(spec: OODDetectionSpec) -> tuple[ClassList]:
    """Return the in-distribution names."""
    names, first = spec.ground.names, spec.sources[0]
    return (ClassList(str(first), first.dataset, names, len(names)),)


def backbones(spec: OODDetectionSpec) -> tuple[str, ...]:
    """Return the one whose features are split, and the two-tower models."""
    split = (spec.decomposition.backbone,) if spec.pool else ()
    return tuple(dict.fromkeys([*split, *(model.backbone for model in spec.models if model.backbone)]))


def require(planned: Sequence[OODDetectionSpec], machine: Machine) -> None:
    """Refuse too few images, a saved classifier of other classes, and detectors that model or images cannot serve."""
    task = planned[0]
    if len(task.ground.names) < CLASSES:
        raise OpenworldError(
            f"{len(task.ground.names)} class is in distribution, expected {CLASSES} or more; give a data set of more, "
            "or classes = 'all'."
        )
    images = len(task.ground.training.load())
    if not task.cells and images < task.k:
        raise OpenworldError(
            f"shift degrees are distances to training image number {task.k}, and there are {images}; give more shots, "
            "or a smaller k."
        )
    for task in {task.model.label: task for task in reversed(planned)}.values():
        _require_served(task, machine)
        detectors.require_images(task.model.build(), images)


def _require_served(task: OODDetectionSpec, machine: Machine) -> None:
    """Plan its detectors on an image of zeros; what is trained here is built, untrained, for that."""
    model = task.model
    task.require_model(machine)
    if model.kind != "classifier":
        return
    if model.weights:
        classifier = task.classifier.load(machine)
        require_names(model, classifier.classnames, task.ground.names)
        module, side = classifier.module.cpu(), classifier.side
    else:
        recipe = task.classifier.training.recipe
        side = recipe.side
        with torch.random.fork_rng(devices=()):
            module = classifiers.build(model.architecture, len(task.ground.names), side).eval()
    watched = detectors.watch(module, torch.zeros(1, 3, side, side), pixel_std=ANY_STD)
    detectors.plan(model.build(), watched)


EVALUATION = Evaluation(
    "ood-detection",
    OODDetectionSpec,
    lambda spec: spec.tasks,
    evaluate,
    version=7,
    inputs=inputs,
    artifacts=preparations,
    require=require,
    summary=summary,
    fingerprints=fingerprints,
    class_lists=class_lists,
    backbones=backbones,
)
