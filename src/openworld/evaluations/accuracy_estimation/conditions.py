"""Everything that is said of one set of pictures, as estimators take it."""

import numpy as np

from openworld.estimators import Outputs
from openworld.evaluations.accuracy_estimation.task import Task
from openworld.evaluations.estimates import Answers
from openworld.evaluations.image_selection import ImageSelection
from openworld.evaluations.model_outputs import logits_of
from openworld.evaluations.references import similarities
from openworld.evaluations.runtime import Machine


def answers(
    task: Task, images: ImageSelection, machine: Machine, *, labelled: bool = False, alone: bool = False
) -> Answers:
    """What the cache holds of images.

    Args:
        task: says who is judged, its partners and the references.
        labelled: let estimators see the labels: the source.
        alone: without partners and without references but the first: what a score is given.
    """
    logits = logits_of(images, task.judged, machine)
    rows = np.flatnonzero(np.isfinite(logits[:, 0]))
    labels = images.load().labels[rows]
    partners = () if alone else tuple(logits_of(images, one, machine)[rows] for one in task.partners)
    known = Outputs(logits[rows], labels if labelled else None, partners=partners)
    references = task.score_references if alone else task.references
    outputs = {}
    for one in references:
        found = similarities(one, images, rows, task.ground.sources[0].dataset, machine)
        outputs[one.name] = Outputs(known.logits, known.labels, found, known.partners)
    return Answers(rows, labels, outputs or {"": known})
