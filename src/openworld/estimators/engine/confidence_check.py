"""Whether a model's confidence tells its right answers from its wrong ones, as far as the labelled source shows it.

A model that is as sure where it is wrong as where it is right (an over-confident network, naive Bayes on dependent
features) loses accuracy without a word, and no temperature mends that. Three numbers show it on the source:

    area      AUROC of the confidence, right against wrong: .5 says nothing, 1 all
    slope     mean confidence of right answers less that of wrong ones, at the source's temperature (Tjur, 2009): the
              share of a loss that shows, where the loss comes by more mistakes of the kinds that the source has
    gap       |mean confidence - accuracy| at that temperature: where it is far from 0, confidences are near certainty,
              right or wrong, and cannot be calibrated
"""

from dataclasses import dataclass

from openworld.core.types import checked
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.temperature import confidences_of, temperature_of
from openworld.metrics import auroc

AREA, GAP = 0.65, 0.1  # least area and largest gap of a confidence that tells something
FEW = 5  # mistakes below which the area is not known


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
        return self.gap <= GAP and (self.area is None or self.mistakes < FEW or self.area >= AREA)

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
    return source.once("confidence check", lambda: _check(source))


def _check(source: Outputs) -> ConfidenceCheck:
    wrong = source.wrong
    temperature = temperature_of(source).value
    sure = confidences_of(source, temperature)
    gap = abs(float(sure.mean()) - 1 + float(wrong.mean()))
    if wrong.all() or not wrong.any():
        return ConfidenceCheck(None, None, gap, int(wrong.sum()))
    area = float(auroc(sure[~wrong], sure[wrong]))
    return ConfidenceCheck(area, float(sure[~wrong].mean() - sure[wrong].mean()), gap, int(wrong.sum()))
