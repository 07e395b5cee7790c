"""Accuracy without labels, cell by cell: fitted on validation images, estimated wherever the pool has images.

Every image is named among all names, base and new, as by someone who does not know which images are new. Labelled
images are of base classes: that is what a learner's owner has.
"""

from collections.abc import Mapping

import numpy as np
import torch
from torch.nn.functional import normalize

from openworld.datasets import ClassSplit
from openworld.estimators import Outputs
from openworld.evaluations.estimates import Answers, fit_all
from openworld.evaluations.image_selection import ImageSelection
from openworld.evaluations.recognition_by_shift.predictions import LearnerAnswers
from openworld.evaluations.recognition_by_shift.quantities import NO_ESTIMATE, VALIDATION, cell
from openworld.evaluations.recognition_by_shift.task import ShiftTask
from openworld.evaluations.references import class_texts
from openworld.evaluations.runtime import Machine, encoded
from openworld.results import METRICS, Result, Value
from openworld.results.value import value_or
from openworld.shifts import ShiftGrid

TRUE, ESTIMATED = METRICS["accuracy"], METRICS["estimated_accuracy"]


def estimate_cells(
    task: ShiftTask, validation: LearnerAnswers, pool: LearnerAnswers, grid: ShiftGrid, similar: Mapping
) -> tuple[list[Result], dict[str, list[str]]]:
    """Return true accuracy among all names in every cell and on validation images, and what each estimator says.

    Args:
        validation: answers on labelled images. pool: on all images of the pool.
        grid: where these stand.
        similar: "validation" and "pool" -> reference -> float[n, C], of `similarities_of`.

    Returns:
        rows, and {estimator: a warning for every cell where it warned}.
    """
    learner, at_home = task.learner.label, _right(validation)
    fitted_on = _outputs(validation, np.arange(len(validation.logits)), similar["validation"], labelled=True)
    fits = fit_all(task.estimators, fitted_on, {})
    right, labels = _right(pool), [estimator.label for estimator in task.estimators]
    warnings: dict[str, list[str]] = {label: [] for label in labels}
    rows = [Result(learner, TRUE, Value(int(at_home.sum()) / len(at_home)), {"images": VALIDATION})]
    for row, column in np.ndindex(grid.shape):
        where, truth, said = cell(row, column), None, dict.fromkeys(labels)
        if grid.present[row, column]:
            members = grid.cell(row, column)
            truth = right[members].mean()
            for label, estimate in fits.estimates(_outputs(pool, members, similar["pool"]), None, 0).items():
                said[label] = None if estimate.error is None else 1 - estimate.error
                warnings[label] += estimate.warnings[:1]
        rows.append(Result(learner, TRUE, value_or(truth, NO_ESTIMATE), where))
        rows += [
            Result(label, ESTIMATED, value_or(accuracy, NO_ESTIMATE), {"learner": learner, **where})
            for label, accuracy in said.items()
        ]
    return rows, warnings


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
