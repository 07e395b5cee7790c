"""The work of a unit: detectors score the test images and the pool, and every cell is held against the test.

It keeps of every image its class, style, group, degrees, levels, and the scores of all detectors.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from openworld.detectors import is_sequential
from openworld.evaluations.classifier_scores import classifier_scores
from openworld.evaluations.images_to_score import ReadableImages
from openworld.evaluations.judged_models import require_names
from openworld.evaluations.model_entries import DetectorSpec
from openworld.evaluations.model_scores import ModelScores, encoded_scores
from openworld.evaluations.ood_detection.errors import TABLE, errors_table
from openworld.evaluations.ood_detection.marginal import marginal_images, marginal_thumbnails
from openworld.evaluations.ood_detection.measurements import measure
from openworld.evaluations.ood_detection.pool import ScoredPool
from openworld.evaluations.ood_detection.record import DetectionRecord, MarginalImages
from openworld.evaluations.ood_detection.task import DetectionTask
from openworld.evaluations.record_images import with_names
from openworld.evaluations.rows import rows_of_unit
from openworld.evaluations.runtime import Clock, Machine
from openworld.evaluations.shift_cells import DividedPool, divide_pool, test_degrees
from openworld.results import METRICS, Result, Value
from openworld.results.scored_sets import SCORE_COLUMN
from openworld.runs import UnitResult, to_json
from openworld.shifts import HALVES

Columns = Mapping[str, np.ndarray]


def evaluate(task: DetectionTask, machine: Machine) -> UnitResult:
    """Score the test images and the pool with all detectors of one model, and hold every cell against the test."""
    clock, divided = Clock(machine), divide_pool(task.shift, machine)
    known, test = (images.load(machine) for images in (task.training, task.test))
    scores = _scores(task, known, test, divided, machine)
    clock.stop("scores")

    # Numbers of two image sets mean nothing together, so that groups of the pool are numbered behind those of the test.
    groups = test.images.groups[test.rows]
    beyond = divided.pool.images.groups[divided.rows] + int(groups.max(initial=-1)) + 1
    made = np.isin(divided.pool.styles, divided.pool.generated)[divided.pool.style[divided.rows]]
    generated = made if divided.pool.generated else None
    pool = ScoredPool(scores.test, scores.pool, groups, beyond, divided, divided.known, generated)
    measured = measure(pool, id_kept=task.id_kept, least=task.division.least)
    right = float(np.mean(scores.prediction == test.images.labels[test.rows]))
    rows = (*measured.rows, Result(task.judged_model.label, METRICS["accuracy"], Value(right)))

    marginal = marginal_images(task.judged_model, test, divided, scores)
    attachments = rows_of_unit("ood-detection", rows, seed=task.seed, shared=measured.shared)
    attachments |= dict(divided.thumbnails()) if task.model == 0 else {}
    attachments |= dict(marginal_thumbnails(marginal, test, divided))
    tables = {"images": _pool_table(pool, divided), "test": _test_table(task, test, scores, machine)}
    return UnitResult(
        outputs=tables | {TABLE: errors_table(measured.errors)},
        metrics=to_json(_record(task, known, test, divided, scores, marginal)),
        attachments=attachments,
        timing=clock.timing,
    )


def _record(
    task: DetectionTask,
    known: ReadableImages,
    test: ReadableImages,
    divided: DividedPool,
    scores: ModelScores,
    marginal: MarginalImages | None,
) -> DetectionRecord:
    model, ground = task.judged_model, task.ground
    return DetectionRecord(
        protocol="ood-detection",
        model=model.label,
        kind=model.kind,
        seed=task.seed,
        id_kept=task.id_kept,
        detector_settings=tuple(map(_settings, model.detectors)),
        sources=tuple(to_json(source) for source in ground.sources),
        classes=len(test.images.classnames),
        training=len(known.rows),
        decomposition=None if ground.cells else to_json(task.division.decomposition),
        neighbour=None if ground.cells else task.division.k,
        warnings=tuple(dict.fromkeys(scores.warnings)),
        styles=divided.pool.styles,
        generated=divided.pool.generated,
        left_out=ground.left_out,
        learner=scores.learner,
        marginal=marginal,
    )


def _pool_table(pool: ScoredPool, divided: DividedPool) -> Columns:
    """Return per image of the pool: class and style by the record's styles, group, degrees, levels, scores."""
    images = divided.pool.images
    table = {
        "id": divided.rows.astype(np.int32),
        "label": images.labels[divided.rows].astype(np.int32),
        "style": divided.pool.style[divided.rows].astype(np.int16),
        "known": pool.known,
        "group": pool.pool_groups.astype(np.int64),
    }
    for half in HALVES:
        if divided.degrees is not None:
            table[half] = divided.degrees[half]
        table[f"{half}_level"] = divided.levels[half].astype(np.int16)
    table = with_names(table, images.classnames, images.path_of)
    return table | {SCORE_COLUMN + label: values for label, values in pool.pool.items()}


def _test_table(task: DetectionTask, test: ReadableImages, scores: ModelScores, machine: Machine) -> Columns:
    """Return the same of the in-distribution test images, with what the model names them."""
    table = {
        "id": test.rows.astype(np.int32),
        "label": test.images.labels[test.rows].astype(np.int32),
        "prediction": scores.prediction.astype(np.int32),
        "group": test.images.groups[test.rows].astype(np.int64),
    }
    table = with_names(table, test.images.classnames, test.images.path_of)
    degrees = test_degrees(task.shift, machine)
    table |= {} if degrees is None else {half: getattr(degrees, half) for half in HALVES}
    return table | {SCORE_COLUMN + label: values for label, values in scores.test.items()}


def _scores(
    task: DetectionTask, known: ReadableImages, test: ReadableImages, divided: DividedPool, machine: Machine
) -> ModelScores:
    if task.scoring:
        require_names(task.judged_model, task.seeded.classifier.load(machine).classnames, test.images.classnames)
        return classifier_scores(task.scoring, machine)
    if task.ground.cells:  # whose places are those of the lists, so that none may be left out
        machine = replace(machine, allow_corrupt=0)
    pools = [images.load() for images in task.ground.tested] or [divided.pool.images]
    return encoded_scores(task.seeded, (known.images, test.images), pools, machine, one_stream=True)


def _settings(entry: DetectorSpec) -> dict[str, Any]:
    """What the record holds of a detector; tables mark one whose scores depend on the order of the images."""
    mark = {"sequential": True} if is_sequential(entry.build()) else {}
    return {"label": entry.label, **to_json(entry), **mark}
