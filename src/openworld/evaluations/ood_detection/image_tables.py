"""What a unit keeps of every image: class, style, group, degrees, levels, and the scores of all detectors."""

import numpy as np

from openworld.evaluations.images_to_score import ReadableImages
from openworld.evaluations.model_scores import ModelScores
from openworld.evaluations.ood_detection.task import DetectionTask
from openworld.evaluations.record_images import with_names
from openworld.evaluations.runtime import Machine
from openworld.evaluations.shift_cells import DividedPool, test_degrees
from openworld.results.scored_sets import SCORE_COLUMN
from openworld.shifts import HALVES


def groups_of(test: ReadableImages, divided: DividedPool) -> tuple[np.ndarray, np.ndarray]:
    """Groups of the test images and of the pool's: apart, for numbers of two image sets mean nothing together."""
    groups = test.images.groups[test.rows]
    return groups, divided.pool.images.groups[divided.rows] + int(groups.max(initial=-1)) + 1


def pool_table(test: ReadableImages, divided: DividedPool, scores: ModelScores) -> dict[str, np.ndarray]:
    """Return per image of the pool: class and style by the record's "pool", group, degrees, levels, scores."""
    images = divided.pool.images
    table = {
        "id": divided.rows.astype(np.int32),
        "label": images.labels[divided.rows].astype(np.int32),
        "style": divided.pool.style[divided.rows].astype(np.int16),
        "known": divided.known,
        "group": groups_of(test, divided)[1].astype(np.int64),
    }
    for half in HALVES:
        if divided.degrees is not None:
            table[half] = divided.degrees[half]
        table[f"{half}_level"] = divided.levels[half].astype(np.int16)
    table = with_names(table, images.classnames, images.path_of)
    return table | {SCORE_COLUMN + label: values for label, values in scores.pool.items()}


def test_table(
    task: DetectionTask, test: ReadableImages, scores: ModelScores, machine: Machine
) -> dict[str, np.ndarray]:
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
