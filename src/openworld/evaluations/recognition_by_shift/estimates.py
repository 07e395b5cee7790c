"""Accuracy without labels, cell by cell: fitted on validation images, estimated wherever the pool has images.

Every image is named among all names, base and new, as by someone who does not know which images are new. Labelled
images are of base classes: that is what a learner's owner has.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch.nn.functional import normalize

from openworld.datasets import ClassSplit
from openworld.estimators import Outputs
from openworld.evaluations.estimates import Answers, fit_all
from openworld.evaluations.image_selection import ImageSelection
from openworld.evaluations.recognition_by_shift.predictions import LearnerAnswers
from openworld.evaluations.recognition_by_shift.record import (
    ErrorRecord,
    EstimationRecord,
    EstimatorRecord,
    ValidationRecord,
)
from openworld.evaluations.recognition_by_shift.task import ShiftTask
from openworld.evaluations.references import class_texts
from openworld.evaluations.runtime import Machine, encoded
from openworld.shifts import ShiftGrid


def estimate_cells(
    task: ShiftTask, validation: LearnerAnswers, pool: LearnerAnswers, grid: ShiftGrid, similar: Mapping
) -> EstimationRecord:
    """Return true accuracy among all names in every cell, and beside it what each estimator says.

    Args:
        validation: answers on labelled images. pool: on all images of the pool.
        grid: where these stand.
        similar: "validation" and "pool" -> reference -> float[n, C], of `similarities_of`.
    """
    fitted_on = _outputs(validation, np.arange(len(validation.logits)), similar["validation"], labelled=True)
    fits = fit_all(task.estimators, fitted_on, {})
    right = _right(pool)
    truth = np.full(grid.shape, np.nan)
    estimated = {estimator.label: np.full(grid.shape, np.nan) for estimator in task.estimators}
    warnings: dict[str, list[str]] = {label: [] for label in estimated}
    for row, column in np.argwhere(grid.present).tolist():
        members = grid.cell(row, column)
        truth[row, column] = right[members].mean()
        estimates = fits.estimates(_outputs(pool, members, similar["pool"]), None, 0)
        for label, estimate in estimates.items():
            estimated[label][row, column] = np.nan if estimate.error is None else 1 - estimate.error
            warnings[label] += estimate.warnings[:1]
    records = {label: estimator_record(cells, truth, warnings[label]) for label, cells in estimated.items()}
    accuracy = _right(validation)
    home = ValidationRecord(len(accuracy), int(accuracy.sum()) / len(accuracy))
    return EstimationRecord(grid.counts.tolist(), nones(truth), records, home)


def estimator_record(cells: np.ndarray, truth: np.ndarray, warnings: Sequence[str] = ()) -> EstimatorRecord:
    """What an estimator says of every cell, and its errors, cells counting alike.

    Args:
        cells, truth: float[R, C], estimated and true accuracy; NaN where there is none.
        warnings: one per cell that has any.

    >>> cells = np.array([[0.75, 0.25], [np.nan, 1.0]])
    >>> estimator_record(cells, np.array([[0.5, 1.0], [np.nan, 0.5]])).semantic
    (ErrorRecord(error=0.25, bias=0.25), ErrorRecord(error=0.625, bias=-0.125))
    """
    off = cells - truth
    by_level = (tuple(map(_errors, values)) for values in (off.T, off))
    return EstimatorRecord(nones(cells), _errors(off.ravel()), *by_level, len(warnings), next(iter(warnings), None))


def similarities_of(
    task: ShiftTask, split: ClassSplit, parts: Mapping[str, tuple[ImageSelection, ...]], machine: Machine
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


def nones(values: np.ndarray) -> tuple[tuple[float | None, ...], ...]:
    """A table as a record holds it: None in the place of NaN.

    >>> nones(np.array([[0.5, np.nan]]))
    ((0.5, None),)
    """
    return tuple(tuple(None if np.isnan(value) else float(value) for value in row) for row in values)


def _outputs(
    answers: LearnerAnswers, rows: np.ndarray, similar: Mapping[str, np.ndarray], *, labelled: bool = False
) -> Answers:
    labels = answers.table["label"][rows]
    known = labels if labelled else None
    outputs = {name: Outputs(answers.logits[rows], known, views[rows]) for name, views in similar.items()}
    return Answers(rows, labels, outputs or {"": Outputs(answers.logits[rows], known)})


def _right(answers: LearnerAnswers) -> np.ndarray:
    """bool[n], which images were named right among all names."""
    return answers.table["joint_prediction"] == answers.table["label"]


def _errors(off: np.ndarray) -> ErrorRecord:
    known = off[np.isfinite(off)]
    if not known.size:
        return ErrorRecord(None, None)
    return ErrorRecord(float(np.abs(known).mean()), float(known.mean()))
