"""The record of a unit: a model's detectors over all cells, and what they were tested on."""

from collections.abc import Mapping
from dataclasses import asdict

import numpy as np

from openworld.evaluations.ood_detection.metrics import Sides, detector_record, labelling, subsets_of
from openworld.evaluations.ood_detection.outputs import groups_of
from openworld.evaluations.ood_detection.record import (
    AxisLevels,
    DetectionRecord,
    InDistributionRecord,
    PoolFacts,
    PoolRecord,
)
from openworld.evaluations.ood_detection.scores import Said, Shown
from openworld.evaluations.ood_detection.task import Task
from openworld.evaluations.ood_detection.uncertainty import Ranked, joint_totals, over_images
from openworld.evaluations.shift_cells import Divided


def detection_record(task: Task, known: Shown, test: Shown, found: Divided, said: Said) -> DetectionRecord:
    """What a unit records.

    Args:
        known: the training images. test: the in-distribution test images. found: the pool. said: all scores.
    """
    groups = groups_of(test, found)
    sides = {label: Sides(said.test[label], said.pool[label], *groups) for label in said.test}
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
        source=_source_record(task, known, test, said),
        decomposition=None if ground.cells else asdict(task.division.decomposition),
        neighbour=None if ground.cells else task.division.k,
        detector_settings=tuple({"label": one.label, **asdict(one)} for one in model.detectors),
        warnings=tuple(dict.fromkeys(said.warnings)),
        pool=PoolFacts(len(found.rows), int(found.known.sum()), found.pool.images.classnames, found.pool.styles),
        labelling=labelling(sides, subsets, joint_totals(ranked, subsets)),
    )


def _pool_record(task: Task, sides: Mapping[str, Sides], ranked: Ranked, found: Divided, id_kept: bool) -> PoolRecord:
    """All detectors over all cells, with images of in-distribution classes or without."""
    kept = np.arange(len(found.rows)) if id_kept else np.flatnonzero(~found.known)
    grid = found.grid(kept, task.division.least)
    errors, joint = over_images(ranked, grid, kept)
    both = zip(sides.items(), errors, strict=True)
    return PoolRecord(
        id_kept=id_kept,
        levels={axis: AxisLevels(**levels) for axis, levels in found.told(kept).items()},
        counts=grid.counts.tolist(),
        detectors={label: detector_record(one, grid, kept, own) for (label, one), own in both},
        joint=joint,
    )


def _source_record(task: Task, known: Shown, test: Shown, said: Said) -> InDistributionRecord:
    truth = test.images.labels[test.rows]
    right = int((said.prediction == truth).sum())
    sources = tuple(asdict(one) for one in task.ground.sources)
    return InDistributionRecord(sources, len(test.images.classnames), len(known.rows), len(truth), right / len(truth))
