"""Everything that is said of one set of pictures, as estimators take it."""

from dataclasses import dataclass

import numpy as np

from openworld.estimators import Outputs, ReferenceTemperature, reference_temperature
from openworld.estimators.engine.temperature import probabilities
from openworld.evaluations.accuracy_estimation.task import Task
from openworld.evaluations.image_selection import ImageSelection
from openworld.evaluations.model_outputs import logits_of
from openworld.evaluations.references import similarities
from openworld.evaluations.runtime import Machine


@dataclass(frozen=True, eq=False)
class Answers:
    """Of the n pictures that could be read.

    Args:
        rows, labels: int64[n], their numbers among all pictures, and their classes.
        outputs: of the judged model and its partners, with the similarities of each reference by its name; under ""
            where there is no reference. Labels are in them where they may be known.
    """

    rows: np.ndarray
    labels: np.ndarray
    outputs: dict[str, Outputs]

    @property
    def any(self) -> Outputs:
        """With the first reference."""
        return next(iter(self.outputs.values()))

    @property
    def accuracy(self) -> float:
        """Of the judged model, in [0, 1]."""
        return int((self.any.predictions == self.labels).sum()) / len(self.labels)

    def tau(self, reference: str, temperature: float) -> ReferenceTemperature:
        """The temperature at which a reference comes nearest to the judged model's probabilities; as FRAP finds it."""
        one = self.outputs[reference]
        base = probabilities(one.logits, temperature)
        return one.once(("tau", temperature), lambda: reference_temperature(base, one.reference))


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
