"""The work of a unit: the detectors of a model score the test images and every set, which are then held apart."""

from collections.abc import Iterator

import numpy as np

from openworld.datasets import ImageSet
from openworld.evaluations.classifier_scores import classifier_scores, searched_classifier_scores
from openworld.evaluations.images_to_score import ReadableImages
from openworld.evaluations.judged_models import require_names
from openworld.evaluations.model_scores import ModelScores, encoded_scores
from openworld.evaluations.ood_benchmark.record import OODBenchmarkRecord
from openworld.evaluations.ood_benchmark.task import OODBenchmarkTask
from openworld.evaluations.record_images import thumbnail
from openworld.evaluations.rows import rows_of_unit
from openworld.evaluations.runtime import Clock, Machine, encoded
from openworld.metrics import accuracy
from openworld.results import METRICS, Result, Value, interval_of
from openworld.results.detection_results import detection_results
from openworld.results.scored_sets import OTHER_CLASSES, WORST_IMAGES, ScoredSets, SetScores, score_columns
from openworld.results.settings_search import search_results
from openworld.runs import UnitResult, to_json


def evaluate(task: OODBenchmarkTask, machine: Machine) -> UnitResult:
    """Score the test images and every set with all detectors of one model, and hold each against the test images."""
    clock = Clock(machine)
    test, others = task.ground.test.load(), [images.load() for images in task.set_images]
    readable = [_readable(task, images, machine) for images in (test, *others)]
    scores = _scores(task, readable, machine)
    clock.stop("scores")
    sets = scored_sets(task, readable, scores)
    results = detection_results(sets, replicates=task.replicates, seed=task.seed)
    clock.stop("numbers")
    right = accuracy(scores.prediction == test.labels[readable[0].rows], groups=test.groups[readable[0].rows])
    record = OODBenchmarkRecord(
        "ood-benchmark",
        task.judged.label,
        task.judged.kind,
        task.seed,
        len(test.classnames),
        len(task.ground.training.load()),
        tuple({"label": detector.label, **to_json(detector)} for detector in task.judged.detectors),
        tuple(dict.fromkeys(scores.warnings)),
        scores.learner,
    )
    named = Value(right.value, interval_of(right.interval, "images", len(sets.test)))
    rows = [Result(task.judged.label, METRICS["accuracy"], named), *(row for row in results if row.entity)]
    searched = search_results(scores.searches, seed=task.seed)
    counts = (Result("", METRICS["images"], Value(len(each)), {"group": each.group, "set": each.name})
              for each in sets.all)  # fmt: skip
    kept = rows_of_unit("ood-benchmark", rows, seed=task.seed, shared=(*counts, *searched)) | dict(
        _thumbnails(sets, readable)
    )
    return UnitResult(
        outputs={"images": score_columns(sets)}, metrics=to_json(record), attachments=kept, timing=clock.timing
    )


def scored_sets(task: OODBenchmarkTask, readable: list[ReadableImages], scores: ModelScores) -> ScoredSets:
    """Return the scores set by set."""
    ends = np.cumsum([len(part.rows) for part in readable[1:]])[:-1]
    pools = {label: np.split(values, ends) for label, values in scores.pool.items()}
    inside = scores.inside or [{}] * len(task.sets)
    parts = [("test", "id", scores.test, {})]
    parts += [
        (each.name, each.group, {label: values[place] for label, values in pools.items()}, inside[place])
        for place, each in enumerate(task.sets)
    ]
    test, *others = (
        SetScores(name, group, own, np.array([part.images.path_of(row) for row in part.rows.tolist()], object),
                  np.array([f"{name}/{number}" for number in part.images.groups[part.rows].tolist()]), None, streams)
        for (name, group, own, streams), part in zip(parts, readable, strict=True)
    )  # fmt: skip
    return ScoredSets(test, tuple(others))


def _scores(task: OODBenchmarkTask, readable: list[ReadableImages], machine: Machine) -> ModelScores:
    model, test = task.judged, readable[0]
    if task.scoring:
        require_names(model, task.seeded.classifier.load(machine).classnames, test.images.classnames)
        return classifier_scores(task.scoring, machine)
    training, validation = task.ground.training.load(), [images.load() for images in task.validation]
    if classifier := task.seeded.classifier:
        loaded = classifier.load(machine)
        require_names(model, loaded.classnames, test.images.classnames)
        known, *held_out = (_readable(task, images, machine) for images in (training, *validation))
        return searched_classifier_scores(model, loaded, known, readable, machine.device, held_out)
    images, sets = (training, test.images), [part.images for part in readable[1:]]
    return encoded_scores(task.seeded, images, sets, machine, one_stream=False, validation=validation)


def _readable(task: OODBenchmarkTask, images: ImageSet, machine: Machine) -> ReadableImages:
    """What can be read, as encoding shows; a classifier must be able to read all."""
    if task.judged.backbone:
        return ReadableImages(images, encoded(images, task.judged.backbone, machine).rows[:])
    return ReadableImages(images, np.arange(len(images)))


def _thumbnails(sets: ScoredSets, readable: list[ReadableImages]) -> Iterator[tuple[str, bytes]]:
    """Yield the images that the detectors are most wrong about, by set and place."""
    for number, (each, part) in enumerate(zip(sets.all, readable, strict=True)):
        if part.images.embeddings is not None or each.group not in ("id", *OTHER_CLASSES):
            continue
        sign = 1 if each.group == "id" else -1
        orders = (np.argsort(sign * values, kind="stable") for values in each.scores.values())
        worst = {int(place) for order in orders for place in order[:WORST_IMAGES]}
        for place in sorted(worst):
            yield f"pictures/{number}/{place}.png", thumbnail(part.images.image(int(part.rows[place])))
