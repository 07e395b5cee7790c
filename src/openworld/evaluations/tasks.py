"""Tasks of learners, before one is run: what they read is encoded, what cannot be learned is refused."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

import torch

from openworld.evaluations.disk_sets import DiskSet, by_training_set, made_first
from openworld.evaluations.entries import LearnerSpec
from openworld.evaluations.image_selection import ImageSelection
from openworld.evaluations.runtime import Machine
from openworld.features import (
    Encoding,
    default_cache,
    encode_together,
    encoded_size,
    fingerprint_of,
    hold_set,
    is_encoded,
)
from openworld.features.cache_limit import occupied
from openworld.learners import configure, find_learner, origin
from openworld.learners.engine.fitted import schedules_of
from openworld.learners.engine.requirements import offers_everything, require_able


class EncodingTask(Protocol):
    """What a task offers that reads encoded images, beside its fields."""

    name: str
    backbone: str

    @property
    def sources(self) -> Mapping[str, ImageSelection]:
        """The image sets that it reads, by the part that each plays; "train" is what is learned from."""
        ...

    def encoding(self, part: str) -> Encoding:
        """What is encoded of a part."""
        ...


class LearnerTask(EncodingTask, Protocol):
    """What a task of a learner offers."""

    learner: LearnerSpec
    seed: int

    @property
    def whole_sources(self) -> Iterable[ImageSelection]:
        """The image sets in which no class that is asked for may lack an image."""
        ...


def encode_tasks(
    tasks: Sequence[EncodingTask],
    machine: Machine,
    progress: Callable[[int, int], None] | None = None,
    workers: int = 1,
) -> int:
    """Encode what the tasks need and is not on disk, each image set in one pass; return how many images that were.

    Where the cache has a limit, that is what `made_first` says of so many `workers`.

    Args:
        progress: called with (images done, images to be encoded).
    """
    missing = not_encoded(tasks, machine, workers)
    limited = _made_first(tasks, machine, workers) if machine.cache_limit is not None else ()
    # Held, so that no set makes room for another.
    held = [hold_set(*_of_set(entry, machine), cache=machine.folder) for entry in limited]
    total, before = sum(len(source.load()) for source, _ in missing), 0
    for (source, name), encodings in missing.items():
        report = progress and (lambda done, _, before=before: progress(before + done, total))
        encode_together(machine.backbone(name), source.load(), encodings, progress=report, **machine.storage)
        before += len(source.load())
    del held
    return total


def not_encoded(
    tasks: Sequence[EncodingTask], machine: Machine, workers: int = 1
) -> dict[tuple[ImageSelection, str], list[Encoding]]:
    """Return {(image set, backbone): the encodings to make before the tasks begin}, for what is not on disk."""
    missing: dict[tuple[ImageSelection, str], list[Encoding]] = {}
    for entry in _made_first(tasks, machine, workers):
        if not is_encoded(*_of_set(entry, machine), cache=machine.folder):
            missing.setdefault(entry.images, []).append(entry.encoding)
    return missing


def _made_first(tasks: Sequence[EncodingTask], machine: Machine, workers: int) -> list[DiskSet]:
    """Return what, of all that the tasks read, is encoded before they begin."""
    needed = dict.fromkeys(
        (source, task.backbone, task.encoding(part))
        for task in in_order(tasks, machine)
        for part, source in task.sources.items()
    )
    sets = [
        DiskSet((source, name), how, encoded_size(machine.backbone(name).config, how, len(source.load())))
        for source, name, how in needed
    ]
    if machine.cache_limit is None:
        return sets
    cache = machine.folder or default_cache()
    folders = (cache / fingerprint_of(*_of_set(entry, machine)) for entry in sets)
    return made_first(sets, machine.cache_limit, workers, occupied(cache, folders))


def _of_set(entry: DiskSet, machine: Machine) -> tuple:
    """(backbone, images, encoding), as functions of encoded image sets take them."""
    source, name = entry.images
    return machine.backbone(name), source.load(), entry.encoding


def in_order(tasks: Sequence[EncodingTask], machine: Machine) -> list[EncodingTask]:
    """The tasks as they come; where the cache has a limit, all that use a training set one after the other."""
    if machine.cache_limit is None:
        return list(tasks)
    drawn = [(task.sources["train"], task.backbone, task.encoding("train")) for task in tasks]
    return [tasks[number] for number in by_training_set(drawn)]


def fingerprints_of(tasks: Sequence[EncodingTask]) -> dict[str, str]:
    """What pictures the tasks read: a hash per image set."""
    sources = dict.fromkeys(source for task in tasks for source in task.sources.values())
    return {str(source): source.fingerprint for source in sources}


def require_learnable(tasks: Sequence[LearnerTask], machine: Machine) -> None:
    """Refuse a class without an image, and a learner that needs more than the backbone has."""
    for images in {images: None for task in tasks for images in task.whole_sources}:
        images.require_every_class()
    _require_able(tasks, machine)


def effort(task: LearnerTask, machine: Machine) -> tuple[float, ...]:
    """Return steps of training, and among equals how many numbers are learned; (0, 0) where nothing is.

    Where the cache has a limit, (): training sets decide the order then.
    """
    if machine.cache_limit is not None:
        return ()
    learner = configure(find_learner(task.learner.learner), task.learner.settings)
    if not schedules_of(learner):
        return 0, 0
    images, clip = task.sources["train"].load(), machine.backbone(task.backbone)
    start = learner.start(clip, images.classnames, torch.Generator().manual_seed(0))
    steps = sum(schedule.epochs * schedule.steps(len(images)) for schedule in schedules_of(learner))
    return steps, sum(tensor.numel() for tensor in start.values())


def _require_able(tasks: Sequence[LearnerTask], machine: Machine) -> None:
    """Try every learner on its backbone; one whose towers take all that ours give needs no trial."""
    wanted = {(task.backbone, task.learner.learner): task.learner for task in tasks}
    for (name, learner), entry in wanted.items():
        clip = machine.backbone(name)
        if not offers_everything(clip):
            require_able(clip, configure(find_learner(learner), entry.settings))


def inputs_of(task: LearnerTask, machine: Machine) -> dict[str, str]:
    """Fingerprints of the weights and pictures that a task reads, and `other_inputs`."""
    weights = machine.backbone(task.backbone).fingerprint
    images = {part: source.fingerprint for part, source in task.sources.items()}
    return {"weights": weights} | other_inputs(task, machine) | images


def other_inputs(task: LearnerTask, machine: Machine) -> dict[str, str]:
    """What else a result depends on: package and version of a learner that is none of ours, a precision not the usual.

    Keys of runs with learners of ours in float32 hold neither.
    """
    package = origin(task.learner.learner)
    precision = "" if machine.precision == "float32" else machine.precision
    return {name: value for name, value in {"plug-in": package, "precision": precision}.items() if value}
