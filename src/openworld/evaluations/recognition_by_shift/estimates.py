"""Estimates without labels: accuracy cell by cell, open-world quality level by level of appearance.

Estimators are fitted on labelled validation images of base classes: that is what a learner's owner has. Every image of
the pool is named among all names, as by someone who does not know which images are new. At a level of appearance, base
and new images have moved away together; the first reference is zero-shot CLIP where it is the learner's own backbone.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

import numpy as np
import torch
from torch.nn.functional import normalize

from openworld.core.errors import OpenworldError
from openworld.datasets import ClassSplit
from openworld.estimators import Outputs
from openworld.estimators.open_world import OPEN_WORLD_ESTIMATORS, OpenWorldEstimate, OpenWorldOutputs, two_shares
from openworld.evaluations.estimates import Answers, class_texts, estimate_all, fit_all
from openworld.evaluations.image_selection import ImageSelection
from openworld.evaluations.recognition_by_shift.results import (
    ALARM,
    NO_ESTIMATE,
    OPEN_WORLD,
    SAME,
    VALIDATION,
    cell,
    estimated,
)
from openworld.evaluations.recognition_by_shift.spec import RecognitionByShiftSpec
from openworld.evaluations.runtime import Machine, encoded
from openworld.evaluations.shift_cells import DividedPool
from openworld.learners import Answer
from openworld.results import METRICS, Result, Value
from openworld.results.value import value_or
from openworld.shifts import ShiftGrid

TRUE, ESTIMATED = METRICS["accuracy"], METRICS["estimated_accuracy"]


NO_IMAGE = "the level has no image"


Scored = tuple[dict[str, np.ndarray], Answer]
"""What a learner says of n images: the columns of `image_table`, labels by all names, and what that was made of."""


def estimate_cells(
    task: RecognitionByShiftSpec, validation: Scored, pool: Scored, grid: ShiftGrid, similar: Mapping
) -> tuple[list[Result], dict[str, list[str]]]:
    """Return rows of true and estimated accuracy by cell, and {estimator: a warning for every cell where it warned}."""
    learner, at_home = task.learner.label, _right(validation)
    fitted_on = _outputs(validation, np.arange(len(at_home)), similar["validation"], labelled=True)
    fits = fit_all(task.estimators, fitted_on, {})
    right, labels = _right(pool), [estimator.label for estimator in task.estimators]
    warnings: dict[str, list[str]] = {label: [] for label in labels}
    rows = [Result(learner, TRUE, Value(int(at_home.sum()) / len(at_home)), {"images": VALIDATION})]
    for row, column in np.ndindex(grid.shape):
        where, truth, said = cell(row, column), None, dict.fromkeys(labels)
        if grid.present[row, column]:
            members = grid.cell(row, column)
            truth = right[members].mean()
            for label, estimate in estimate_all(fits, _outputs(pool, members, similar["pool"])).items():
                said[label] = None if estimate.error is None else 1 - estimate.error
                warnings[label] += estimate.warnings[:1]
        rows.append(Result(learner, TRUE, value_or(truth, NO_ESTIMATE), where))
        rows += [
            Result(label, ESTIMATED, value_or(accuracy, NO_ESTIMATE), {"learner": learner, **where})
            for label, accuracy in said.items()
        ]
    return rows, warnings


def similarities_of(
    task: RecognitionByShiftSpec, split: ClassSplit, parts: Mapping[str, tuple[ImageSelection, ...]], machine: Machine
) -> dict:
    """What every reference says of some images: part -> reference -> float32[n, C], cosines with all names."""
    dataset, every = task.ground.sources[0].dataset, split.names
    similar: dict[str, dict[str, np.ndarray]] = {part: {} for part in parts}
    for reference in task.references:
        texts = class_texts(reference, every, dataset, machine)
        for part, sets in parts.items():
            features = (encoded(images.load(), reference.backbone, machine).embeddings[:] for images in sets)
            embeddings = torch.cat([*map(torch.from_numpy, features)])
            similar[part][reference.name] = (normalize(embeddings, dim=-1) @ texts.mT).numpy()
    return similar


def _outputs(scored: Scored, rows: np.ndarray, similar: Mapping[str, np.ndarray], *, labelled: bool = False) -> Answers:
    labels, logits = scored[0]["label"][rows], scored[1].logits[rows]
    shown_labels = labels if labelled else None
    outputs = {name: Outputs(logits, shown_labels, views[rows]) for name, views in similar.items()}
    return Answers(rows, labels, outputs or {"": Outputs(logits, shown_labels)})


def _right(scored: Scored) -> np.ndarray:
    """bool[n], which images were named right among all names."""
    return scored[0]["joint_prediction"] == scored[0]["label"]


def open_world_rows(
    task: RecognitionByShiftSpec, validation: Scored, pool: Scored, divided: DividedPool, base: int, similar: Mapping
) -> Iterator[Result]:
    """Yield what open-world estimators say of the images of every level of appearance, and whether to trust them."""
    # Validation images are labelled ones of the `base` first names; those of the pool are in the order of `divided`.
    learner = task.learner.label
    outputs = _open_world_outputs(task, validation, slice(None), base, similar["validation"], labelled=True)
    levels = divided.levels["covariate"]
    members = [np.flatnonzero(levels == level) for level in range(divided.counts["covariate"])]
    streams = [_open_world_outputs(task, pool, rows, base, similar["pool"]) if len(rows) else None for rows in members]
    for name in task.open_world_estimators:
        for level, estimate in enumerate(_estimates(name, outputs, streams)):
            where = {"learner": learner, "view": SAME, "axis": "covariate", "level": level}
            reason = next(iter(estimate.reasons.values()), "it says nothing")
            for part in OPEN_WORLD:
                yield Result(name, estimated(part), value_or(getattr(estimate, part), reason), where)
    for level, stream in enumerate(streams):
        alarm = None  # where the two signs cannot be read
        with suppress(OpenworldError):
            alarm = None if stream is None else two_shares(outputs, stream).alarm
        value = value_or(alarm, "there are too few images")
        yield Result(learner, ALARM, value, {"view": SAME, "axis": "covariate", "level": level})


def _open_world_outputs(
    task: RecognitionByShiftSpec, scored: Scored, rows, base: int, similar: Mapping, *, labelled: bool = False
) -> OpenWorldOutputs:
    (table, answer), reference = scored, next(iter(task.references), None)
    same_backbone = reference is not None and reference.backbone == task.backbone
    return OpenWorldOutputs(
        table["score"][rows],
        base_logits=None if answer.base_logits is None else answer.base_logits[rows],
        logits=answer.logits[rows],
        n_base=base,
        labels=table["label"][rows] if labelled else None,
        reference=None if reference is None else similar[reference.name][rows],
        reference_kind="zero-shot" if same_backbone else "independent",
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
