"""What a reference must show on the labelled source before anything is quoted that rests on it.

A reference stands in for labels. It can do so only where it knows the classes, and only if it does not make the judged
model's mistakes: a copy of the model, a fine-tuned sibling, or the CLIP that the model was tuned from agrees with it
however wrong both are. Both can be seen on the source, whose labels are known, before a target is looked at:

    informed       it names a quarter of the source right, and more than twice what its most frequent answer would
    independent    of its mistakes, the judged model makes at most a fifth the same, beyond what the classes that the
                   judged model mixes up by itself would explain
"""

from dataclasses import dataclass, field

import numpy as np

from openworld._types import checked
from openworld.estimators.outputs import Outputs

INFORMED = 0.25  # share of the source that the reference names right, from which it is worth asking
REPEATED = (
    0.2  # share of the reference's mistakes that the judged model repeats, beyond chance, up to which it is asked
)


@dataclass(frozen=True, eq=False)
class ReferenceCheck:
    """What the labels of the source say of a reference.

    accuracy, model_accuracy: of the reference and of the judged model, in [0, 1]. repeated: share of the reference's
    mistakes to which the judged model gives the same wrong name, less what chance explains; 0 without a mistake.
    known: bool[C], classes that the reference names right at least once. chance: accuracy of always the most frequent
    class.
    """

    accuracy: float
    model_accuracy: float
    repeated: float
    chance: float
    known: np.ndarray = field(repr=False)

    @property
    def informed(self) -> bool:
        """Whether the reference knows enough of these classes."""
        return self.accuracy >= INFORMED and self.accuracy > 2 * self.chance - self.chance**2

    @property
    def independent(self) -> bool:
        """Whether the reference makes other mistakes than the judged model."""
        return self.repeated <= REPEATED

    @property
    def warnings(self) -> tuple[str, ...]:
        """Why nothing that rests on this reference can be relied on; empty where it may be asked."""
        found = []
        if not self.informed:
            found.append(
                f"the reference names {100 * self.accuracy:.1f} % of the source right (the judged model "
                f"{100 * self.model_accuracy:.1f} %): it knows too little of these classes to stand in for labels"
            )
        if not self.independent:
            found.append(
                f"the judged model repeats {100 * self.repeated:.0f} % of the reference's mistakes on the source, "
                f"beyond chance: the two do not err independently, so that where they agree they may both be wrong"
            )
        return tuple(found)


@checked
def check_reference(source: Outputs) -> ReferenceCheck:
    """Hold the reference against the labels of the source.

    Raises:
        OpenworldError: a source without labels or without a reference.

    >>> source = Outputs([[2.0, 0.0], [2.0, 0.0], [0.0, 2.0]], [0, 1, 1], [[0.3, 0.1], [0.3, 0.1], [0.1, 0.3]])
    >>> found = check_reference(source)  # its one mistake is the judged model's, too
    >>> round(found.accuracy, 3), found.independent
    (0.667, False)
    """
    source.require(("labels", "reference"), "the check of a reference")
    return source.once("reference check", lambda: _check(source))


def _check(source: Outputs) -> ReferenceCheck:
    named, labels = source.reference.argmax(axis=1), source.labels
    right, shares = named == labels, np.bincount(labels, minlength=source.classes) / source.n
    return ReferenceCheck(
        accuracy=float(right.mean()),
        model_accuracy=1 - source.mistakes / source.n,
        repeated=_repeated(source.predictions, named, labels, source.classes),
        chance=float(shares.max()),
        known=np.bincount(named[right], minlength=source.classes) > 0,
    )


def _repeated(model: np.ndarray, reference: np.ndarray, labels: np.ndarray, classes: int) -> float:
    """Share of the reference's mistakes that the model repeats, less the share that its own confusions explain.

    Of other images of the same class, how many does the model give the wrong name that the reference gives this one?
    """
    wrong = np.flatnonzero(reference != labels)
    if not len(wrong):
        return 0.0
    confusion = np.zeros((classes, classes))
    np.add.at(confusion, (labels, model), 1)
    same = model[wrong] == reference[wrong]
    others = np.maximum(confusion[labels[wrong]].sum(axis=1) - 1, 1)
    by_chance = (confusion[labels[wrong], reference[wrong]] - same) / others
    return float(max(0.0, (same - by_chance).mean()))
