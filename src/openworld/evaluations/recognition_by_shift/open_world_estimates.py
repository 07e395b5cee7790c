"""Open-world quality without labels, level by level of appearance: all images of the pool there, base and new ones.

What is estimated is what the records hold as true of the same images: base images and new ones that have moved away
together. Estimators are fitted on labelled validation images in the training appearance; the first reference beside
them is zero-shot CLIP where it is the learner's own backbone.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from openworld._errors import OpenworldError
from openworld.estimators.open_world import OPEN_WORLD_ESTIMATORS, OpenWorldEstimate, OpenWorldOutputs, two_shares
from openworld.evaluations.recognition_by_shift.predictions import LearnerAnswers
from openworld.evaluations.recognition_by_shift.quantities import ALARM, OPEN_WORLD, SAME, estimated
from openworld.evaluations.recognition_by_shift.task import ShiftTask
from openworld.evaluations.shift_cells import DividedPool
from openworld.results import Result
from openworld.results.value import value_or

NO_IMAGE = "the level has no image"


def open_world_rows(
    task: ShiftTask, validation: LearnerAnswers, pool: LearnerAnswers, divided: DividedPool, base: int, similar: Mapping
) -> Iterator[Result]:
    """Yield what every open-world estimator says of the images of every level of appearance, and whether to trust it.

    Args:
        validation: answers on labelled base images. pool: on all images of the pool, in the order of `divided`.
        base: number of base names. similar: as for `estimate_cells`.
    """
    learner = task.learner.label
    known = _outputs(task, validation, slice(None), base, similar["validation"], labelled=True)
    levels = divided.levels["covariate"]
    members = [np.flatnonzero(levels == level) for level in range(divided.counts["covariate"])]
    streams = [_outputs(task, pool, rows, base, similar["pool"]) if len(rows) else None for rows in members]
    for name in task.open_world_estimators:
        for level, estimate in enumerate(_estimates(name, known, streams)):
            where = {"learner": learner, "view": SAME, "axis": "covariate", "level": level}
            reason = next(iter(estimate.reasons.values()), "it says nothing")
            for part in OPEN_WORLD:
                yield Result(name, estimated(part), value_or(estimate.value_of(part), reason), where)
    for level, stream in enumerate(streams):
        alarm = value_or(_alarm(known, stream), "there are too few images")
        yield Result(learner, ALARM, alarm, {"view": SAME, "axis": "covariate", "level": level})


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


def _estimates(
    name: str, known: OpenWorldOutputs, streams: Sequence[OpenWorldOutputs | None]
) -> Iterator[OpenWorldEstimate]:
    try:
        fitted, refusal = OPEN_WORLD_ESTIMATORS[name]().fit(known), ""
    except OpenworldError as error:
        fitted, refusal = None, str(error)
    for stream in streams:
        if fitted is None or stream is None:
            yield OpenWorldEstimate().without(tuple(OPEN_WORLD), refusal or NO_IMAGE)
        else:
            yield fitted.estimate(stream)


def _alarm(known: OpenWorldOutputs, stream: OpenWorldOutputs | None) -> bool | None:
    """Whether one of the two signs stands; None where they cannot be read."""
    try:
        return None if stream is None else two_shares(known, stream).alarm
    except OpenworldError:
        return None
