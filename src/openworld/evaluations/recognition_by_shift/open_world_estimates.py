"""Open-world quality without labels, level by level of appearance: all images of the pool there, base and new ones.

What is estimated is what the records hold as true of the same images: base images and new ones that have moved away
together. Estimators are fitted on labelled validation images in the training appearance; the first reference beside
them is zero-shot CLIP where it is the learner's own backbone.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from openworld._errors import OpenworldError
from openworld.estimators.open_world import OPEN_WORLD_ESTIMATORS, OpenWorldEstimate, OpenWorldOutputs, two_shares
from openworld.evaluations.recognition_by_shift.predictions import LearnerAnswers
from openworld.evaluations.recognition_by_shift.record import OPEN_WORLD, OpenWorldLevelRecord, OpenWorldRecord
from openworld.evaluations.recognition_by_shift.task import ShiftTask
from openworld.evaluations.shift_cells import DividedPool

NO_IMAGE = "the level has no image"


def estimate_open_world(
    task: ShiftTask, validation: LearnerAnswers, pool: LearnerAnswers, divided: DividedPool, base: int, similar: Mapping
) -> OpenWorldRecord:
    """Return what every open-world estimator says of the images of every level of appearance.

    Args:
        validation: answers on labelled base images. pool: on all images of the pool, in the order of `divided`.
        base: number of base names. similar: as for `estimate_cells`.
    """
    known = _outputs(task, validation, slice(None), base, similar["validation"], labelled=True)
    levels = divided.levels["covariate"]
    members = (np.flatnonzero(levels == level) for level in range(divided.counts["covariate"]))
    streams = [_outputs(task, pool, rows, base, similar["pool"]) if len(rows) else None for rows in members]
    estimates = {name: _levels(name, known, streams) for name in task.open_world_estimators}
    return OpenWorldRecord(estimates, tuple(_alarm(known, stream) for stream in streams))


def _outputs(
    task: ShiftTask, answers: LearnerAnswers, rows, base: int, similar: Mapping, *, labelled: bool = False
) -> OpenWorldOutputs:
    reference = next(iter(task.references), None)
    own = reference is not None and reference.backbone == task.backbone
    return OpenWorldOutputs(
        answers.table["score"][rows],
        base_logits=None if answers.base_logits is None else answers.base_logits[rows],
        logits=answers.logits[rows],
        n_base=base,
        labels=answers.table["label"][rows] if labelled else None,
        reference=None if reference is None else similar[reference.name][rows],
        reference_kind="zero-shot" if own else "independent",
    )


def _levels(
    name: str, known: OpenWorldOutputs, streams: Sequence[OpenWorldOutputs | None]
) -> tuple[OpenWorldLevelRecord, ...]:
    try:
        fitted = OPEN_WORLD_ESTIMATORS[name]().fit(known)
    except OpenworldError as error:
        return (OpenWorldLevelRecord(dict.fromkeys(OPEN_WORLD), str(error)),) * len(streams)
    found = (
        OpenWorldEstimate().without(OPEN_WORLD, NO_IMAGE) if stream is None else fitted.estimate(stream)
        for stream in streams
    )
    return tuple(
        OpenWorldLevelRecord(
            {part: estimate.value_of(part) for part in OPEN_WORLD}, next(iter(estimate.reasons.values()), "")
        )
        for estimate in found
    )


def _alarm(known: OpenWorldOutputs, stream: OpenWorldOutputs | None) -> bool | None:
    """Whether one of the two signs stands; None where they cannot be read."""
    try:
        return None if stream is None else two_shares(known, stream).alarm
    except OpenworldError:
        return None
