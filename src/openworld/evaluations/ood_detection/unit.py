"""The work of a unit: detectors score the test images and the pool, and every cell is held against the test."""

from collections.abc import Mapping
from dataclasses import asdict, replace

import numpy as np

from openworld.evaluations.image_selection import ImageSelection
from openworld.evaluations.ood_detection.metrics import DetectorScores, detector_record, labelling, subsets_of
from openworld.evaluations.ood_detection.record import (
    AxisLevels,
    DetectionRecord,
    InDistributionRecord,
    PoolFacts,
    PoolRecord,
)
from openworld.evaluations.ood_detection.scores import (
    ModelScores,
    ReadableImages,
    classifier_scores,
    groups_of,
    joined,
    pool_table,
    test_table,
    two_tower_scores,
)
from openworld.evaluations.ood_detection.task import DetectionTask
from openworld.evaluations.ood_detection.uncertainty import Ranked, joint_totals, over_images
from openworld.evaluations.ood_detection.validation import require_names
from openworld.evaluations.runtime import Clock, Machine, encoded
from openworld.evaluations.shift_cells import DividedPool, divide_pool
from openworld.features import Encoding
from openworld.runs import UnitResult, to_json


def evaluate(task: DetectionTask, machine: Machine) -> UnitResult:
    """Score the test images and the pool with all detectors of one model, and hold every cell against the test."""
    clock, found = Clock(machine), divide_pool(task.shift, machine)
    known, test = (_readable(task, images, machine) for images in (task.ground.training, task.ground.test))
    scores = _scores(task, known, test, found, machine)
    clock.stop("scores")
    metrics = detection_record(task, known, test, found, scores)
    return UnitResult(
        outputs={"images": pool_table(test, found, scores), "test": test_table(task, test, scores, machine)},
        metrics=asdict(metrics),
        attachments=dict(found.thumbnails()) if task.model == 0 else {},
        timing=clock.timing,
    )


def detection_record(
    task: DetectionTask, known: ReadableImages, test: ReadableImages, found: DividedPool, scores: ModelScores
) -> DetectionRecord:
    """What a unit records.

    Args:
        known: the training images. test: the in-distribution test images. found: the pool. scores: all scores.
    """
    groups = groups_of(test, found)
    sides = {label: DetectorScores(scores.test[label], scores.pool[label], *groups) for label in scores.test}
    ranked, model, ground = Ranked.of(sides), task.judged, task.ground
    pools = {kept: _pool_record(task, sides, ranked, found, kept) for kept in (True, False)}
    subsets = subsets_of(found.known, found.levels["semantic"], found.counts["semantic"])
    return DetectionRecord(
        **vars(pools[task.id_kept]),
        otherwise=pools[not task.id_kept],
        protocol="incremental-shift",
        model=model.label,
        kind="two-tower" if model.is_two_tower else "classifier",
        seed=task.seed,
        source=_source_record(task, known, test, scores),
        decomposition=None if ground.cells else asdict(task.division.decomposition),
        neighbour=None if ground.cells else task.division.k,
        detector_settings=tuple({"label": one.label, **asdict(one)} for one in model.detectors),
        warnings=tuple(dict.fromkeys(scores.warnings)),
        pool=PoolFacts(len(found.rows), int(found.known.sum()), found.pool.images.classnames, found.pool.styles),
        labelling=labelling(sides, subsets, joint_totals(ranked, subsets)),
    )


def _pool_record(
    task: DetectionTask, sides: Mapping[str, DetectorScores], ranked: Ranked, found: DividedPool, id_kept: bool
) -> PoolRecord:
    """All detectors over all cells, with images of in-distribution classes or without."""
    kept = np.arange(len(found.rows)) if id_kept else np.flatnonzero(~found.known)
    grid = found.grid(kept, task.division.least)
    errors, joint = over_images(ranked, grid, kept)
    both = zip(sides.items(), errors, strict=True)
    return PoolRecord(
        id_kept=id_kept,
        levels={axis: AxisLevels(**levels) for axis, levels in found.level_facts(kept).items()},
        counts=grid.counts.tolist(),
        detectors={label: detector_record(one, grid, kept, own) for (label, one), own in both},
        joint=joint,
    )


def _source_record(
    task: DetectionTask, known: ReadableImages, test: ReadableImages, scores: ModelScores
) -> InDistributionRecord:
    truth = test.images.labels[test.rows]
    right = int((scores.prediction == truth).sum())
    sources = tuple(to_json(one) for one in task.ground.sources)
    return InDistributionRecord(sources, len(test.images.classnames), len(known.rows), len(truth), right / len(truth))


def _scores(
    task: DetectionTask, known: ReadableImages, test: ReadableImages, found: DividedPool, machine: Machine
) -> ModelScores:
    pool = ReadableImages(found.pool.images, found.rows)
    if not task.judged.is_two_tower:
        classifier = task.classifier.load(machine)
        require_names(task.judged, classifier.classnames, test.images.classnames)
        return classifier_scores(task.judged, classifier, known, test, pool, machine.device)
    if task.ground.cells:  # whose places are those of the lists, so that none may be left out
        machine = replace(machine, allow_corrupt=0)
    name, encoding = task.judged.backbone, Encoding(patches=task.judged.needs_patches)
    learned, tested = (encoded(one.images, name, machine, encoding) for one in (known, test))
    parts = [pictures.load() for pictures in task.ground.tested] or [found.pool.images]
    shown = joined([encoded(one, name, machine, encoding) for one in parts])
    return two_tower_scores(task.judged, learned, tested, shown, task.ground.sources[0].dataset, machine)


def _readable(task: DetectionTask, pictures: ImageSelection, machine: Machine) -> ReadableImages:
    """What can be read, as embedding has shown; where nothing was embedded all must be."""
    images = pictures.load()
    if task.ground.cells:
        return ReadableImages(images, np.arange(len(images)))
    return ReadableImages(images, encoded(images, task.division.decomposition.backbone, machine).rows[:])
