"""What a unit keeps beside its metrics: every image with its degrees and scores."""

import numpy as np

from openworld.evaluations.ood_detection.scores import ModelScores, ReadableImages
from openworld.evaluations.ood_detection.task import Task
from openworld.evaluations.record_images import with_names
from openworld.evaluations.runtime import Machine
from openworld.evaluations.shift_cells import Divided, test_degrees
from openworld.shift import HALVES


def groups_of(test: ReadableImages, found: Divided) -> tuple[np.ndarray, np.ndarray]:
    """Groups of the test images and of the pool's: apart, for numbers of two image sets mean nothing together."""
    own = test.images.groups[test.rows]
    return own, found.pool.images.groups[found.rows] + int(own.max(initial=-1)) + 1


def pool_table(test: ReadableImages, found: Divided, scores: ModelScores) -> dict[str, np.ndarray]:
    """Per image of the pool: numbers of class and style by the record's "pool", group, degrees, levels, scores."""
    images = found.pool.images
    table = {
        "id": found.rows.astype(np.int32),
        "label": images.labels[found.rows].astype(np.int32),
        "style": found.pool.style[found.rows].astype(np.int16),
        "known": found.known,
        "group": groups_of(test, found)[1].astype(np.int64),
    }
    for half in HALVES:
        if found.degrees is not None:
            table[half] = found.degrees[half]
        table[f"{half}_level"] = found.levels[half].astype(np.int16)
    table = with_names(table, images.classnames, images.path_of)
    return table | {f"score {label}": own for label, own in scores.pool.items()}


def test_table(task: Task, test: ReadableImages, scores: ModelScores, machine: Machine) -> dict[str, np.ndarray]:
    """The same of the in-distribution test images, with what the model names them."""
    table = {
        "id": test.rows.astype(np.int32),
        "label": test.images.labels[test.rows].astype(np.int32),
        "prediction": scores.prediction.astype(np.int32),
        "group": test.images.groups[test.rows].astype(np.int64),
    }
    table = with_names(table, test.images.classnames, test.images.path_of)
    degrees = test_degrees(task.shift, machine)
    table |= {} if degrees is None else {half: getattr(degrees, half) for half in HALVES}
    return table | {f"score {label}": own for label, own in scores.test.items()}
