"""What would fail in the middle of a run of OOD detection is refused at its beginning, before anything is trained."""

from collections.abc import Iterable

import torch

from openworld import classifiers, detectors
from openworld._errors import OpenworldError
from openworld.evaluations.judged_models import require_learner, require_names, require_negatives
from openworld.evaluations.ood_detection.task import DetectionTask
from openworld.evaluations.runtime import Machine

_ANY_STD = (1.0, 1.0, 1.0)
_CLASSES = 2


def require_able(tasks: Iterable[DetectionTask], machine: Machine) -> None:
    """Refuse too few images, a saved classifier of other classes, and detectors that model or images cannot serve.

    Args:
        tasks: of one run.

    Raises:
        OpenworldError: the first of these.
    """
    planned = list(tasks)
    _require_pictures(planned[0])
    first = {task.model: task for task in reversed(planned)}
    images = len(planned[0].ground.training.load())
    for task in first.values():
        _require_served(task, machine)
        detectors.require_images(task.judged_model.build(), images)


def _require_pictures(task: DetectionTask) -> None:
    ground, k = task.ground, task.division.k
    if len(ground.names) < _CLASSES:
        raise OpenworldError(
            f"{len(ground.names)} class is in distribution, expected {_CLASSES} or more; give a data set of more, or "
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
        require_learner(model, task.learner, task.ground.names, machine)
    require_negatives(model, task.ground.names)
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
    watched = detectors.watch(module, torch.zeros(1, 3, side, side), pixel_std=_ANY_STD)
    detectors.plan(model.build(), watched)
