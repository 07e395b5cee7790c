"""What a reference must show on the labelled source before anything is quoted that rests on it.

A reference stands in for labels. It can do so only where it knows the classes, and only if it does not make the judged
model's mistakes: a copy of the model, a fine-tuned sibling, or the CLIP that the model was tuned from agrees with it
however wrong both are. Both can be seen on the source, whose labels are known, before a target is looked at:

    known          classes that it ever names right; class by class, for its names may be good in part
    informed       on images of these classes, or named one of them, it is right on a quarter beyond chance, and on
                   half as many as the judged model; one that gives all images the same name knows nothing
    independent    of the mistakes of either one there, the other makes at most a fifth the same, beyond what the
                   classes that it mixes up by itself explain; of few mistakes that cannot be known

Twins of a judged model (other seeds) repeat .2 to .5 of its mistakes, the CLIP that it was tuned from .2 to .8, models
of another kind and other training .0 to .1 (bench/quoted/).
"""

from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from openworld._short_repr import short_repr
from openworld._types import checked
from openworld.estimators.engine.outputs import Outputs

INFORMED, HALF = 0.25, 0.5  # least accuracy of a reference: by itself, and over that of the judged model
REPEATED = 0.2  # most mistakes that may be repeated, by the upper end of a one-sided 95 % interval
FEW = 10  # mistakes below which the other side is asked, if that has more
Z = 1.645


@dataclass(frozen=True, eq=False)
class ReferenceCheck:
    """What the labels of the source say of a reference.

    accuracy: of the reference on the source, in [0, 1]. known: bool[C], classes that it names right at least once.
    known_accuracy, model_accuracy: of the reference and of the judged model on images of these classes, or that the
    reference names so. beyond_chance: of the reference on these images, less what its answers would get in any order,
    1 where it is always right (Cohen's kappa). repeated: of the mistakes of either one on images of these classes, the
    share to which the other gives the same wrong name, less what chance explains; the larger of the two, in [0, 1]; a
    side of fewer than 10 mistakes is left out if the other has more. at_most: the same by the upper ends of one-sided
    95 % intervals, which are 1 where there is no mistake at all.
    """

    accuracy: float
    known_accuracy: float
    model_accuracy: float
    beyond_chance: float
    repeated: float
    at_most: float
    known: np.ndarray = field(repr=False)

    __repr__ = short_repr

    @property
    def informed(self) -> bool:
        """Whether the reference knows enough of these classes."""
        return self.beyond_chance >= max(INFORMED, HALF * self.model_accuracy)

    @property
    def independent(self) -> bool:
        """Whether the reference makes other mistakes than the judged model."""
        return self.at_most <= REPEATED

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why nothing that rests on this reference is quoted, in a few words each; empty where it may be asked."""
        reasons = [] if self.informed else ["knows too little of these classes"]
        return tuple(reasons if self.independent else [*reasons, "may repeat the model's mistakes"])

    @property
    def warnings(self) -> tuple[str, ...]:
        """The same in sentences, with the figures."""
        warnings = []
        if not self.informed:
            warnings.append(
                f"the reference names {100 * self.accuracy:.1f} % of the source right, of the {int(self.known.sum())} "
                f"classes that it knows {100 * self.known_accuracy:.1f} % (the judged model "
                f"{100 * self.model_accuracy:.1f} %): it knows too little to stand in for labels"
            )
        if not self.independent:
            warnings.append(
                f"judged model and reference repeat {100 * self.repeated:.0f} % of each other's source mistakes, "
                f"or up to {100 * self.at_most:.0f} % for all that so few mistakes tell: they may not err "
                "independently, and be wrong together where they agree"
            )
        return tuple(warnings)


@checked
def check_reference(source: Outputs) -> ReferenceCheck:
    """Hold the reference against the labels of the source.

    Raises:
        OpenworldError: a source without labels or without a reference.

    >>> logits = np.eye(2)[[0, 0, 0, 1]]
    >>> found = check_reference(Outputs(logits, [0, 0, 1, 1], reference=logits))  # a copy makes the same mistake
    >>> found.accuracy, found.informed, found.independent
    (0.75, True, False)
    """
    source.require(("labels", "reference"), "the check of a reference")
    return source.once("reference check", lambda: _check(source))


def _check(source: Outputs) -> ReferenceCheck:
    named, labels = source.reference.argmax(axis=1), source.labels
    right = named == labels
    known = np.bincount(labels[right], minlength=source.classes) > 0
    facts = {"accuracy": float(right.mean()), "known": known}
    if not known.any():
        nothing = dict.fromkeys(("known_accuracy", "model_accuracy", "beyond_chance", "repeated"), 0.0)
        return ReferenceCheck(**facts, **nothing, at_most=1.0)
    concerned, images = known[labels] | known[named], known[labels]
    answers = [names[images] for names in (source.predictions, named)]
    shares = [_repeated_share(*pair, labels[images], source.classes) for pair in (answers, answers[::-1])]
    shares = [(share, n) for share, n in shares if n >= FEW] or shares
    return ReferenceCheck(
        **facts,
        known_accuracy=float(right[concerned].mean()),
        model_accuracy=float(1 - source.wrong[concerned].mean()),
        beyond_chance=_beyond_chance(named[concerned], labels[concerned]),
        repeated=max(share for share, _ in shares),
        at_most=max(_upper(*each) for each in shares),
    )


def _beyond_chance(named: np.ndarray, labels: np.ndarray) -> float:
    """Cohen's kappa (1960) of answers and labels; 0 where there is one class alone, which says nothing."""
    shares = [np.bincount(row, minlength=max(named.max(), labels.max()) + 1) / len(labels) for row in (named, labels)]
    chance = float(shares[0] @ shares[1])
    return (float((named == labels).mean()) - chance) / (1 - chance) if chance < 1 else 0.0


def _repeated_share(model: np.ndarray, other: np.ndarray, labels: np.ndarray, classes: int) -> tuple[float, int]:
    """Share of another's mistakes that a model repeats, less the share that its own confusions explain; and how many.

    Of other images of the same class, how many does the model give the wrong name that the other gives this one?
    """
    wrong = np.flatnonzero(other != labels)
    if not len(wrong):
        return 0.0, 0
    confusion = np.zeros((classes, classes))
    np.add.at(confusion, (labels, model), 1)
    same = model[wrong] == other[wrong]
    rest = np.maximum(confusion[labels[wrong]].sum(axis=1) - 1, 1)
    by_chance = (confusion[labels[wrong], other[wrong]] - same) / rest
    return float(max(0.0, (same - by_chance).mean())), len(wrong)


def _upper(share: float, n: int) -> float:
    """Upper end of Wilson's one-sided 95 % interval of a share of n."""
    if not n:
        return 1.0
    centre, width = share + Z**2 / (2 * n), Z * sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    return (centre + width) / (1 + Z**2 / n)
