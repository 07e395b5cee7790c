"""The work of a unit: detectors score the test images and the pool, and every cell is held against the test."""

from dataclasses import replace
from typing import Any

from openworld.detectors import is_sequential
from openworld.evaluations.classifier_scores import classifier_scores
from openworld.evaluations.images_to_score import ReadableImages
from openworld.evaluations.judged_models import require_names
from openworld.evaluations.learner_models import encoding_of_images, training_facts
from openworld.evaluations.model_entries import DetectorSpec
from openworld.evaluations.model_scores import (
    ModelScores,
    joined,
    tuned_scores,
    two_tower_scores,
)
from openworld.evaluations.ood_detection.image_tables import groups_of, pool_table, test_table
from openworld.evaluations.ood_detection.marginal import marginal_images, marginal_thumbnails
from openworld.evaluations.ood_detection.metrics import DetectorScores, labelling, subsets_of
from openworld.evaluations.ood_detection.pool_records import BOTH, pool_record
from openworld.evaluations.ood_detection.record import (
    DetectionRecord,
    InDistributionRecord,
    MarginalImages,
    PoolFacts,
)
from openworld.evaluations.ood_detection.task import DetectionTask
from openworld.evaluations.ood_detection.uncertainty import Ranked, joint_totals
from openworld.evaluations.runtime import Clock, Machine, encoded
from openworld.evaluations.shift_cells import DividedPool, divide_pool
from openworld.runs import UnitResult, to_json


def evaluate(task: DetectionTask, machine: Machine) -> UnitResult:
    """Score the test images and the pool with all detectors of one model, and hold every cell against the test."""
    clock, divided = Clock(machine), divide_pool(task.shift, machine)
    known, test = (images.load(machine) for images in (task.training, task.test))
    scores = _scores(task, known, test, divided, machine)
    clock.stop("scores")
    cells = dict(divided.thumbnails()) if task.model == 0 else {}
    marginal = marginal_images(task.judged_model, test, divided, scores)
    metrics = detection_record(task, known, test, divided, scores, marginal)
    return UnitResult(
        outputs={"images": pool_table(test, divided, scores), "test": test_table(task, test, scores, machine)},
        metrics=to_json(metrics),
        attachments=cells | dict(marginal_thumbnails(marginal, test, divided)),
        timing=clock.timing,
    )


def detection_record(
    task: DetectionTask,
    known: ReadableImages,
    test: ReadableImages,
    divided: DividedPool,
    scores: ModelScores,
    marginal: MarginalImages | None,
) -> DetectionRecord:
    """What a unit records.

    Args:
        known: the training images. test: the in-distribution test images. divided: the pool. scores: all scores.
        marginal: images of other classes that are accepted most surely.
    """
    groups, pool = groups_of(test, divided), scores.pool
    sides = {label: DetectorScores(scores.test[label], pool[label], *groups) for label in scores.test}
    ranked, model, ground = Ranked.of(sides), task.judged_model, task.ground
    placed, least = divided.placed, task.division.least
    pools = {kept: pool_record(sides, ranked, placed, divided.known, id_kept=kept, least=least) for kept in BOTH}
    subsets = subsets_of(divided.known, divided.levels["semantic"], divided.counts["semantic"])
    return DetectionRecord(
        **vars(pools[task.id_kept]),
        otherwise=pools[not task.id_kept],
        protocol="ood-detection",
        model=model.label,
        kind=model.kind,
        seed=task.seed,
        source=_source_record(task, known, test, scores),
        decomposition=None if ground.cells else to_json(task.division.decomposition),
        neighbour=None if ground.cells else task.division.k,
        detector_settings=tuple(map(_settings, model.detectors)),
        warnings=tuple(dict.fromkeys(scores.warnings)),
        pool=PoolFacts(
            len(divided.rows),
            int(divided.known.sum()),
            divided.pool.images.classnames,
            divided.pool.styles,
            divided.pool.generated,
        ),
        left_out=ground.left_out,
        learner=scores.learner,
        labelling=labelling(sides, subsets, joint_totals(ranked, subsets)),
        marginal=marginal,
    )


def _source_record(
    task: DetectionTask, known: ReadableImages, test: ReadableImages, scores: ModelScores
) -> InDistributionRecord:
    truth = test.images.labels[test.rows]
    right = int((scores.prediction == truth).sum())
    sources = tuple(to_json(source) for source in task.ground.sources)
    return InDistributionRecord(sources, len(test.images.classnames), len(known.rows), len(truth), right / len(truth))


def _scores(
    task: DetectionTask, known: ReadableImages, test: ReadableImages, divided: DividedPool, machine: Machine
) -> ModelScores:
    if task.scoring:
        require_names(task.judged_model, task.classifier.load(machine).classnames, test.images.classnames)
        return classifier_scores(task.scoring, machine)
    if task.ground.cells:  # whose places are those of the lists, so that none may be left out
        machine = replace(machine, allow_corrupt=0)
    name, encoding = task.judged_model.backbone, task.judged_model.encoding
    fitted = task.learner.load(machine) if task.learner else None
    if fitted:
        require_names(task.judged_model, fitted.classnames, test.images.classnames)
        encoding = encoding_of_images(fitted.learner, task.judged_model.build().values())
    learned, tested = (encoded(readable.images, name, machine, encoding) for readable in (known, test))
    parts = [images.load() for images in task.ground.tested] or [divided.pool.images]
    pools = [encoded(images, name, machine, encoding) for images in parts]
    if fitted:
        scores = tuned_scores(task.judged_model, fitted, learned, tested, pools, one_stream=True)
        return replace(scores, learner=training_facts(fitted, task.learner))
    dataset = task.ground.sources[0].dataset
    return two_tower_scores(task.judged_model, learned, tested, [joined(pools)], dataset, machine, one_stream=True)


def _settings(entry: DetectorSpec) -> dict[str, Any]:
    """What the record holds of a detector; tables mark one whose scores depend on the order of the images."""
    mark = {"sequential": True} if is_sequential(entry.build()) else {}
    return {"label": entry.label, **to_json(entry), **mark}
