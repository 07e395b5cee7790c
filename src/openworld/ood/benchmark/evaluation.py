"""OOD detection on named sets as an evaluation: what is there before its tasks, and the work of a unit.

The detectors of a model score the test images and every set, which are then held apart.
"""

from collections.abc import Iterator

import numpy as np

from openworld.core.errors import present
from openworld.datasets import ImageSet
from openworld.evaluations.artifacts import Stage
from openworld.evaluations.evaluation import Evaluation
from openworld.evaluations.rows import rows_of_unit, thumbnail
from openworld.evaluations.runtime import Clock, Machine, backbone
from openworld.metrics import accuracy
from openworld.ood.benchmark.report import ranked
from openworld.ood.benchmark.spec import OODBenchmarkSpec
from openworld.ood.detection_results import detection_results
from openworld.ood.feature_model import has_pixels
from openworld.ood.judged_models import class_lists, require_models, trainings
from openworld.ood.models import ImageAnswers
from openworld.ood.scored_sets import OTHER_CLASSES, ScoredSets, SetScores, score_columns
from openworld.ood.scoring import ModelScores, Scores, score, stages_of
from openworld.ood.thresholds import choose_thresholds, fitted_bytes, flagged_results
from openworld.results import METRICS, Result, Value, interval_of
from openworld.results.settings_search import search_results
from openworld.runs import UnitResult

Shown = tuple[SetScores, ImageSet, np.ndarray]
"""Scores of a set, its images, and int64[n], which of them they are of."""


def evaluate(task: OODBenchmarkSpec, machine: Machine) -> UnitResult:
    """Score the test images and every set with all detectors of one model, and hold each against the test images."""
    clock, seed = Clock(machine), task.seed
    scores = score(task, machine)
    clock.stop("scores")
    examples = list(_shown(task, scores))
    test, *rest = (each for each, _, _ in examples)
    validation = rest.pop(0) if task.tells_validation else None
    sets = ScoredSets(test, tuple(rest), validation)
    results = detection_results(sets, replicates=task.replicates, seed=seed, tests=False)  # which several models share
    clock.stop("numbers")

    rows = [row for row in results if row.entity]
    _, images, read = examples[0]
    # A model of this process may count its classes otherwise.
    if not task.model.own or tuple(scores.model.classnames) == images.classnames:
        prediction = present(scores.test.prediction, "the prediction")
        right = accuracy(np.equal(prediction, images.labels[read]), groups=images.groups[read])
        value = Value(right.value, interval_of(right.interval, "images", len(test)))
        rows.insert(0, Result(task.model.label, METRICS["accuracy"], value))
    attachments = {}
    for number, (each, shown, places) in enumerate(examples):
        if has_pixels(shown) and each.group in ("id", *OTHER_CLASSES) and each.name != "validation":
            worst = {place for name in each.scores for place in each.worst(name).tolist()}
            for place in sorted(worst):  # the images that the detectors are most wrong about
                attachments[f"images/{number}/{place}.png"] = thumbnail(shown.image(int(places[place])))
    if task.flag_rate is not None:
        thresholds = choose_thresholds(sets, task.flag_rate, ranked(sets, results))
        rows += flagged_results(sets, thresholds)
        attachments |= fitted_bytes({label: scores.fitted[label] for label in thresholds.thresholds})
    counts = (Result("", METRICS["images"], Value(len(each)), {"group": each.group, "set": each.name})
              for each in sets.all)  # fmt: skip
    lost = sum(len(whole) - len(read) for _, whole, read in examples)
    notes = (f"{lost} image(s) could not be read and count nowhere.",) if lost else ()
    facts = {"training_images": len(task.training.image_set)}
    shared = (*counts, *search_results(scores.searches, seed=seed))
    return UnitResult(
        outputs={"images": score_columns(sets)},
        metrics=scores.facts(task, len(images.classnames), notes) | facts,
        attachments=attachments | rows_of_unit("ood-benchmark", rows, seed=seed, shared=shared),
        timing=clock.timing,
    )


def _shown(task: OODBenchmarkSpec, scores: ModelScores) -> Iterator[Shown]:
    """Yield the test images, validation images where they are scored, and every set."""

    def of(name: str, group: str, images: ImageSet, answers: ImageAnswers, inside: Scores) -> Shown:
        rows = answers.rows
        paths = np.array([images.path_of(row) for row in rows.tolist()], object)
        clusters = np.array([f"{name}/{number}" for number in images.groups[rows].tolist()])
        return SetScores(name, group, answers.scores, paths, clusters, None, inside), images, rows

    yield of("test", "id", task.test.image_set, scores.test, {})
    if task.tells_validation:
        images = present(task.validation, "the validation images").image_set
        yield of("validation", "id", images, present(scores.validation, "the scores of these"), {})
    for entry, images, answers, inside in zip(task.sets, task.others, scores.sets, scores.inside, strict=True):
        yield of(entry.name, entry.group, images.image_set, answers, inside)


def preparations(spec: OODBenchmarkSpec, machine: Machine) -> tuple[Stage, ...]:
    tasks = spec.tasks
    return (*trainings(tasks, machine), *stages_of(tasks, machine))


def inputs(task: OODBenchmarkSpec, machine: Machine) -> dict[str, str]:
    hashes = fingerprints(task)
    if name := task.model.backbone:
        hashes[f"weights of {name}"] = backbone(name, machine.device).fingerprint
    return hashes | task.model_inputs(machine)


def summary(spec: OODBenchmarkSpec) -> list[str]:
    searched = f"settings searched on {' + '.join(map(str, spec.validation_sets))}"
    words = spec.compared(f"{spec.classes} classes", f"{len(spec.sets)} set(s)")
    return [*words, searched] if spec.validation_sets else words


def fingerprints(spec: OODBenchmarkSpec) -> dict[str, str]:
    sets = {"training": spec.training, "in-distribution test": spec.test}
    sets |= {images.title: images for images in spec.others}
    if spec.validation:
        sets["in-distribution validation"] = spec.validation
    sets |= {f"validation, {images.title}": images for images in spec.strange}
    return {name: images.image_set.fingerprint for name, images in sets.items()}


EVALUATION = Evaluation(
    "ood-benchmark",
    OODBenchmarkSpec,
    lambda spec: spec.tasks,
    evaluate,
    3,
    inputs,
    artifacts=preparations,
    require=require_models,
    summary=summary,
    fingerprints=fingerprints,
    class_lists=class_lists,
    backbones=lambda spec: tuple(dict.fromkeys(model.backbone for model in spec.models if model.backbone)),
)
