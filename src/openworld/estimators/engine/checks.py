"""What the labelled source shows: whether confidence tells right from wrong, and whether a reference may be asked.

A model that is as sure where it is wrong as where it is right (an over-confident network, naive Bayes on dependent
features) loses accuracy without a word, and no temperature mends that. Three numbers show it on the source:

    area      AUROC of the confidence, right against wrong: .5 says nothing, 1 all
    slope     mean confidence of right answers less that of wrong ones, at the source's temperature (Tjur, 2009): the
              share of a loss that shows, where the loss comes by more mistakes of the kinds that the source has
    gap       |mean confidence - accuracy| at that temperature: where it is far from 0, confidences are near certainty,
              right or wrong, and cannot be calibrated

A reference stands in for labels. It can do so only where it knows the classes, and only if it does not make the judged
model's mistakes, as a copy, a fine-tuned sibling, or the CLIP that the model was tuned from does:

    known          classes that it ever names right; class by class, for its names may be good in part
    informed       on images of these classes, or named one of them, it is right on a quarter beyond chance, and on
                   half as many as the judged model; one that gives all images the same name knows nothing
    independent    it repeats at most half of the model's mistakes, beyond what two models of one task share

Any two models err on the same hard images, and mix up the classes that are easily mixed up. So the mistakes are held
against right answers on images of like difficulty, those where the judged model's first class leads its second by about
as much:

    repeated = (a - b) / (c - b)    a   how often the reference names a mistake like the model
                                    b   how often it names the model's second class on right answers as hard as these
                                    c   how often it names the first there

An independent reference takes the wrong one of the two classes about as often whether that is the model's first or
second: a = b, and 0 is repeated. A copy takes the first, right or wrong: a = c, and all is repeated, however much noise
lies on it. Models of another kind and other training repeat -.3 to .5, other seeds of one recipe .6 to 1, or .3 to .6
where they are large networks on few images (bench/quoted/). A reference that repeats little may yet err with the model
under a shift, so that a quote holds it against transport, too (`quote.decision`).
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from openworld.core.representation import short_repr
from openworld.core.types import checked
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.temperature import confidences_of, temperature_of
from openworld.metrics import auroc

AREA, GAP = 0.65, 0.1  # least area and largest gap of a confidence that tells something
FEWEST = 5  # mistakes below which the area is not known

INFORMED, HALF = 0.25, 0.5  # least accuracy of a reference: by itself, and over that of the judged model
REPEATED = 0.5  # most mistakes that may be repeated; bench/quoted/ has what models of the same and of other kinds do
FEW = 10  # mistakes below which the reference's mistakes are looked at instead; of fewer of both nothing is known
LEAST = 0.05  # by which a reference must name the model's first class more often than its second
NEAR, SHARE = 10, 0.05  # right answers of like difficulty that a mistake is held against: at least, and of all of them


@dataclass(frozen=True)
class ConfidenceCheck:
    """What the source says of a model's confidence.

    area, slope: as above; None where all answers are right, or all wrong. gap: as above. mistakes: on the source.
    """

    area: float | None
    slope: float | None
    gap: float
    mistakes: int

    @property
    def tells(self) -> bool:
        """Whether confidences may be relied on; of very few mistakes nothing to the contrary is known."""
        return self.gap <= GAP and (self.area is None or self.mistakes < FEWEST or self.area >= AREA)

    @property
    def why(self) -> str:
        """Why not, without a full stop; empty where they may."""
        if self.tells:
            return ""
        if self.gap > GAP or self.area is None:
            return (
                f"the model's confidence cannot be calibrated: on the source it is {100 * self.gap:.0f} points from "
                "the accuracy at the best temperature, so that what is lost does not show in it"
            )
        return (
            "the model is hardly surer where it is right than where it is wrong (AUROC of its confidence on the source "
            f"{100 * self.area:.0f} %, of {self.mistakes:,} mistakes): what it loses does not show in its confidence"
        )


@checked
def check_confidence(source: Outputs) -> ConfidenceCheck:
    """Hold confidences against the labels of the source.

    Raises:
        OpenworldError: a source without labels.

    >>> check_confidence(Outputs([[3.0, 0.0], [2.0, 0.0], [1.0, 0.0]], labels=[0, 0, 1])).area
    1.0
    """
    source.require(("labels",), "the check of confidences")
    return source.once("confidence check", lambda: _check_confidence(source))


def _check_confidence(source: Outputs) -> ConfidenceCheck:
    wrong = source.wrong
    temperature = temperature_of(source).value
    sure = confidences_of(source, temperature)
    gap = abs(float(sure.mean()) - 1 + float(wrong.mean()))
    if wrong.all() or not wrong.any():
        return ConfidenceCheck(None, None, gap, int(wrong.sum()))
    area = float(auroc(sure[~wrong], sure[wrong]))
    return ConfidenceCheck(area, float(sure[~wrong].mean() - sure[wrong].mean()), gap, int(wrong.sum()))


@dataclass(frozen=True, eq=False)
class ReferenceCheck:
    """What the labels of the source say of a reference.

    accuracy: of the reference on the source, in [0, 1]. known: bool[C], classes that it names right at least once.
    known_accuracy, model_accuracy: of the reference and of the judged model on images of these classes, or that the
    reference names so. beyond_chance: of the reference on these images, less what its answers would get in any order,
    1 where it is always right (Cohen's kappa). repeated: as above, of the model's mistakes on images of these classes;
    of the reference's mistakes where the model has fewer than 10; None where both have, or the reference says nothing.
    """

    accuracy: float
    known_accuracy: float
    model_accuracy: float
    beyond_chance: float
    repeated: float | None
    known: np.ndarray = field(repr=False)

    __repr__ = short_repr

    @property
    def informed(self) -> bool:
        """Whether the reference knows enough of these classes."""
        return self.beyond_chance >= max(INFORMED, HALF * self.model_accuracy)

    @property
    def independent(self) -> bool:
        """Whether the reference makes other mistakes than the judged model, as far as that is known."""
        return self.repeated is not None and self.repeated <= REPEATED

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why nothing that rests on this reference is quoted, in a few words each; empty where it may be asked."""
        reasons = [] if self.informed else ["knows too little of these classes"]
        reasons += [] if self.independent else ["may repeat the model's mistakes"]
        return tuple(reasons if len(self.known) > 2 else [*reasons, "agrees wherever both are wrong, of two classes"])

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
        if self.repeated is None:
            warnings.append(
                f"model and reference each make fewer than {FEW} mistakes on the source: whether they err together "
                "cannot be known; a larger source would tell"
            )
        elif not self.independent:
            warnings.append(
                f"judged model and reference share {100 * self.repeated:.0f} % of their source mistakes, beyond what "
                "two models of one task do: they may not err independently, and be wrong together where they agree"
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
    return source.once("reference check", lambda: _check_reference(source))


def _check_reference(source: Outputs) -> ReferenceCheck:
    named, labels = source.array("reference").argmax(axis=1), source.array("labels")
    right = named == labels
    present = np.bincount(labels[right], minlength=source.classes) > 0
    facts: dict[str, Any] = {"accuracy": float(right.mean()), "known": present}
    if not present.any():
        nothing = dict.fromkeys(("known_accuracy", "model_accuracy", "beyond_chance"), 0.0)
        return ReferenceCheck(**facts, **nothing, repeated=None)
    concerned, images = present[labels] | present[named], present[labels]
    scores = source.logits[images], source.array("reference")[images]
    shares = (_repeated_share(*pair, labels[images]) for pair in (scores, scores[::-1]))
    answers = [np.bincount(row[concerned], minlength=source.classes) / concerned.sum() for row in (named, labels)]
    agreed, chance = float(right[concerned].mean()), float(answers[0] @ answers[1])  # Cohen's kappa (1960)
    return ReferenceCheck(
        **facts,
        known_accuracy=agreed,
        model_accuracy=float(1 - source.wrong[concerned].mean()),
        beyond_chance=(agreed - chance) / (1 - chance) if chance < 1 else 0.0,  # one class alone says nothing
        repeated=next((share for share in shares if share is not None), None),
    )


def _repeated_share(model: np.ndarray, other: np.ndarray, labels: np.ndarray) -> float | None:
    """Return what another model repeats of a model's mistakes, by scores float64[n, C]; None if too little is known."""
    order = np.argsort(-model, axis=1, kind="stable")[:, :2]
    first, second = order.T
    lead = np.subtract(*np.take_along_axis(model, order, axis=1).T)
    wrong, answers = first != labels, other.argmax(axis=1)
    right = np.flatnonzero(~wrong)[np.argsort(lead[~wrong], kind="stable")]
    if wrong.sum() < FEW or len(right) < NEAR:
        return None
    count = max(NEAR, int(SHARE * len(right)))
    start = np.clip(np.searchsorted(lead[right], lead[wrong]) - count // 2, 0, len(right) - count)

    def as_hard(hits: np.ndarray) -> float:
        sums = np.r_[0, np.cumsum(hits[right])]
        return float((sums[start + count] - sums[start]).mean() / count)

    by_chance, most = as_hard(answers == second), as_hard(answers == first)
    if most - by_chance < LEAST:
        return None
    return (float((answers[wrong] == first[wrong]).mean()) - by_chance) / (most - by_chance)
